//! States that wait, within the memory that a search may use. If there is a
//! place on disk, what does not fit goes there, the bottom first.
//!
//! Invariant: a stack loses no state, whatever fails.

use super::spill::{Space, Spill};
use super::worker::Waiting;
use crate::blocks::damaged;
use crate::files::Trouble;
use crate::store::{Full, Token};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

/// Bytes of a state on disk: token and depth.
const STATE: usize = 12;
/// States that one thread gives to another at once, at most: they are not
/// counted in between.
const LARGEST_GIFT: usize = 65_536;
/// States that are written or read at once.
const BATCH: usize = 4096;

pub(super) struct Stack {
    /// The top, in memory.
    items: Vec<Waiting>,
    /// What lies below, in order; made when it is needed.
    disk: Option<File>,
    n_on_disk: u64,
    space: Arc<Space>,
    taken: u64,
}

impl Stack {
    pub fn new(space: &Arc<Space>) -> Stack {
        Stack { items: Vec::new(), disk: None, n_on_disk: 0, space: space.clone(), taken: 0 }
    }

    pub fn len(&self) -> u64 {
        self.items.len() as u64 + self.n_on_disk
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The states that are in memory.
    pub fn items(&self) -> &[Waiting] {
        &self.items
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> u64 {
        self.taken
    }

    /// Forgets the first of the states that are in memory.
    pub fn drop_first(&mut self, n: usize) {
        self.items.drain(..n);
    }

    /// Adds states, the last on top. They are added even if there is trouble.
    pub fn push_all(
        &mut self,
        mut states: impl ExactSizeIterator<Item = Waiting>,
    ) -> Result<(), Trouble> {
        let most = self.spill().map_or(usize::MAX, |spill| spill.segment);
        let mut result = Ok(());
        while states.len() > 0 && result.is_ok() {
            let n = states.len().min(most);
            result = self.make_room(n);
            if result.is_ok() {
                self.items.extend(states.by_ref().take(n));
            }
        }
        // No more than is needed, as nobody counts it.
        self.items.reserve_exact(states.len());
        self.items.extend(states);
        result
    }

    /// Moves up to `n` states from the top to `to`, topmost first.
    pub fn pop_into(&mut self, n: usize, to: &mut Vec<Waiting>) -> Result<(), Trouble> {
        to.clear();
        if self.items.is_empty() {
            self.read_back()?;
        }
        let from = self.items.len().saturating_sub(n);
        to.extend(self.items.drain(from..).rev());
        Ok(())
    }

    /// Half of the states that are in memory, those at the bottom.
    pub fn split_bottom(&mut self) -> Vec<Waiting> {
        self.items.drain(..(self.items.len() / 2).min(LARGEST_GIFT)).collect()
    }

    /// Brings states from disk to memory, if there is none.
    pub fn read_back(&mut self) -> Result<(), Trouble> {
        let Some(segment) = self.spill().map(|spill| spill.segment) else { return Ok(()) };
        if !self.items.is_empty() || self.n_on_disk == 0 {
            return Ok(());
        }
        let n = self.n_on_disk.min(segment as u64);
        // Two segments' memory is a stack's own, so there is room.
        self.make_room(n as usize)?;
        let from = self.n_on_disk - n;
        let (items, disk) = (&mut self.items, &mut self.disk);
        let read = read_states(disk, from, n, |state| {
            items.push(state);
            Ok(())
        });
        if let Err(error) = read {
            self.items.clear();
            return Err(error.into());
        }
        self.shorten(from);
        Ok(())
    }

    /// Moves all states to disk and gives the memory back.
    pub fn spill_all(&mut self) -> Result<(), Trouble> {
        self.sink(self.items.len())?;
        self.items = Vec::new();
        self.space.budget.give(std::mem::take(&mut self.taken));
        Ok(())
    }

    /// Gives all states other names.
    pub fn rename(
        &mut self,
        name: &mut dyn FnMut(Token) -> Result<Token, Full>,
    ) -> Result<(), Trouble> {
        for state in &mut self.items {
            state.token = name(state.token)?;
        }
        let mut batch = Vec::with_capacity(BATCH);
        let mut from = 0;
        while from < self.n_on_disk {
            batch.clear();
            let n = (self.n_on_disk - from).min(BATCH as u64);
            read_states(&mut self.disk, from, n, |state| {
                batch.push(state);
                Ok(())
            })?;
            for state in &mut batch {
                state.token = name(state.token)?;
            }
            write_states(&mut self.disk, from, &batch)?;
            from += n;
        }
        Ok(())
    }

    /// Writes all states, the bottom first.
    pub fn save(&mut self, to: &mut dyn Write) -> io::Result<()> {
        let n_on_disk = self.n_on_disk;
        read_states(&mut self.disk, 0, n_on_disk, |state| to.write_all(&bytes(state)))?;
        self.items.iter().try_for_each(|state| to.write_all(&bytes(*state)))
    }

    /// Reads states that `save` has written, and adds them.
    pub fn load(&mut self, n: u64, from: &mut dyn Read) -> Result<(), Trouble> {
        let mut batch = Vec::with_capacity(BATCH);
        for _ in 0..n {
            let mut bytes = [0; STATE];
            from.read_exact(&mut bytes)?;
            batch.push(state(&bytes));
            if batch.len() == BATCH {
                self.push_all(batch.drain(..))?;
            }
        }
        self.push_all(batch.drain(..))
    }

    fn spill(&self) -> Option<&Spill> {
        self.space.spill.as_ref()
    }

    /// Makes room in memory for more states.
    fn make_room(&mut self, extra: usize) -> Result<(), Trouble> {
        let needed = self.items.len() + extra;
        if needed <= self.items.capacity() || self.grow(needed) {
            return Ok(());
        }
        let Some(segment) = self.spill().map(|spill| spill.segment) else {
            return Err(Trouble::Full);
        };
        // Some stay, to be taken next.
        let stay = self.items.len().min(segment / 2);
        self.sink(self.items.len() - stay)?;
        let fits = stay + extra <= self.items.capacity() || self.grow(stay + extra);
        if fits { Ok(()) } else { Err(Trouble::Full) }
    }

    /// Takes memory for so many states and some more.
    fn grow(&mut self, needed: usize) -> bool {
        // What is a stack's own, and the most it may have.
        let own = self.spill().map_or(0, |spill| 2 * spill.segment);
        let most = self.spill().map_or(usize::MAX, Spill::most);
        if needed > most {
            return false;
        }
        // Left to itself a vector doubles, and breaks a memory limit by far.
        let roomy = (self.items.capacity() / 4 * 5).min(most).max(needed).max(1024).max(own);
        let bytes = ((roomy - own) * size_of::<Waiting>()) as u64;
        if !self.space.budget.take(bytes.saturating_sub(self.taken)) {
            return false;
        }
        self.taken = self.taken.max(bytes);
        self.items.reserve_exact(roomy - self.items.len());
        true
    }

    /// Moves the lowest states of those in memory to disk.
    fn sink(&mut self, n: usize) -> Result<(), Trouble> {
        if n == 0 {
            return Ok(());
        }
        let Some(spill) = self.space.spill.as_ref() else { return Err(Trouble::Full) };
        if self.disk.is_none() {
            self.disk = Some(spill.file()?);
        }
        write_states(&mut self.disk, self.n_on_disk, &self.items[..n])?;
        spill.add((n * STATE) as u64);
        self.n_on_disk += n as u64;
        self.items.drain(..n);
        Ok(())
    }

    /// Keeps only so many states on disk.
    fn shorten(&mut self, n: u64) {
        let gone = (self.n_on_disk - n) * STATE as u64;
        self.n_on_disk = n;
        if let Some(spill) = &self.space.spill {
            spill.remove(gone);
        }
        if let Some(disk) = &self.disk {
            // What stays there too long is written over.
            let _ = disk.set_len(n * STATE as u64);
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.space.budget.give(self.taken);
        self.shorten(0);
    }
}

fn bytes(state: Waiting) -> [u8; STATE] {
    let mut bytes = [0; STATE];
    bytes[..8].copy_from_slice(&{ state.token }.to_le_bytes());
    bytes[8..].copy_from_slice(&{ state.depth }.to_le_bytes());
    bytes
}

fn state(bytes: &[u8; STATE]) -> Waiting {
    let [a, b, c, d, e, f, g, h, depth @ ..] = *bytes;
    let token = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
    Waiting { token, depth: u32::from_le_bytes(depth) }
}

fn seek(disk: &mut Option<File>, at: u64) -> io::Result<&mut File> {
    let disk = disk.as_mut().ok_or_else(damaged)?;
    disk.seek(SeekFrom::Start(at * STATE as u64))?;
    Ok(disk)
}

fn write_states(disk: &mut Option<File>, at: u64, states: &[Waiting]) -> io::Result<()> {
    let disk = seek(disk, at)?;
    let mut buffer = Vec::with_capacity(BATCH * STATE);
    for batch in states.chunks(BATCH) {
        buffer.clear();
        buffer.extend(batch.iter().flat_map(|state| bytes(*state)));
        disk.write_all(&buffer)?;
    }
    Ok(())
}

fn read_states(
    disk: &mut Option<File>,
    from: u64,
    n: u64,
    mut each: impl FnMut(Waiting) -> io::Result<()>,
) -> io::Result<()> {
    if n == 0 {
        return Ok(());
    }
    let mut disk = io::BufReader::with_capacity(BATCH * STATE, seek(disk, from)?);
    for _ in 0..n {
        let mut bytes = [0; STATE];
        disk.read_exact(&mut bytes)?;
        each(state(&bytes))?;
    }
    Ok(())
}
