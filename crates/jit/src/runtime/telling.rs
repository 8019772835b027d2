//! What the sink is told, and when: successors that wait in its rows, faults, and
//! that it is its turn.

use super::*;

/// Bytes of the successors of one state for which there is room behind rows that are
/// full, at most.
const MOST_BEYOND: usize = 1 << 20;

impl Context {
    /// Has successors made in the rows, or in buffer 0.
    pub(super) fn set_space(&mut self, rows: Option<&mut Rows>) {
        match rows {
            Some(rows) => {
                let len = self.len.max(self.copied);
                let beyond = (self.most_successors * rows::stride(len)).min(MOST_BEYOND);
                rows.reserve_beyond(len, beyond);
                let (start, used, full) = rows.space();
                self.full = start.wrapping_add(full + rows::HEAD);
                (self.rows, self.rows_at) = (rows, start);
                self.out = start.wrapping_add(used + rows::HEAD);
                self.limit = self.full.wrapping_add(beyond);
            }
            None => {
                (self.rows_at, self.limit) = (std::ptr::null_mut(), std::ptr::null());
                // Buffers come before.
                self.full = std::ptr::null::<u8>().wrapping_sub(1);
                self.out = self.buffer(0);
            }
        }
    }

    /// Ends the expansion: the sink learns what its rows hold.
    pub fn leave(&mut self) {
        self.tell_rows();
        self.sink = None;
    }

    /// The sink learns what its rows hold.
    pub(super) fn tell_rows(&mut self) {
        if let Some((used, n)) = self.untold() {
            // SAFETY: these are the rows of the sink, and nobody else has used
            // it since they were asked for.
            unsafe { (*self.rows).written(used, n) };
            self.n_told = self.n_events;
        }
    }

    /// Bytes used of the rows, and the successors that the sink does not know of.
    fn untold(&self) -> Option<(usize, u64)> {
        let used = (self.out as usize).wrapping_sub(self.rows_at as usize + rows::HEAD);
        let n = self.n_events - self.n_told;
        (!self.rows_at.is_null()).then_some((used, n))
    }

    /// Calls the sink. A panic may not cross native code, so it waits.
    pub fn tell(
        &mut self,
        what: impl FnOnce(&mut dyn Sink, &[Step]) -> Flow,
        n_steps: usize,
    ) -> Status {
        self.tell_rows();
        let Some(sink) = self.sink else { return UNWIND };
        // SAFETY: `Native` has set the sink from a reference that outlives the
        // expansion and that it does not use meanwhile.
        let sink = unsafe { &mut *sink };
        let (steps, number) = (&self.steps[..n_steps], self.number);
        let turn = std::mem::replace(&mut self.turned_to, number) != number;
        let answer = catch_unwind(AssertUnwindSafe(|| {
            if turn {
                sink.turn_to(number);
            }
            (what(sink, steps), sink.rows())
        }));
        self.n_told = self.n_events;
        match answer {
            Ok((flow, rows)) => {
                self.set_space(rows);
                if flow == Flow::Continue {
                    return STILL;
                }
                self.stopped = true;
            }
            Err(panic) => {
                self.set_space(None);
                self.panic = Some(panic);
            }
        }
        UNWIND
    }

    /// The sink makes room if its rows are full: native code that finds no room gives
    /// up.
    #[inline(always)]
    pub fn make_room(&mut self) -> Status {
        if self.out.cast_const() < self.full {
            return STILL;
        }
        self.tell(|sink, _| sink.make_room(), 0)
    }

    /// Passes on a successor that was made at `state`.
    ///
    /// # Safety
    /// `state` must be valid for `len` bytes, at most those of a frame.
    pub(super) unsafe fn hand_out(
        &mut self,
        state: *const u8,
        len: usize,
        n_steps: usize,
    ) -> Status {
        if self.rows_at.is_null() {
            self.n_events += 1;
            // SAFETY: the caller's promise; the sink does not change buffers.
            let state = unsafe { std::slice::from_raw_parts(state, len) };
            return self.tell(|sink, steps| sink.successor(state, steps), n_steps);
        }
        let mut from = state;
        if self.out.cast_const() >= self.limit {
            from = self.buffer(0);
            // SAFETY: a buffer is as long as a state, with slack.
            unsafe { copy_state(state, from.cast_mut(), len) };
            if self.tell(|sink, _| sink.make_room(), 0) == UNWIND {
                return UNWIND;
            }
        }
        self.n_events += 1;
        // SAFETY: behind `out` there is room for a state as long as the frame's,
        // and before it for a head.
        unsafe {
            copy_state(from, self.out, len);
            let head = self.out.sub(rows::HEAD);
            head.cast::<[u8; rows::HEAD]>().write(self.head);
            head.cast::<u32>().write_unaligned(len as u32);
            self.out.sub(2).cast::<rows::Cause>().write_unaligned(self.first_cause());
        }
        self.out = self.out.wrapping_add(rows::stride(len));
        STILL
    }
}

/// Copies a state piece by piece, if it is not there already: shorter than a call
/// of the system's routine.
///
/// # Safety
/// Both must be valid for `len` bytes and `SLACK` more, and not overlap unless
/// they are the same.
#[inline(always)]
unsafe fn copy_state(from: *const u8, to: *mut u8, len: usize) {
    if from == to {
        return;
    }
    let mut at = 0;
    while at < len {
        // SAFETY: the last piece ends in the slack.
        unsafe {
            let piece = from.add(at).cast::<u128>().read_unaligned();
            to.add(at).cast::<u128>().write_unaligned(piece);
        }
        at += STEP;
    }
}
