//! Rows: successors side by side, each with a head in front. A model that is
//! fast writes them here instead of calling the sink for each.

/// Bytes of a head: length of the state and mark (four bytes each), origin
/// (six) and cause (two), all little-endian. Machine code relies on it.
pub const HEAD: usize = 16;
const ORIGIN_BITS: u32 = 48;
/// What a head holds of an origin.
pub const ORIGIN_MASK: u64 = (1 << ORIGIN_BITS) - 1;

/// By what kind of step a state was found, in the model's own numbers; 0 if
/// that is not known or of no use (see `Model::expand_found`).
pub type Cause = u16;
/// Rows begin at multiples of this.
const ALIGNMENT: usize = 8;
/// Bytes behind a row that may be overwritten: states are copied in large pieces.
pub const SLACK: usize = 64;

/// What a sink wants to know with each successor of a state: a mark of its own,
/// and of the origin the lower 48 bits.
#[derive(Debug, Clone, Copy)]
pub struct Head(u128);

impl Head {
    pub const NONE: Head = Head(0);

    #[inline(always)]
    pub fn new(mark: u32, origin: u64) -> Head {
        Head((mark as u128) << 32 | ((origin & ORIGIN_MASK) as u128) << 64)
    }

    /// The head of a state of this length, of no known cause.
    #[inline(always)]
    pub fn of(self, len: usize) -> [u8; HEAD] {
        (self.0 | len as u128).to_le_bytes()
    }
}

pub struct Rows {
    /// Always longer than what is used, by `SLACK` and more.
    bytes: Vec<u8>,
    used: usize,
    /// Bytes of rows that make it full.
    full: usize,
    count: u64,
    head: Head,
}

/// A successor, and what the sink wanted to know with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'r> {
    pub state: &'r [u8],
    pub mark: u32,
    pub origin: u64,
    pub cause: Cause,
}

/// Bytes from one row to the next.
pub const fn stride(len: usize) -> usize {
    (HEAD + len + ALIGNMENT - 1) & !(ALIGNMENT - 1)
}

impl Rows {
    /// Rows that count as full with so many bytes.
    pub fn new(full: usize) -> Rows {
        Rows { bytes: Vec::new(), used: 0, full, count: 0, head: Head::NONE }
    }

    /// What goes into the heads from now on.
    #[inline(always)]
    pub fn set_head(&mut self, head: Head) {
        self.head = head;
    }

    pub fn head(&self) -> Head {
        self.head
    }

    /// Adds a row, be there room or not.
    #[inline(always)]
    pub fn push(&mut self, state: &[u8]) {
        self.push_found(state, 0);
    }

    /// The same, of a state that was found by a step of this kind.
    #[inline(always)]
    pub fn push_found(&mut self, state: &[u8], cause: Cause) {
        self.reserve(state.len());
        let mut head = self.head.of(state.len());
        head[HEAD - size_of::<Cause>()..].copy_from_slice(&cause.to_le_bytes());
        let row = &mut self.bytes[self.used..];
        row[..HEAD].copy_from_slice(&head);
        row[HEAD..HEAD + state.len()].copy_from_slice(state);
        self.used += stride(state.len());
        self.count += 1;
    }

    /// Whether a row of others can be added without more memory.
    #[inline(always)]
    pub fn has_room_for(&self, others: &Rows, at: usize) -> bool {
        self.needed(others.len_of(at + HEAD)) <= self.bytes.len()
    }

    /// How many bytes there will be when a row of others is added.
    pub fn bytes_with(&self, others: &Rows, at: usize) -> usize {
        match self.has_room_for(others, at) {
            true => self.bytes.len(),
            false => self.needed(others.len_of(at + HEAD)).next_power_of_two(),
        }
    }

    /// Has memory for a row of others.
    #[inline(always)]
    pub fn make_room_for(&mut self, others: &Rows, at: usize) {
        self.reserve(others.len_of(at + HEAD));
    }

    /// Adds a row of others, with its head; it does not count.
    #[inline(always)]
    pub fn push_row(&mut self, others: &Rows, at: usize) {
        self.make_room_for(others, at);
        let len = others.len_of(at + HEAD);
        let row = &others.bytes[at..at + stride(len)];
        self.bytes[self.used..self.used + row.len()].copy_from_slice(row);
        self.used += row.len();
    }

    /// Adds up to `n` rows of this length, one at least, until it is full. What
    /// is to be written goes on behind the state.
    #[inline(always)]
    pub fn push_many(&mut self, len: usize, n: usize, mut write: impl FnMut(&mut [u8])) {
        self.reserve(len);
        let (head, stride) = (self.head.of(len), stride(len));
        for _ in 0..n {
            let row = &mut self.bytes[self.used..self.used + HEAD + len + SLACK];
            row[..HEAD].copy_from_slice(&head);
            write(&mut row[HEAD..]);
            self.used += stride;
            self.count += 1;
            if self.is_full() {
                return;
            }
        }
    }

    /// Makes sure that a state of this length fits behind any row of this
    /// length that begins before the rows are full.
    #[inline(always)]
    pub fn reserve(&mut self, len: usize) {
        self.reserve_beyond(len, 0);
    }

    /// The same for any row that begins so many bytes beyond, at most.
    #[inline(always)]
    pub fn reserve_beyond(&mut self, len: usize, bytes: usize) {
        let needed = self.needed(len) + bytes;
        if self.bytes.len() < needed {
            self.grow(needed);
        }
    }

    #[inline(always)]
    fn needed(&self, len: usize) -> usize {
        self.used.max(self.full + stride(len)) + stride(len) + SLACK
    }

    #[cold]
    fn grow(&mut self, needed: usize) {
        let size = needed.next_power_of_two();
        if self.used == 0 {
            // Memory that nobody writes is not provided.
            self.bytes = vec![0; size];
        } else {
            self.bytes.resize(size, 0);
        }
    }

    pub fn is_full(&self) -> bool {
        self.used >= self.full
    }

    /// Where rows may be written after `reserve`: the start of all, how many
    /// bytes are used, and how many make it full.
    pub fn space(&mut self) -> (*mut u8, usize, usize) {
        (self.bytes.as_mut_ptr(), self.used, self.full)
    }

    /// Takes over rows that were written to the space: bytes used now, and how
    /// many rows there are more, or were left out.
    pub fn written(&mut self, used: usize, rows: u64) {
        assert!(self.used <= used && used + SLACK <= self.bytes.len());
        self.used = used;
        self.count += rows;
    }

    /// Counts a row that is not added: its state is found another way.
    pub fn leave_out(&mut self) {
        self.count += 1;
    }

    /// All rows, and at least `SLACK` bytes more.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of all rows.
    #[inline(always)]
    pub fn used(&self) -> usize {
        self.used
    }

    /// The row that begins at a place, and where the next one does.
    #[inline(always)]
    pub fn row(&self, at: usize) -> (Row<'_>, usize) {
        let state = at + HEAD;
        let (len, mark, origin, cause) = self.head_before(state);
        let row = Row { state: &self.bytes[state..state + len], mark, origin, cause };
        (row, at + stride(len))
    }

    /// The length of the state that begins at a place.
    #[inline(always)]
    pub fn len_of(&self, state: usize) -> usize {
        self.head_before(state).0
    }

    /// Mark, origin and cause of the row whose state begins at a place.
    #[inline(always)]
    pub fn found(&self, state: usize) -> (u32, u64, Cause) {
        let (_, mark, origin, cause) = self.head_before(state);
        (mark, origin, cause)
    }

    #[inline(always)]
    fn head_before(&self, state: usize) -> (usize, u32, u64, Cause) {
        let head = self.bytes[..state].last_chunk().copied().map(u128::from_le_bytes);
        let head = head.expect("a head has sixteen bytes");
        let (mark, last) = ((head >> 32) as u32, (head >> 64) as u64);
        (head as u32 as usize, mark, last & ORIGIN_MASK, (last >> ORIGIN_BITS) as Cause)
    }

    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// Forgets all rows from a place on, where one begins.
    pub fn truncate(&mut self, used: usize) {
        self.used = self.used.min(used);
    }

    /// How many rows were added since this was last called.
    pub fn take_count(&mut self) -> u64 {
        std::mem::take(&mut self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_were_put_in() {
        let mut rows = Rows::new(64);
        let states: Vec<Vec<u8>> = (0..40u8).map(|len| vec![len; len as usize]).collect();
        for (mark, state) in states.iter().enumerate() {
            rows.set_head(Head::new(mark as u32, 1 << 40 | mark as u64));
            rows.push(state);
        }
        assert!(rows.is_full());
        let mut at = 0;
        for (mark, state) in states.iter().enumerate() {
            let (row, next) = rows.row(at);
            assert_eq!(
                row,
                Row { state, mark: mark as u32, origin: 1 << 40 | mark as u64, cause: 0 }
            );
            at = next;
        }
        assert_eq!((at, rows.take_count()), (rows.used(), 40));
    }
}
