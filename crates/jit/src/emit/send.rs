//! Sends.

use super::Emitter;
use super::channel::Target;
use crate::runtime::Context;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use ir::system::Expr;
use std::mem::offset_of;

impl Emitter<'_, '_> {
    /// Puts a message into a channel and goes on with the state copied; else
    /// to `blocked`.
    pub(super) fn send(&mut self, target: Target, sorted: bool, args: &[Expr], blocked: Block) {
        let layout = self.chan_layout(&target);
        let len = self.len_of(&target);
        let free = IntCC::UnsignedLessThan;
        let free = self.b.ins().icmp_imm(free, len, layout.capacity as i64);
        self.require(free, blocked);
        let rendezvous = self.facts.system.chans[target.chan.idx()].slots == 0;
        if args.len() != layout.field_offsets.len() || (rendezvous && self.in_block) {
            return self.give_up();
        }
        self.give_up_if_claimed(&target, false);
        let values: Vec<Value> = args.iter().map(|arg| self.eval(arg)).collect();
        if let (true, Some(id)) = (rendezvous, target.id) {
            self.pass_over_if_nobody_waits(id, blocked);
        }
        let end = self.b.ins().uextend(I64, len);
        let sorted = sorted && layout.capacity > 1;
        let slot = if sorted { self.insertion_slot(&target, end, &values) } else { end };
        self.copy();
        let message = self.message(&target, Some(slot));
        if sorted {
            let behind = self.b.ins().isub(end, slot);
            let bytes = self.b.ins().imul_imm(behind, layout.message_size as i64);
            self.shift(message.plus(layout.message_size), message, bytes);
        }
        let longer = self.b.ins().iadd_imm(len, 1);
        self.set_len(&target, longer);
        for (i, value) in values.iter().enumerate() {
            let at = message.plus(layout.field_offsets[i]);
            self.store(self.field_repr(&target, i), at, *value);
        }
        let handshake = match target.id {
            Some(id) if rendezvous => id,
            _ => self.int(-1),
        };
        self.b.def_var(self.handshake, handshake);
        self.sends.rendezvous |= rendezvous;
        self.sends.buffered |= !rendezvous;
    }

    /// A rendezvous that nobody waits for counts as run, and changes nothing.
    /// Most are of this kind, so that it is found out before the state is copied.
    fn pass_over_if_nobody_waits(&mut self, queue: Value, blocked: Block) {
        if !self.rest_is_harmless {
            return;
        }
        let waiting = self.load_context(I64, offset_of!(Context, waiting));
        let queue = self.b.ins().uextend(I64, queue);
        // Shifts take the amount modulo 64.
        let waiting = self.b.ins().ushr(waiting, queue);
        let waiting = self.b.ins().band_imm(waiting, 1);
        let (alone, meets) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(waiting, meets, &[], alone, &[]);
        self.enter(alone);
        self.set_reached();
        let none = self.int(0);
        self.b.def_var(self.escape, none);
        self.jump(blocked);
        self.enter(meets);
    }

    /// Where a message goes in a sorted channel: behind all that are not greater.
    fn insertion_slot(&mut self, target: &Target, end: Value, values: &[Value]) -> Value {
        let (test, next, found) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let slot = self.b.append_block_param(test, I64);
        let result = self.b.append_block_param(found, I64);
        let first = self.b.ins().iconst(I64, 0);
        self.b.ins().jump(test, &[first.into()]);
        self.b.switch_to_block(test);
        let compare = self.b.create_block();
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, slot, end);
        self.b.ins().brif(more, compare, &[], found, &[slot.into()]);
        self.enter(compare);
        let message = self.message(target, Some(slot));
        for (i, value) in values.iter().enumerate() {
            let stored = self.load_field(target, message, i);
            let (equal, other) = (self.b.create_block(), self.b.create_block());
            let differs = self.b.ins().icmp(IntCC::NotEqual, *value, stored);
            self.b.ins().brif(differs, other, &[], equal, &[]);
            self.enter(other);
            let less = self.b.ins().icmp(IntCC::SignedLessThan, *value, stored);
            self.b.ins().brif(less, found, &[slot.into()], next, &[]);
            self.enter(equal);
        }
        self.jump(next);
        self.enter(next);
        let following = self.b.ins().iadd_imm(slot, 1);
        self.b.ins().jump(test, &[following.into()]);
        self.b.seal_block(test);
        self.enter(found);
        result
    }
}
