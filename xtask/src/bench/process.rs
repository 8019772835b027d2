//! Runs a program and measures it: wall clock, CPU time, peak resident memory.
//!
//! GNU time reads the last two from the kernel (`wait4`, which is out of reach
//! without unsafe code). Without it, VmHWM in /proc is polled: this misses
//! what a process allocates in its last milliseconds, and gives no CPU time.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const GNU_TIME: &str = "/usr/bin/time";
/// Of coreutils; ends a program that GNU time has started.
const TIMEOUT: &str = "timeout";
/// Its exit code if it had to.
const TIMED_OUT: i32 = 124;
const POLL: Duration = Duration::from_millis(2);

#[derive(Clone, Copy, Debug)]
pub struct Usage {
    pub wall_seconds: f64,
    pub cpu_seconds: Option<f64>,
    pub peak_bytes: Option<u64>,
}

/// A directory for generated files, removed in the end.
pub struct Scratch {
    pub path: PathBuf,
}

impl Scratch {
    pub fn new() -> Result<Scratch, String> {
        let path = std::env::temp_dir().join(format!("supertrace-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path)
            .map_err(|e| format!("cannot make '{}': {e}", path.display()))?;
        Ok(Scratch { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing depends on it: the system clears its temporary directory.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// How memory was measured, for the reader of the table.
pub fn memory_source() -> &'static str {
    if has_gnu_time() { "the kernel's account (GNU time)" } else { "polling VmHWM in /proc" }
}

fn has_gnu_time() -> bool {
    Path::new(GNU_TIME).is_file()
}

/// Runs `program` in `dir`; its standard output and what it used.
/// A failing exit code is an error.
pub fn run(program: &Path, args: &[String], dir: &Path) -> Result<(String, Usage), String> {
    measure(program, args, dir, &[0])
}

/// The same; an exit code that is not in `codes` is an error.
pub fn measure(
    program: &Path,
    args: &[String],
    dir: &Path,
    codes: &[i32],
) -> Result<(String, Usage), String> {
    let (status, usage) = observe(program, args, dir, !has_gnu_time())?;
    Ok((Files::new(dir).output(program, status, codes)?, usage))
}

/// As `run`, but nothing if the program has not ended after so many seconds.
/// Without GNU time its memory is not known: 'timeout' stands before it.
pub fn run_within(
    program: &Path,
    args: &[String],
    dir: &Path,
    seconds: u32,
) -> Result<Option<(String, Usage)>, String> {
    let mut limited = vec![seconds.to_string(), program.to_string_lossy().into_owned()];
    limited.extend(args.iter().cloned());
    let (status, usage) = observe(Path::new(TIMEOUT), &limited, dir, false)?;
    if status.code() == Some(TIMED_OUT) {
        return Ok(None);
    }
    Ok(Some((Files::new(dir).output(program, status, &[0])?, usage)))
}

/// Runs `program` in `dir` to its end; its output is in files.
fn observe(
    program: &Path,
    args: &[String],
    dir: &Path,
    poll: bool,
) -> Result<(ExitStatus, Usage), String> {
    let files = Files::new(dir);
    let mut command = if has_gnu_time() {
        let mut command = Command::new(GNU_TIME);
        command.args(["-q", "-f", "%U %S %M", "-o"]).arg(&files.usage).arg(program);
        command
    } else {
        Command::new(program)
    };
    let start = Instant::now();
    let mut child = spawn(command.args(args), &files, dir)?;
    let polled = if poll { poll_peak(&mut child) } else { None };
    let status = child.wait().map_err(|e| e.to_string())?;
    let wall_seconds = start.elapsed().as_secs_f64();

    let (cpu_seconds, peak_bytes) = gnu_time_figures(&read(&files.usage).unwrap_or_default())
        .map_or((None, polled), |(cpu, peak)| (Some(cpu), Some(peak)));
    Ok((status, Usage { wall_seconds, cpu_seconds, peak_bytes }))
}

/// Runs `program` in `dir` with nothing between it and the clock; its standard
/// output and the wall clock from before it is started until after it ended.
/// An exit code that is not in `codes` is an error.
pub fn time(
    program: &Path,
    args: &[String],
    dir: &Path,
    codes: &[i32],
) -> Result<(String, f64), String> {
    let files = Files::new(dir);
    let mut command = Command::new(program);
    command.args(args);
    let start = Instant::now();
    let mut child = spawn(&mut command, &files, dir)?;
    let status = child.wait().map_err(|e| e.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    Ok((files.output(program, status, codes)?, seconds))
}

/// Output goes to files: reading pipes would take a thread's time.
fn spawn(command: &mut Command, files: &Files, dir: &Path) -> Result<Child, String> {
    command.current_dir(dir).stdin(Stdio::null());
    command.stdout(create(&files.stdout)?).stderr(create(&files.stderr)?);
    command
        .spawn()
        .map_err(|e| format!("cannot run '{}': {e}", command.get_program().to_string_lossy()))
}

struct Files {
    stdout: PathBuf,
    stderr: PathBuf,
    usage: PathBuf,
}

impl Files {
    fn new(dir: &Path) -> Files {
        let file = |name: &str| dir.join(format!("bench.{name}"));
        Files { stdout: file("stdout"), stderr: file("stderr"), usage: file("usage") }
    }

    /// What the program printed, if it ended with one of `codes`.
    fn output(&self, program: &Path, status: ExitStatus, codes: &[i32]) -> Result<String, String> {
        let stdout = read(&self.stdout)?;
        if status.code().is_some_and(|code| codes.contains(&code)) {
            return Ok(stdout);
        }
        let (shown, stderr) = (program.display(), read(&self.stderr)?);
        Err(format!("'{shown}' ended with {status}: {stdout}{stderr}"))
    }
}

fn create(path: &Path) -> Result<std::fs::File, String> {
    std::fs::File::create(path).map_err(|e| format!("cannot write '{}': {e}", path.display()))
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read(path)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .map_err(|e| format!("cannot read '{}': {e}", path.display()))
}

/// CPU seconds and peak bytes from 'user system kibibytes'.
fn gnu_time_figures(text: &str) -> Option<(f64, u64)> {
    let mut words = text.split_whitespace();
    let user: f64 = words.next()?.parse().ok()?;
    let system: f64 = words.next()?.parse().ok()?;
    let kib: u64 = words.next()?.parse().ok()?;
    Some((user + system, kib * 1024))
}

/// Polls until the child ends.
fn poll_peak(child: &mut Child) -> Option<u64> {
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak = None;
    while let Ok(None) = child.try_wait() {
        if let Some(bytes) = std::fs::read_to_string(&status).ok().as_deref().and_then(high_water) {
            peak = peak.max(Some(bytes));
        }
        std::thread::sleep(POLL);
    }
    peak
}

fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_gnu_time_prints() {
        assert_eq!(gnu_time_figures("1.50 0.25 2048\n"), Some((1.75, 2 << 20)));
        assert_eq!(gnu_time_figures(""), None);
    }

    #[test]
    fn a_program_over_its_limit_is_ended() {
        if Command::new(TIMEOUT).arg("--version").output().is_err() {
            eprintln!("skipped: 'timeout' is not installed");
            return;
        }
        let scratch = Scratch::new().unwrap();
        let sleep = |seconds: &str, limit| {
            run_within(Path::new("sleep"), &[seconds.into()], &scratch.path, limit)
        };
        assert!(sleep("60", 1).unwrap().is_none());
        assert!(sleep("0", 60).unwrap().is_some());
        assert!(sleep("not a number", 60).is_err());
    }

    #[test]
    fn reads_the_high_water_mark() {
        assert_eq!(high_water("Name:\tx\nVmHWM:\t     512 kB\n"), Some(512 << 10));
    }
}
