//! What fuzzing kept, once more: every input of `tests/fuzz/corpus`, and every one in
//! `tests/fuzz/regressions` that once broke something, through the fuzzer's own checks.

use std::path::{Path, PathBuf};

use crate::properties::{amounts, configuration, decoding, replies, snapshots};

#[test]
fn amounts_hold() {
    replay("amounts", amounts::check);
}

#[test]
fn configurations_hold() {
    replay("configuration", configuration::check);
}

#[test]
fn documents_and_responses_hold() {
    replay("decoding", decoding::check);
}

#[test]
fn replies_hold() {
    replay("replies", replies::check);
}

#[test]
fn snapshots_hold() {
    replay("snapshots", snapshots::check);
}

fn replay(target: &str, check: fn(&[u8])) {
    let inputs = files("corpus", target);
    assert!(!inputs.is_empty(), "tests/fuzz/corpus/{target} is empty");
    for file in inputs.into_iter().chain(files("regressions", target)) {
        let input = std::fs::read(&file).unwrap();
        let named = Named(file);
        check(&input);
        drop(named);
    }
}

fn files(folder: &str, target: &str) -> Vec<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz").join(folder).join(target);
    // A target that never found anything has no folder.
    let entries = std::fs::read_dir(path).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Says which input it was when a check fails.
struct Named(PathBuf);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("input: {}", self.0.display());
        }
    }
}
