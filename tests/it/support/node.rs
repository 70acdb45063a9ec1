//! A Node program of `tests`, for as long as a test needs it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::Value;

/// Ends when dropped: the program stops once its standard input closes, and its chains with it. Killed, it
/// could not end them.
pub struct NodeProgram {
    stdin: Option<ChildStdin>,
    child: Child,
}

impl NodeProgram {
    /// The program at `script` below `tests`, and the one line of JSON it prints when it is ready.
    pub fn start(script: &str, arguments: &[&str]) -> (Self, Value) {
        let mut child = Command::new("node")
            .arg(path(script))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready = serde_json::from_str(&line)
            .expect("one line of JSON when the program is ready; `make localnet-packages` installs what it needs");
        (Self { stdin: child.stdin.take(), child }, ready)
    }
}

/// A crate further down in the repository shares this file.
fn path(script: &str) -> PathBuf {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.map(|folder| folder.join("tests").join(script)).find(|path| path.is_file()).expect("the program exists")
}

impl Drop for NodeProgram {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}
