//! Exact store: every state is kept in full, one behind the other.
//!
//! An open-addressing table of 64-bit entries points into an arena of records.
//! An entry holds 24 bits of the state's hash and the record's place, so that
//! a record is looked at only if it is very likely the right one.
//!
//! Invariant: a state for which `insert` returned `New` is found for ever
//! after, and no other state is taken for it.

use super::Insert;
use rapidhash::v3::rapidhash_v3;

const CHUNK_BITS: u32 = 20;
const CHUNK: usize = 1 << CHUNK_BITS;
/// Bytes of a record's length in front of it.
const LEN_SIZE: usize = 4;
const TAG_BITS: u32 = 24;
const PLACE_MASK: u64 = (1 << (64 - TAG_BITS)) - 1;
const FIRST_SLOTS: usize = 1 << 12;

/// The place of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor(u64);

impl Cursor {
    /// The first record, if there is one.
    pub const FIRST: Cursor = Cursor(0);
}

pub struct ExactStore {
    /// 0 is free; else tag and place + 1.
    slots: Vec<u64>,
    /// A record lies in one chunk; a large one in a chunk of its own size.
    chunks: Vec<Vec<u8>>,
    /// Bytes in front of a state that do not count.
    hidden: usize,
    n_states: u64,
    chunk_bytes: u64,
    limit: u64,
}

impl ExactStore {
    pub fn new(hidden: usize, limit: u64) -> ExactStore {
        ExactStore {
            slots: vec![0; FIRST_SLOTS],
            chunks: Vec::new(),
            hidden,
            n_states: 0,
            chunk_bytes: 0,
            limit,
        }
    }

    pub fn len(&self) -> u64 {
        self.n_states
    }

    pub fn is_empty(&self) -> bool {
        self.n_states == 0
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> u64 {
        self.slots.len() as u64 * 8 + self.chunk_bytes
    }

    /// Lowers or raises the limit, as others need memory too.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    pub fn contains(&self, state: &[u8]) -> bool {
        self.find(state, self.hash(state)).is_ok()
    }

    pub fn insert(&mut self, state: &[u8]) -> Insert {
        let hash = self.hash(state);
        let Err(slot) = self.find(state, hash) else { return Insert::Visited };
        let mut slot = slot;
        if self.load_exceeds(3, 4) {
            if self.grow() {
                slot = self.free_slot(hash);
            } else if self.load_exceeds(19, 20) {
                return Insert::NoRoom;
            }
        }
        let Some(place) = self.append(state) else { return Insert::NoRoom };
        self.slots[slot] = entry(hash, place);
        self.n_states += 1;
        Insert::New
    }

    /// The state at `cursor` and the place of the next; `None` behind the last.
    /// The place stays good while states are inserted.
    pub fn read(&self, cursor: Cursor) -> Option<(&[u8], Cursor)> {
        let mut chunk = (cursor.0 >> CHUNK_BITS) as usize;
        let mut at = (cursor.0 as usize) & (CHUNK - 1);
        if at >= self.chunks.get(chunk)?.len() {
            chunk += 1;
            at = 0;
        }
        let state = record(self.chunks.get(chunk)?, at);
        // A record that fills its chunk is the only one in it.
        let next = (at + LEN_SIZE + state.len()).min(CHUNK) as u64;
        Some((state, Cursor(((chunk as u64) << CHUNK_BITS) + next)))
    }

    /// Whether one more state would fill more than this part of the table.
    fn load_exceeds(&self, part: u64, of: u64) -> bool {
        (self.n_states + 1) * of > self.slots.len() as u64 * part
    }

    /// Adds a record; `None` if there is no room for it.
    fn append(&mut self, state: &[u8]) -> Option<u64> {
        let size = LEN_SIZE + state.len();
        let fits = self.chunks.last().is_some_and(|c| c.len() + size <= CHUNK);
        if !fits {
            let capacity = size.max(CHUNK);
            if self.bytes() + capacity as u64 > self.limit
                || self.chunks.len() as u64 >= PLACE_MASK >> CHUNK_BITS
            {
                return None;
            }
            self.chunks.push(Vec::with_capacity(capacity));
            self.chunk_bytes += capacity as u64;
        }
        let chunk = self.chunks.len() - 1;
        let bytes = &mut self.chunks[chunk];
        let place = ((chunk as u64) << CHUNK_BITS) | bytes.len() as u64;
        bytes.extend_from_slice(&(state.len() as u32).to_le_bytes());
        bytes.extend_from_slice(state);
        Some(place)
    }

    fn hash(&self, state: &[u8]) -> u64 {
        rapidhash_v3(&state[self.hidden..])
    }

    /// The slot of the state, or the free slot where it belongs.
    fn find(&self, state: &[u8], hash: u64) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let found = self.slots[slot];
            if found == 0 {
                return Err(slot);
            }
            if found >> (64 - TAG_BITS) == hash >> (64 - TAG_BITS) {
                let place = (found & PLACE_MASK) - 1;
                let bytes = &self.chunks[(place >> CHUNK_BITS) as usize];
                let stored = record(bytes, place as usize & (CHUNK - 1));
                if stored[self.hidden..] == state[self.hidden..] {
                    return Ok(slot);
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    fn free_slot(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Doubles the table; false if that would break the limit.
    fn grow(&mut self) -> bool {
        let n_slots = self.slots.len() * 2;
        // For a moment the old table is there as well.
        if self.bytes() + n_slots as u64 * 8 > self.limit {
            return false;
        }
        self.slots = vec![0; n_slots];
        let mut cursor = Cursor::FIRST;
        let mut chunk = 0;
        let mut at = 0;
        while chunk < self.chunks.len() {
            if at >= self.chunks[chunk].len() {
                chunk += 1;
                at = 0;
                cursor = Cursor((chunk as u64) << CHUNK_BITS);
                continue;
            }
            let state = record(&self.chunks[chunk], at);
            let (hash, size) = (self.hash(state), LEN_SIZE + state.len());
            let slot = self.free_slot(hash);
            self.slots[slot] = entry(hash, cursor.0);
            at += size;
            cursor = Cursor(((chunk as u64) << CHUNK_BITS) | at as u64);
        }
        true
    }
}

fn entry(hash: u64, place: u64) -> u64 {
    (hash & !PLACE_MASK) | (place + 1)
}

fn record(chunk: &[u8], at: usize) -> &[u8] {
    let len = u32::from_le_bytes([chunk[at], chunk[at + 1], chunk[at + 2], chunk[at + 3]]);
    &chunk[at + LEN_SIZE..at + LEN_SIZE + len as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// A small generator: the tests need no better one.
    fn random(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *seed >> 33
    }

    #[test]
    fn agrees_with_a_hash_set_and_reads_back_in_order() {
        let mut seed = 7;
        let mut store = ExactStore::new(2, u64::MAX);
        let mut set = HashSet::new();
        let mut order = Vec::new();
        let (mut follow, mut n_read) = (Cursor::FIRST, 0);
        for i in 0..100_000u64 {
            let len = 2 + random(&mut seed) as usize % 40;
            let mut state: Vec<u8> = (0..len).map(|_| (random(&mut seed) % 4) as u8).collect();
            if i % 5_000 == 0 {
                state.resize(CHUNK + i as usize, 3);
            }
            let new = set.insert(state[2..].to_vec());
            let expected = if new { Insert::New } else { Insert::Visited };
            assert_eq!(store.contains(&state), !new);
            assert_eq!(store.insert(&state), expected);
            if new {
                order.push(state);
            }
            // A reader that keeps up with the writer sees the same.
            while let Some((read, next)) = store.read(follow) {
                assert_eq!(read, &order[n_read][..]);
                n_read += 1;
                follow = next;
            }
        }
        assert_eq!(n_read, order.len());
        assert_eq!(store.len(), set.len() as u64);
        let mut cursor = Cursor::FIRST;
        for state in &order {
            let (read, next) = store.read(cursor).expect("a record");
            assert_eq!(read, &state[..]);
            cursor = next;
        }
        assert!(store.read(cursor).is_none());
    }

    #[test]
    fn keeps_its_limit() {
        let limit = 4 << 20;
        let mut store = ExactStore::new(0, limit);
        let mut n = 0u64;
        while store.insert(&n.to_le_bytes()) == Insert::New {
            n += 1;
            assert!(store.bytes() <= limit);
        }
        assert!(n > 100_000, "{n}");
        assert!((0..n).all(|i| store.contains(&i.to_le_bytes())));
    }
}
