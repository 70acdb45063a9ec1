//! A Node program of `tests`, for as long as a test needs it.

use std::io::{BufRead, BufReader};
use std::path::Path;
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
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(script))
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

impl Drop for NodeProgram {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}
