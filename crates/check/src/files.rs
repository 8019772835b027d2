//! Files of a search: what the user gives, and what can be wrong with them.

use crate::outcome::Stop;
use crate::store::Full;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where a search may keep things on disk.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// Where the search is written to, from time to time and when it ends early.
    pub checkpoint: Option<PathBuf>,
    pub every: Duration,
    /// The checkpoint to go on from.
    pub resume: Option<PathBuf>,
    /// A directory for waiting states that do not fit in memory.
    pub spill: Option<PathBuf>,
    /// What the model is, as names and values: a checkpoint of another one is
    /// refused. What of the options matters need not be in here.
    pub identity: Vec<(String, String)>,
}

/// Something that was otherwise when a checkpoint was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub name: String,
    pub was: String,
    pub is: String,
}

/// Why a search cannot begin.
#[derive(Debug)]
pub enum Error {
    Read(PathBuf, io::Error),
    Write(PathBuf, io::Error),
    /// The file is no checkpoint, or that of another version of the format.
    NoCheckpoint(PathBuf),
    /// A checkpoint would be written over something else.
    WouldOverwrite(PathBuf),
    /// The file is not as it was written.
    Damaged(PathBuf),
    /// A checkpoint of something else.
    Other(PathBuf, Vec<Difference>),
    /// The states of the checkpoint do not fit in the memory of the search.
    Memory(PathBuf),
    /// The store is lossy: there is nothing of it on disk.
    LossyStore,
    /// Parts of states do not count, and precision on demand needs all of them.
    Hidden,
}

impl Error {
    pub(crate) fn write(file: &Path, error: io::Error) -> Error {
        Error::Write(file.to_path_buf(), error)
    }

    /// An error met while a checkpoint was read.
    pub(crate) fn read(file: &Path, error: io::Error) -> Error {
        let file = file.to_path_buf();
        match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => Error::Damaged(file),
            _ => Error::Read(file, error),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::Read(file, error) => write!(f, "cannot read '{}': {error}", file.display()),
            Error::Write(file, error) => write!(f, "cannot write '{}': {error}", file.display()),
            Error::NoCheckpoint(file) => {
                write!(f, "'{}' is no checkpoint of this version", file.display())
            }
            Error::WouldOverwrite(file) => write!(
                f,
                "'{}' is no checkpoint and will not be written over: choose another file",
                file.display()
            ),
            Error::Damaged(file) => {
                write!(f, "the checkpoint '{}' is damaged or incomplete", file.display())
            }
            Error::Other(file, differences) => {
                let file = file.display();
                write!(f, "'{file}' is a checkpoint of another model or other options")?;
                let line = |d: &Difference| format!("\n  {} was {}, is {}", d.name, d.was, d.is);
                f.write_str(&differences.iter().map(line).collect::<String>())
            }
            Error::Memory(file) => write!(
                f,
                "the states of the checkpoint '{}' do not fit in memory: raise --memory",
                file.display()
            ),
            Error::LossyStore => {
                write!(f, "each of --checkpoint, --resume and --spill is for --store exact")
            }
            Error::Hidden => write!(f, "--pod cannot be had with 'hidden' variables"),
        }
    }
}

impl std::error::Error for Error {}

/// Why states could not be moved in memory, or between memory and disk.
#[derive(Debug)]
pub(crate) enum Trouble {
    Full,
    /// It would have taken too long.
    Limit(Stop),
    Disk(io::Error),
}

impl From<Stop> for Trouble {
    fn from(stop: Stop) -> Trouble {
        Trouble::Limit(stop)
    }
}

impl From<Full> for Trouble {
    fn from(_: Full) -> Trouble {
        Trouble::Full
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Disk(error)
    }
}
