//! The documents: what they show as a configuration is one, and what they point to is there.

use std::collections::HashSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use payroute::Config;

/// What people read, in their order. The npm package's own README is `pkg/README.md`.
fn documents() -> Vec<PathBuf> {
    let mut documents: Vec<PathBuf> =
        ["README", "GUIDE", "CONTRIBUTING", "SECURITY", "CHANGELOG", "pkg/README", "tests/README"]
            .iter()
            .map(|name| PathBuf::from(format!("{name}.md")))
            .collect();
    let reference =
        fs::read_dir(root().join("docs")).unwrap().map(|entry| Path::new("docs").join(entry.unwrap().file_name()));
    documents.extend(reference.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    documents
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &Path) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_configuration_that_is_shown_is_accepted() {
    let mut shown = 0;
    for path in documents() {
        for block in text(&path).split("\n```json\n").skip(1) {
            let config = block.split("\n```").next().unwrap();
            Config::from_json(config).unwrap_or_else(|error| panic!("{}: {error}: {config}", path.display()));
            shown += 1;
        }
    }
    assert!(shown >= 6, "only {shown} were found");
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut followed = 0;
    for document in documents() {
        for target in links(&text(&document)) {
            let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
            let to = if file.is_empty() { document.clone() } else { normal(&document.parent().unwrap().join(file)) };
            assert!(root().join(&to).exists(), "{}: {target}", document.display());
            if !heading.is_empty() {
                assert!(headings(&text(&to)).contains(heading), "{}: {target}", document.display());
            }
            followed += 1;
        }
    }
    assert!(followed >= 60, "only {followed} were found");
}

/// A path in code, such as `src/hold/`, is one of the repository.
#[test]
fn every_path_that_is_named_is_there() {
    let mut named = 0;
    for document in ["CONTRIBUTING.md", "SECURITY.md"] {
        for word in text(Path::new(document)).split('`').skip(1).step_by(2) {
            let is_path = ["src/", "docs/", "tests/", "pkg/", "bindings/"].iter().any(|room| word.starts_with(room));
            if is_path && !word.contains(char::is_whitespace) {
                assert!(root().join(word).exists(), "{document}: {word}");
                named += 1;
            }
        }
    }
    assert!(named >= 50, "only {named} were found");
}

/// The list in CONTRIBUTING, from the ground up: a room uses only those above it in the list.
#[test]
fn rooms_use_only_those_above_them() {
    let contributing = text(Path::new("CONTRIBUTING.md"));
    let (_, list) = contributing.split_once("Dependencies go one way.").unwrap();
    let lines = list.lines().skip_while(|line| !line.starts_with("1. ")).take_while(|line| !line.is_empty());
    let rooms: Vec<&str> = lines.flat_map(|line| line.split('`').skip(1).step_by(2)).collect();
    assert!(rooms.len() >= 14, "only {rooms:?}");
    for (place, room) in rooms.iter().enumerate() {
        for (file, source) in sources(room) {
            let code = source.lines().map(|line| line.split("//").next().unwrap());
            for used in code.flat_map(|line| line.split("crate::").skip(1)) {
                let used = used.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
                let above = rooms.iter().position(|known| *known == used).is_none_or(|other| other <= place);
                assert!(above, "{}: {room} uses {used}", file.display());
            }
        }
    }
}

/// The files of a room: one, or all of a folder.
fn sources(room: &str) -> Vec<(PathBuf, String)> {
    let mut open = vec![root().join("src").join(room), root().join(format!("src/{room}.rs"))];
    let mut files = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") && path.exists() {
            let source = fs::read_to_string(&path).unwrap();
            files.push((path, source));
        }
    }
    assert!(!files.is_empty(), "there is no room {room}");
    files
}

/// Targets of links outside of code, but for those that lead to another site.
fn links(text: &str) -> Vec<String> {
    let prose: String = text.split("```").step_by(2).collect();
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).filter(|target| !target.contains("://")).collect()
}

/// Every heading as GitHub makes it the end of an address.
fn headings(text: &str) -> HashSet<String> {
    let prose: String = text.split("```").step_by(2).collect();
    let titles = prose.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let address = |title: &str| {
        let kept = title.to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect()
    };
    titles.map(address).collect()
}

/// The path without `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::ParentDir => assert!(path.pop(), "out of the repository"),
            part => path.push(part),
        }
        path
    })
}
