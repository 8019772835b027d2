//! Receives and polls.
//!
//! Lengths are cut to the capacity before they are used to move bytes, so that
//! no state, not even one that the model never makes, leads out of a buffer.

use super::channel::Target;
use super::place::Offset;
use super::{Base, Emitter, Role};
use crate::runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I8X16, I16, I32, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Type, Value};
use ir::system::{Field, Receive};

/// A channel that is no longer than this is moved up by plain loads and stores.
const UNROLLED_SHIFT: usize = 48;

impl Emitter<'_, '_> {
    /// Takes a message and goes on with the state copied; else to `blocked`.
    pub(super) fn receive(&mut self, receive: &Receive, target: Target, blocked: Block) {
        self.can_meet(receive, &target, blocked);
        let slot = self.find_message(receive, &target, blocked);
        let n_fields = self.chan_layout(&target).field_offsets.len();
        if receive.fields.len() > n_fields || (receive.fields.len() != n_fields && !receive.keep) {
            return self.give_up();
        }
        self.give_up_if_claimed(&target, true);
        self.copy();
        let message = self.message(&target, slot);
        for (i, field) in receive.fields.iter().enumerate() {
            if let Field::Bind(place) = field {
                let value = self.load_field(&target, message, i);
                let offset = self.locate(place);
                self.store_place(place, offset, value);
            }
        }
        if !receive.keep {
            self.remove_message(&target, slot);
        }
    }

    /// A receive from a rendezvous channel runs when its message is there, and
    /// no other receive then.
    pub(super) fn can_meet(&mut self, receive: &Receive, target: &Target, blocked: Block) {
        let rendezvous = self.facts.system.chans[target.chan.idx()].slots == 0;
        if rendezvous && receive.keep {
            return self.give_up();
        }
        match (self.role, rendezvous, target.id) {
            (Role::Moves | Role::Told, false, _) => {}
            (Role::Receives, true, Some(id)) if !self.in_block => {
                let same = self.b.ins().icmp(IntCC::Equal, id, self.queue);
                self.require(same, blocked);
            }
            // The rest of a block after its rendezvous is not compiled.
            (Role::Receives, ..) if self.in_block => self.give_up(),
            _ => self.leave_for(blocked),
        }
    }

    /// Goes on if there is a message to receive, else to `none`.
    pub(super) fn poll(&mut self, receive: &Receive, target: Target, none: Block) {
        if self.facts.system.chans[target.chan.idx()].slots == 0 {
            return self.give_up();
        }
        self.find_message(receive, &target, none);
    }

    /// The slot that a receive takes its message from, 64 bits wide; none is the first.
    pub(super) fn find_message(
        &mut self,
        receive: &Receive,
        target: &Target,
        none: Block,
    ) -> Option<Value> {
        let len = self.len_of(target);
        self.require(len, none);
        if receive.fields.len() > self.chan_layout(target).field_offsets.len() {
            self.give_up();
            return None;
        }
        let picky = receive.fields.iter().any(|f| matches!(f, Field::Match(_)));
        if !(receive.random && picky && self.chan_layout(target).capacity > 1) {
            let message = self.message(target, None);
            self.match_fields(receive, target, message, none);
            return None;
        }
        let len = self.cut_to_capacity(target, len);
        let (test, next) = (self.b.create_block(), self.b.create_block());
        let slot = self.b.append_block_param(test, I64);
        let first = self.b.ins().iconst(I64, 0);
        self.b.ins().jump(test, &[first.into()]);
        self.b.switch_to_block(test);
        let message = self.message(target, Some(slot));
        self.match_fields(receive, target, message, next);
        let found = self.b.create_block();
        self.jump(found);
        self.enter(next);
        let following = self.b.ins().iadd_imm(slot, 1);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, following, len);
        self.b.ins().brif(more, test, &[following.into()], none, &[]);
        self.b.seal_block(test);
        self.enter(found);
        Some(slot)
    }

    /// In order, and an expression only if the fields before it fit.
    fn match_fields(&mut self, receive: &Receive, target: &Target, message: Offset, no: Block) {
        for (i, field) in receive.fields.iter().enumerate() {
            if let Field::Match(expr) = field {
                let value = self.eval(expr);
                let stored = self.load_field(target, message, i);
                let same = self.b.ins().icmp(IntCC::Equal, stored, value);
                self.require(same, no);
            }
        }
    }

    /// A length as 64 bits that is not beyond the capacity.
    pub(super) fn cut_to_capacity(&mut self, target: &Target, len: Value) -> Value {
        let capacity = self.chan_layout(target).capacity;
        let capacity = self.int(capacity as i64);
        let len = self.b.ins().umin(len, capacity);
        self.b.ins().uextend(I64, len)
    }

    fn remove_message(&mut self, target: &Target, slot: Option<Value>) {
        debug_assert_eq!(self.base, Base::Out, "the state is copied before it is changed");
        let layout = self.chan_layout(target);
        let len = self.len_of(target);
        let shorter = self.b.ins().iadd_imm(len, -1);
        self.set_len(target, shorter);
        let first = target.offset.plus(layout.len_size);
        let rest = (layout.capacity - 1) * layout.message_size;
        if slot.is_none() && rest <= UNROLLED_SHIFT {
            // Free slots are zero, so all can be moved, full or not.
            self.move_bytes(first, first.plus(layout.message_size), rest);
            return self.clear(first.plus(rest), layout.message_size);
        }
        let len = self.cut_to_capacity(target, len);
        let size = layout.message_size as i64;
        let last = self.b.ins().iadd_imm(len, -1);
        let to = self.message(target, slot);
        let from = to.plus(layout.message_size);
        let behind = match slot {
            Some(slot) => self.b.ins().isub(last, slot),
            None => last,
        };
        let bytes = self.b.ins().imul_imm(behind, size);
        self.shift(to, from, bytes);
        let last = self.message(target, Some(last));
        self.clear(last, layout.message_size);
    }

    /// Moves bytes of `out`, by a call.
    pub(super) fn shift(&mut self, to: Offset, from: Offset, bytes: Value) {
        let [to, from] = [to, from].map(|offset| {
            let (base, known) = self.address(self.out, offset);
            self.b.ins().iadd_imm(base, known as i64)
        });
        self.call(runtime::shift as *const () as usize, &[to, from, bytes], false);
    }

    /// Moves bytes of `out`: all are read before one is written.
    fn move_bytes(&mut self, to: Offset, from: Offset, bytes: usize) {
        let (from, from_at) = self.address(self.out, from);
        let (to, to_at) = self.address(self.out, to);
        let flags = self.write_flags();
        let mut values = Vec::new();
        for (at, ty) in pieces(bytes, true) {
            values.push((at, self.b.ins().load(ty, flags, from, from_at + at)));
        }
        for (at, value) in values {
            self.b.ins().store(flags, value, to, to_at + at);
        }
    }

    fn clear(&mut self, offset: Offset, bytes: usize) {
        let (base, known) = self.address(self.out, offset);
        let flags = self.write_flags();
        for (at, ty) in pieces(bytes, false) {
            let zero = self.b.ins().iconst(ty, 0);
            self.b.ins().store(flags, zero, base, known + at);
        }
    }
}

/// Cuts a number of bytes into pieces that registers hold.
fn pieces(bytes: usize, vectors: bool) -> Vec<(i32, Type)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for ty in [I8X16, I64, I32, I16, I8] {
        while bytes - at >= ty.bytes() as usize && (vectors || ty != I8X16) {
            pieces.push((at as i32, ty));
            at += ty.bytes() as usize;
        }
    }
    pieces
}
