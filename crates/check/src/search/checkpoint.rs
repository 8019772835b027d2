//! Checkpoints: a search as a file, to go on with later.
//!
//! The file is one line that says what it is, then blocks (`blocks.rs`): a
//! header as JSON, the stacks of waiting states, the store. It is written
//! under another name and renamed when all of it is on disk, so there is a
//! whole checkpoint at any moment, whatever happens.
//!
//! States keep their names, so stacks and ways need no translation. What the
//! sums say was written by Supertrace is trusted: they find damage, not forgery.

use super::job::Kept;
use super::run::{Run, Tally};
use super::stack::Stack;
use super::{Options, Order};
use crate::blocks::{BlockReader, BlockWriter, damaged, read_number, write_number};
use crate::files::{Difference, Error, Trouble};
use crate::outcome::Saved;
use crate::store::{Aim, ExactStore, Known, PackedStore, Shape, TreeStore};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The first line of every checkpoint. The number changes with the format, and
/// with what states are made of.
const MAGIC: &[u8] = b"supertrace checkpoint 3\n";
/// What checkpoints of all versions begin with.
const ANY_MAGIC: &[u8] = b"supertrace checkpoint ";
/// A header has no more bytes than this.
const LARGEST_HEADER: u64 = 1 << 30;

#[derive(Serialize, Deserialize)]
struct Header {
    identity: Vec<(String, String)>,
    tally: Tally,
    /// States that wait on each stack.
    frontier: Vec<u64>,
    store: Form,
}

/// How the states are stored.
#[derive(Serialize, Deserialize)]
enum Form {
    Exact,
    Packed { known: Known, aim: Aim, keeps_ways: bool },
    Tree(Vec<Shape>),
}

/// What must be the same when a search goes on.
fn identity(options: &Options, hidden: usize) -> Vec<(String, String)> {
    let order = match options.order {
        Order::Dfs => "dfs",
        Order::Bfs => "bfs",
    };
    let depth = options.depth.map_or("unlimited".into(), |d| d.to_string());
    let mut ignore: Vec<&str> = options.ignore.iter().map(|kind| kind.name()).collect();
    ignore.sort_unstable();
    let ignore = if ignore.is_empty() { "nothing".into() } else { ignore.join(" ") };
    let own = [
        ("version", env!("CARGO_PKG_VERSION").to_string()),
        ("search", order.to_string()),
        ("depth", depth),
        ("ignore", ignore),
        ("hidden", hidden.to_string()),
    ];
    let given = options.files.map_or(Vec::new(), |files| files.identity.clone());
    given.into_iter().chain(own.map(|(name, value)| (name.to_string(), value))).collect()
}

/// The checkpoints that a search writes.
pub(super) struct Checkpoint {
    file: PathBuf,
    every: Duration,
    identity: Vec<(String, String)>,
    saved: Saved,
}

impl Checkpoint {
    /// `None` if no checkpoints are asked for. Refused now rather than later
    /// if the file cannot be written.
    pub fn new(options: &Options, hidden: usize) -> Result<Option<Checkpoint>, Error> {
        let Some(files) = options.files else { return Ok(None) };
        let Some(file) = files.checkpoint.clone() else { return Ok(None) };
        if !may_be_replaced(&file) {
            return Err(Error::WouldOverwrite(file));
        }
        let temporary = temporary(&file);
        let tried = File::create(&temporary).and_then(|_| std::fs::remove_file(&temporary));
        tried.map_err(|error| Error::write(&file, error))?;
        let identity = identity(options, hidden);
        Ok(Some(Checkpoint { file, every: files.every, identity, saved: Saved::default() }))
    }

    pub fn every(&self) -> Duration {
        self.every
    }

    pub fn saved(self) -> Saved {
        self.saved
    }

    /// There is nothing to go on with after all.
    pub fn forget(&mut self) {
        self.saved.resumable = false;
    }

    /// Writes a checkpoint, and has the next one come in time. If this fails
    /// the last one stays.
    pub fn write(&mut self, run: &Run, kept: &Kept, frontier: &mut [Stack]) {
        let written = self.write_file(run, kept, frontier);
        self.saved.resumable = written.is_ok();
        if let Err(error) = written {
            let _ = std::fs::remove_file(temporary(&self.file));
            self.saved.n_failed += 1;
            self.saved.error = Some(error.to_string());
        }
        run.checkpoint_in(self.every);
    }

    fn write_file(&self, run: &Run, kept: &Kept, frontier: &mut [Stack]) -> io::Result<()> {
        let temporary = temporary(&self.file);
        let mut file = File::create(&temporary)?;
        file.write_all(MAGIC)?;
        let mut to = BlockWriter::new(file);
        let store = match kept {
            Kept::Exact(_) => Form::Exact,
            Kept::Packed(store) => Form::Packed {
                known: store.known().clone(),
                aim: store.aim(),
                keeps_ways: store.keeps_ways(),
            },
            Kept::Tree(tree) => Form::Tree(tree.shapes()),
            // Not with a store that is lossy.
            _ => return Err(damaged()),
        };
        let header = Header {
            identity: self.identity.clone(),
            tally: run.tally(),
            frontier: frontier.iter().map(Stack::len).collect(),
            store,
        };
        let header = serde_json::to_vec(&header)?;
        write_number(&mut to, header.len() as u64)?;
        to.write_all(&header)?;
        frontier.iter_mut().try_for_each(|stack| stack.save(&mut to))?;
        match kept {
            Kept::Exact(store) => store.save(&mut to)?,
            Kept::Packed(store) => store.save(&mut to)?,
            Kept::Tree(store) => store.save(&mut to)?,
            _ => {}
        }
        to.finish()?.sync_all()?;
        std::fs::rename(&temporary, &self.file)?;
        sync_directory(&self.file)
    }
}

/// Where a checkpoint is written before it is whole.
fn temporary(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_os_string();
    name.push(".tmp");
    PathBuf::from(name)
}

/// Whether there is no file, an empty one or a checkpoint: nobody shall lose a
/// model by a slip of the keyboard.
fn may_be_replaced(file: &Path) -> bool {
    let Ok(metadata) = std::fs::metadata(file) else { return true };
    let is_checkpoint = || File::open(file).is_ok_and(|f| begins_with(&f, ANY_MAGIC));
    metadata.is_file() && (metadata.len() == 0 || is_checkpoint())
}

fn begins_with(mut file: &File, magic: &[u8]) -> bool {
    let mut first = vec![0; magic.len()];
    file.read_exact(&mut first).is_ok() && first == magic
}

/// Has the new name of the file survive a power failure.
fn sync_directory(file: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let parent = file.parent().filter(|dir| !dir.as_os_str().is_empty());
        File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    let _ = file;
    Ok(())
}

/// Reads a checkpoint: the run goes on from there.
pub(super) fn resume(
    file: &Path,
    run: &mut Run,
    hidden: usize,
) -> Result<(Kept<'static>, Vec<Stack>), Error> {
    let wrong = |error| Error::read(file, error);
    let opened = File::open(file).map_err(|error| Error::Read(file.to_path_buf(), error))?;
    if !begins_with(&opened, MAGIC) {
        return Err(Error::NoCheckpoint(file.to_path_buf()));
    }
    let mut from = BlockReader::new(BufReader::with_capacity(1 << 18, opened));
    let header = read_header(&mut from).map_err(wrong)?;
    let differences = differences(&header.identity, &identity(run.options, hidden));
    if !differences.is_empty() {
        return Err(Error::Other(file.to_path_buf(), differences));
    }
    let read = read_states(&header, run, hidden, &mut from).map_err(|trouble| match trouble {
        Trouble::Full | Trouble::Limit(_) => Error::Memory(file.to_path_buf()),
        Trouble::Disk(error) => Error::read(file, error),
    })?;
    from.finish().map_err(wrong)?;
    run.continue_from(header.tally);
    Ok(read)
}

fn read_header(from: &mut impl Read) -> io::Result<Header> {
    let len = read_number(from)?;
    if len > LARGEST_HEADER {
        return Err(damaged());
    }
    let mut header = Vec::new();
    from.take(len).read_to_end(&mut header)?;
    serde_json::from_slice(&header).map_err(|_| damaged())
}

fn differences(was: &[(String, String)], is: &[(String, String)]) -> Vec<Difference> {
    let value = |of: &[(String, String)], name: &str| {
        of.iter().find(|(n, _)| n == name).map_or("unknown".to_string(), |(_, v)| v.clone())
    };
    let only_was = was.iter().filter(|(name, _)| is.iter().all(|(n, _)| n != name));
    let names = is.iter().chain(only_was).map(|(name, _)| name.clone());
    let both = names.map(|name| Difference { was: value(was, &name), is: value(is, &name), name });
    both.filter(|d| d.was != d.is).collect()
}

fn read_states(
    header: &Header,
    run: &Run,
    hidden: usize,
    from: &mut impl Read,
) -> Result<(Kept<'static>, Vec<Stack>), Trouble> {
    // Breadth first there are two levels; depth first there may be fewer
    // threads than there were.
    let most = match run.options.order {
        Order::Dfs => run.options.threads,
        Order::Bfs => 2,
    };
    let n_stacks = header.frontier.len().min(most);
    let mut frontier: Vec<Stack> = (0..n_stacks).map(|_| Stack::new(&run.space)).collect();
    for (number, n) in header.frontier.iter().enumerate() {
        frontier[number % n_stacks].load(*n, from)?;
    }
    let kept = match &header.store {
        Form::Exact => Kept::Exact(ExactStore::load(hidden, from, &run.budget)?),
        Form::Packed { known, aim, keeps_ways } => {
            let known = known.clone();
            let store = PackedStore::load(known, *aim, *keeps_ways, from, &run.budget)?;
            Kept::Packed(Box::new(store))
        }
        Form::Tree(shapes) => {
            Kept::Tree(Box::new(TreeStore::load(shapes.clone(), from, &run.budget)?))
        }
    };
    Ok((kept, frontier))
}
