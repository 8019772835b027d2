//! States that wait, within the memory that a search may use. If there is a
//! place on disk, what does not fit goes there, the bottom first.
//!
//! They lie in segments of equal size, each a mapping of its own: memory that
//! is no longer needed goes back to the system at once, as the store is
//! promised it. (A vector copies itself to grow, and an allocator keeps what
//! it was given back: 50 MiB beyond a limit of 400.)
//!
//! Invariant: a stack loses no state, whatever fails.

use super::spill::Space;
use super::worker::Waiting;
use crate::blocks::damaged;
use crate::files::Trouble;
use crate::store::{Full, Token};
use memmap2::MmapMut;
use std::alloc::{Layout, handle_alloc_error};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

/// Bytes of a state, in memory as on disk: token, depth and cause.
pub(super) const STATE: usize = 14;
/// States that are read at once.
const BATCH: usize = 4096;

pub(super) struct Stack {
    /// What lies below, in order; made when it is needed.
    disk: Option<File>,
    n_on_disk: u64,
    /// What is in memory. None is empty.
    segments: VecDeque<Segment>,
    /// An empty segment, as many stacks grow and shrink all the time.
    spare: Option<Segment>,
    space: Arc<Space>,
    /// Bytes taken from the budget.
    taken: u64,
}

impl Stack {
    pub fn new(space: &Arc<Space>) -> Stack {
        Stack {
            disk: None,
            n_on_disk: 0,
            segments: VecDeque::new(),
            spare: None,
            space: space.clone(),
            taken: 0,
        }
    }

    pub fn len(&self) -> u64 {
        self.n_in_memory() as u64 + self.n_on_disk
    }

    pub fn is_empty(&self) -> bool {
        self.segments.is_empty() && self.n_on_disk == 0
    }

    pub fn n_in_memory(&self) -> usize {
        self.segments.iter().map(Segment::len).sum()
    }

    /// Bytes taken from the budget.
    pub fn memory(&self) -> u64 {
        self.taken
    }

    /// Adds states, the last on top. They are added even if there is trouble.
    pub fn push_all(
        &mut self,
        states: impl ExactSizeIterator<Item = Waiting>,
    ) -> Result<(), Trouble> {
        let mut result = Ok(());
        let mut states = states;
        while states.len() > 0 {
            if self.segments.back().is_none_or(|top| top.room() == 0) {
                result = result.and(self.add_segment());
            }
            let Some(top) = self.segments.back_mut() else { break };
            let n = top.room().min(states.len());
            top.extend(states.by_ref().take(n));
        }
        result
    }

    /// Moves up to `n` states from the top to `to`, topmost first.
    pub fn pop_into(&mut self, n: usize, to: &mut Vec<Waiting>) -> Result<(), Trouble> {
        to.clear();
        self.read_back()?;
        while to.len() < n
            && let Some(top) = self.segments.back_mut()
        {
            let taken = top.len().min(n - to.len());
            to.extend(top.states()[top.to - taken..top.to].iter().rev().map(decode));
            top.to -= taken;
            if top.len() == 0 {
                let empty = self.segments.pop_back();
                self.put_aside(empty);
            }
        }
        Ok(())
    }

    /// Up to half of the states that are in memory, those at the bottom.
    pub fn split_bottom(&mut self) -> Vec<Waiting> {
        let half = self.n_in_memory() / 2;
        let Some(bottom) = self.segments.front() else { return Vec::new() };
        let n = half.min(bottom.len());
        let mut gift = Vec::with_capacity(n);
        self.copy_bottom(0, n, &mut gift);
        self.drop_bottom(n);
        gift
    }

    /// Brings states from disk to memory, if there are none; returns how many
    /// the lowest segment in memory has.
    pub fn read_back(&mut self) -> Result<usize, Trouble> {
        if self.segments.is_empty() && self.n_on_disk > 0 {
            let n = self.n_on_disk.min(self.space.segment as u64);
            // This much memory is a stack's own.
            self.add_segment()?;
            let read = self.fill(n);
            if let Err(error) = read {
                self.segments.clear();
                self.settle();
                return Err(error.into());
            }
            self.shorten(self.n_on_disk - n);
        }
        Ok(self.segments.front().map_or(0, Segment::len))
    }

    /// Reads the topmost states on disk into the only segment.
    fn fill(&mut self, n: u64) -> io::Result<()> {
        let disk = seek(&mut self.disk, self.n_on_disk - n)?;
        let Some(segment) = self.segments.back_mut() else { return Ok(()) };
        disk.read_exact(&mut segment.map[..n as usize * STATE])?;
        segment.to = n as usize;
        Ok(())
    }

    /// The depth of the lowest state in memory.
    pub fn bottom_depth(&self) -> Option<u32> {
        self.segments.front().map(|bottom| bottom.get(bottom.from).depth)
    }

    /// Copies `n` states of the lowest segment in memory, from a place on.
    pub fn copy_bottom(&self, from: usize, n: usize, to: &mut Vec<Waiting>) {
        if let Some(bottom) = self.segments.front() {
            let from = bottom.from + from;
            to.extend((from..bottom.to.min(from + n)).map(|at| bottom.get(at)));
        }
    }

    /// Forgets the first states of the lowest segment in memory.
    pub fn drop_bottom(&mut self, n: usize) {
        let Some(bottom) = self.segments.front_mut() else { return };
        bottom.from = bottom.to.min(bottom.from + n);
        if bottom.len() == 0 {
            let empty = self.segments.pop_front();
            self.put_aside(empty);
        }
    }

    /// Moves all states to disk and gives the memory back.
    pub fn spill_all(&mut self) -> Result<(), Trouble> {
        while !self.segments.is_empty() {
            self.spare = Some(self.sink()?);
        }
        self.spare = None;
        self.settle();
        Ok(())
    }

    /// Gives all states other names.
    pub fn rename(
        &mut self,
        name: &mut dyn FnMut(Token) -> Result<Token, Full>,
    ) -> Result<(), Trouble> {
        for segment in &mut self.segments {
            for at in segment.from..segment.to {
                let state = segment.get(at);
                segment.set(at, Waiting { token: name(state.token)?, ..state });
            }
        }
        let mut bytes = vec![0; BATCH * STATE];
        let mut from = 0;
        while from < self.n_on_disk {
            let n = (self.n_on_disk - from).min(BATCH as u64);
            let batch = &mut bytes[..n as usize * STATE];
            seek(&mut self.disk, from)?.read_exact(batch)?;
            for bytes in batch.as_chunks_mut().0 {
                let state = decode(bytes);
                *bytes = encode(Waiting { token: name(state.token)?, ..state });
            }
            seek(&mut self.disk, from)?.write_all(batch)?;
            from += n;
        }
        Ok(())
    }

    /// Writes all states, the bottom first.
    pub fn save(&mut self, to: &mut dyn Write) -> io::Result<()> {
        if self.n_on_disk > 0 {
            let bytes = self.n_on_disk * STATE as u64;
            let copied = io::copy(&mut seek(&mut self.disk, 0)?.take(bytes), to)?;
            if copied != bytes {
                return Err(damaged());
            }
        }
        self.segments.iter().try_for_each(|segment| to.write_all(segment.bytes()))
    }

    /// Reads states that `save` has written, and adds them.
    pub fn load(&mut self, n: u64, from: &mut dyn Read) -> Result<(), Trouble> {
        let mut bytes = [0; STATE];
        for _ in 0..n {
            from.read_exact(&mut bytes)?;
            // The model may have had other numbers for causes when it was written.
            self.push_all(std::iter::once(Waiting { cause: 0, ..decode(&bytes) }))?;
        }
        Ok(())
    }

    /// Adds an empty segment on top: the spare one, a new one, or the lowest
    /// after its states went to disk.
    fn add_segment(&mut self) -> Result<(), Trouble> {
        let mut result = Ok(());
        let segment = match self.spare.take() {
            Some(spare) => spare,
            None if self.take_memory() => Segment::new(self.space.segment),
            None => match self.sink() {
                Ok(emptied) => emptied,
                // None may be lost, so it is made all the same.
                Err(trouble) => {
                    result = Err(trouble);
                    Segment::new(self.space.segment)
                }
            },
        };
        self.segments.push_back(segment);
        result
    }

    fn n_segments(&self) -> usize {
        self.segments.len() + self.spare.is_some() as usize
    }

    /// Bytes of so many segments, but for those that are a stack's own.
    fn bytes(&self, n_segments: usize) -> u64 {
        (n_segments.saturating_sub(self.space.own()) * self.space.segment * STATE) as u64
    }

    /// Takes memory for one more segment.
    fn take_memory(&mut self) -> bool {
        let n = self.n_segments() + 1;
        let more = self.bytes(n).saturating_sub(self.taken);
        let taken = n <= self.space.most() && self.space.budget.take(more);
        if taken {
            self.taken += more;
        }
        taken
    }

    /// Gives back memory that is no longer in use.
    fn settle(&mut self) {
        let needed = self.bytes(self.n_segments());
        let unused = self.taken.saturating_sub(needed);
        self.taken -= unused;
        self.space.budget.give(unused);
    }

    fn put_aside(&mut self, empty: Option<Segment>) {
        if let (None, Some(mut empty)) = (&self.spare, empty) {
            (empty.from, empty.to) = (0, 0);
            self.spare = Some(empty);
        }
        self.settle();
    }

    /// Moves the lowest segment in memory to disk; returns it empty.
    fn sink(&mut self) -> Result<Segment, Trouble> {
        let Some(spill) = &self.space.spill else { return Err(Trouble::Full) };
        let Some(bottom) = self.segments.front() else { return Err(Trouble::Full) };
        if self.disk.is_none() {
            self.disk = Some(spill.file()?);
        }
        seek(&mut self.disk, self.n_on_disk)?.write_all(bottom.bytes())?;
        spill.add(bottom.bytes().len() as u64);
        self.n_on_disk += bottom.len() as u64;
        let mut emptied = self.segments.pop_front().ok_or(Trouble::Full)?;
        (emptied.from, emptied.to) = (0, 0);
        Ok(emptied)
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

/// States `from..to` of a piece of memory.
struct Segment {
    map: MmapMut,
    from: usize,
    to: usize,
}

impl Segment {
    /// If the system has no memory at all this is the end, as for any other
    /// allocation: a search that goes on must not lose states.
    fn new(n: usize) -> Segment {
        let map = MmapMut::map_anon(n * STATE).unwrap_or_else(|_| no_memory(n * STATE));
        Segment { map, from: 0, to: 0 }
    }

    fn len(&self) -> usize {
        self.to - self.from
    }

    fn room(&self) -> usize {
        self.map.len() / STATE - self.to
    }

    /// All states there is room for.
    #[inline(always)]
    fn states(&self) -> &[[u8; STATE]] {
        self.map.as_chunks().0
    }

    /// Adds states, for which there is room.
    #[inline(always)]
    fn extend(&mut self, states: impl ExactSizeIterator<Item = Waiting>) {
        let n = states.len();
        let free = &mut self.map.as_chunks_mut().0[self.to..self.to + n];
        free.iter_mut().zip(states).for_each(|(free, state)| *free = encode(state));
        self.to += n;
    }

    fn get(&self, at: usize) -> Waiting {
        decode(&self.states()[at])
    }

    fn set(&mut self, at: usize, state: Waiting) {
        self.map.as_chunks_mut().0[at] = encode(state);
    }

    fn bytes(&self) -> &[u8] {
        &self.map[self.from * STATE..self.to * STATE]
    }
}

fn no_memory(bytes: usize) -> ! {
    match Layout::array::<u8>(bytes) {
        Ok(layout) => handle_alloc_error(layout),
        Err(_) => std::process::abort(),
    }
}

#[inline]
fn encode(state: Waiting) -> [u8; STATE] {
    let mut bytes = [0; STATE];
    bytes[..8].copy_from_slice(&{ state.token }.to_le_bytes());
    bytes[8..12].copy_from_slice(&{ state.depth }.to_le_bytes());
    bytes[12..].copy_from_slice(&{ state.cause }.to_le_bytes());
    bytes
}

#[inline]
fn decode(bytes: &[u8; STATE]) -> Waiting {
    let (mut token, mut depth, mut cause) = ([0; 8], [0; 4], [0; 2]);
    token.copy_from_slice(&bytes[..8]);
    depth.copy_from_slice(&bytes[8..12]);
    cause.copy_from_slice(&bytes[12..]);
    let (token, depth) = (u64::from_le_bytes(token), u32::from_le_bytes(depth));
    Waiting { token, depth, cause: u16::from_le_bytes(cause) }
}

fn seek(disk: &mut Option<File>, at: u64) -> io::Result<&mut File> {
    let disk = disk.as_mut().ok_or_else(damaged)?;
    disk.seek(SeekFrom::Start(at * STATE as u64))?;
    Ok(disk)
}
