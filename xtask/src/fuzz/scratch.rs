//! Where tools are run: a directory for their files, limits, and our checker.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const OUR_TIME: Duration = Duration::from_secs(20);
/// Bytes of address space for each tool, in the unit of `ulimit -v`.
const MEMORY_KB: u64 = 6_000_000;

pub struct Scratch {
    pub dir: PathBuf,
    ours: PathBuf,
}

/// What a tool wrote and how it ended; `None` if it took too long.
pub struct Ran {
    pub status: Option<i32>,
    pub output: String,
}

/// Whether a tool is there to be run.
pub fn exists(tool: &str, flag: &str) -> bool {
    let mut command = Command::new(tool);
    command.arg(flag).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

impl Scratch {
    /// Builds our checker and makes the directory.
    pub fn new() -> Result<Scratch, String> {
        let built = Command::new("cargo").args(["build", "--release", "-p", "supertrace"]).status();
        if !built.is_ok_and(|status| status.success()) {
            return Err("cannot build 'supertrace'".into());
        }
        let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
        let ours = fs::canonicalize(Path::new(&target).join("release/supertrace"));
        let ours = ours.map_err(|e| format!("no 'supertrace' in '{target}': {e}"))?;
        let dir = std::env::temp_dir().join(format!("supertrace-fuzz-{}", std::process::id()));
        fs::create_dir_all(&dir).map_err(|e| format!("cannot create {}: {e}", dir.display()))?;
        Ok(Scratch { dir, ours })
    }

    /// Runs a command line in the directory.
    pub fn shell(&self, command: &str, limit: Duration) -> Ran {
        let failed = |e: std::io::Error| Ran { status: Some(-1), output: e.to_string() };
        let out = self.dir.join("out.txt");
        let file = match fs::File::create(&out) {
            Ok(file) => file,
            Err(error) => return failed(error),
        };
        let mut child = match Command::new("sh")
            .args(["-c", &format!("ulimit -v {MEMORY_KB}; exec {command} 2>&1")])
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .stdout(file)
            .spawn()
        {
            Ok(child) => child,
            Err(error) => return failed(error),
        };
        let deadline = Instant::now() + limit;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status.code().unwrap_or(-1)),
                Ok(None) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                _ => {
                    // It may have ended by itself meanwhile.
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
            }
        };
        let output = String::from_utf8_lossy(&fs::read(&out).unwrap_or_default()).into_owned();
        Ran { status, output }
    }

    /// Our result as JSON; an error is a difference where the other tool
    /// accepts the model.
    pub fn check(&self, model: &str, options: &str) -> Result<Value, String> {
        let command = format!("{} check {model} --quiet --json", self.ours.display());
        let ran = self.shell(&format!("{command} {options}"), OUR_TIME);
        let Some(status) = ran.status else { return Err("too long: ours".into()) };
        let json = ran.output.find('{').map(|at| &ran.output[at..]);
        // Status 3 is for searches that a limit has ended.
        if let (0 | 1 | 3, Some(Ok(value))) = (status, json.map(serde_json::from_str)) {
            return Ok(value);
        }
        let error = ran.output.lines().find(|l| l.contains("error") || l.contains("panic"));
        Err(format!("rejected by us (status {status}): {}", error.unwrap_or("no message")))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing depends on the scratch files.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// An error message without names and numbers, to count its kind.
pub fn gist(line: &str) -> String {
    let message = line.split_once("rror: ").map_or(line, |(_, m)| m);
    let words = message.split_whitespace();
    let plain = |w: &&str| w.chars().all(|c| c.is_ascii_alphabetic() || "-:_/".contains(c));
    words.filter(plain).take(8).collect::<Vec<_>>().join(" ")
}
