//! Finished tasks on disk, so that a swarm that was killed goes on where it
//! was: a merged record, and a log of those that came after it. Their sketches are
//! for being merged with those before them, which have told what is of use.
//!
//! Merging is idempotent, so it does no harm if a record is in both: the log
//! is emptied after the merged record was written.

use crate::plan::Subject;
use crate::record::Record;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bytes of the log after which it is merged.
const LONG_LOG: u64 = 16 << 20;

const MERGED: &str = "merged.json";
const LOG: &str = "log.jsonl";

pub struct Journal {
    dir: PathBuf,
    log: File,
    bytes: u64,
}

#[derive(Debug)]
pub enum JournalError {
    Io {
        path: PathBuf,
        error: io::Error,
    },
    /// Another process keeps its tasks there.
    InUse(PathBuf),
    /// A file is no record, or one of another swarm.
    Record {
        path: PathBuf,
        reason: String,
    },
}

impl std::fmt::Display for JournalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JournalError::Io { path, error } => write!(f, "'{}': {error}", path.display()),
            JournalError::InUse(dir) => {
                write!(f, "'{}' is in use by another swarm", dir.display())
            }
            JournalError::Record { path, reason } => {
                write!(f, "'{}' cannot be resumed: {reason}", path.display())
            }
        }
    }
}

impl std::error::Error for JournalError {}

impl Journal {
    /// Opens a directory, or makes it; what it holds of this swarm.
    pub fn open(dir: &Path, subject: &Subject) -> Result<(Journal, Record), JournalError> {
        let io = |path: &Path, error| JournalError::Io { path: path.to_path_buf(), error };
        std::fs::create_dir_all(dir).map_err(|error| io(dir, error))?;
        let path = dir.join(LOG);
        let log = OpenOptions::new().create(true).append(true).open(&path);
        let log = log.map_err(|error| io(&path, error))?;
        // The lock goes with the process, however that ends.
        match log.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse(dir.to_path_buf())),
            Err(TryLockError::Error(error)) => return Err(io(&path, error)),
        }
        let mut record = Record::new(subject.clone());
        let merged = dir.join(MERGED);
        if let Some(text) = read(&merged)? {
            add(&mut record, &text, &merged)?;
        }
        let bytes = read(&path)?.unwrap_or_default();
        // What comes after the last end of a line was being written when the
        // process was killed.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        for line in bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            add(&mut record, line, &path)?;
        }
        log.set_len(whole as u64).map_err(|error| io(&path, error))?;
        Ok((Journal { dir: dir.to_path_buf(), log, bytes: whole as u64 }, record))
    }

    /// Writes the record of a task down; `all` is that of all tasks, this one
    /// included.
    pub fn note(&mut self, task: &Record, all: &Record) -> io::Result<()> {
        let line = serde_json::to_string(task)? + "\n";
        self.log.write_all(line.as_bytes())?;
        self.bytes += line.len() as u64;
        if self.bytes >= LONG_LOG {
            self.merge(all)?;
        }
        Ok(())
    }

    /// Writes all down in one piece.
    pub fn merge(&mut self, all: &Record) -> io::Result<()> {
        let (merged, new) = (self.dir.join(MERGED), self.dir.join("merged.new"));
        std::fs::write(&new, serde_json::to_string(all)?)?;
        std::fs::rename(&new, &merged)?;
        self.log.set_len(0)?;
        self.bytes = 0;
        Ok(())
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, JournalError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(JournalError::Io { path: path.to_path_buf(), error }),
    }
}

fn add(record: &mut Record, text: &[u8], path: &Path) -> Result<(), JournalError> {
    let wrong = |reason: String| JournalError::Record { path: path.to_path_buf(), reason };
    let more: Record = serde_json::from_slice(text).map_err(|e| wrong(e.to_string()))?;
    if let Some(fault) = more.fault() {
        return Err(wrong(fault.into()));
    }
    record.merge(&more).map_err(|e| wrong(e.to_string()))
}
