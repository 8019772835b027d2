//! Channels: which one an expression means, and how full it is.
//!
//! A variable that holds the same channel for good makes place and type of
//! the channel constants. Others are looked up by number in the context, and
//! code is made for each form of channel that it can be.

use super::place::Offset;
use super::{Base, Emitter};
use crate::runtime::{self, Context, Queue};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use ir::layout::ChanLayout;
use ir::scalar::Repr;
use ir::system::{ChanIdx, Expr, Space};
use std::mem::{offset_of, size_of};

/// Forms of channels that code is made for at one place.
const MAX_FORMS: usize = 4;

/// A channel of a type that is known here.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    pub chan: ChanIdx,
    pub offset: Offset,
    /// Its number from 0; for rendezvous channels, and if some are claimed.
    pub id: Option<Value>,
}

/// A channel found by its number.
struct LookedUp {
    id: Value,
    entry: Value,
    offset: Value,
}

impl<'s> Emitter<'_, 's> {
    /// Emits `code` for each type of channel that the expression can mean. All
    /// end at the same point.
    pub(super) fn each_channel(&mut self, chan: &Expr, mut code: impl FnMut(&mut Self, Target)) {
        if let Some(target) = self.known_channel(chan) {
            return code(self, target);
        }
        let found = self.look_up(chan);
        let forms = self.forms();
        if forms.len() > MAX_FORMS {
            return self.give_up();
        }
        let class = offset_of!(Context, queues) + offset_of!(Queue, class);
        let flags = self.write_flags();
        let class = self.b.ins().uload16(I32, flags, found.entry, class as i32);
        let done = self.b.create_block();
        let (before, mut after) = (self.base, self.base);
        for form in forms {
            let next = self.b.create_block();
            let is = self.b.ins().icmp_imm(IntCC::Equal, class, form.0 as i64);
            self.require(is, next);
            let offset = Offset { known: 0, found: Some(found.offset) };
            self.base = before;
            code(self, Target { chan: form, offset, id: Some(found.id) });
            if self.base == Base::Out {
                after = Base::Out;
            }
            self.jump(done);
            self.enter(next);
        }
        self.jump(self.give_up);
        self.enter(done);
        self.base = after;
    }

    /// The distinct forms of channels.
    fn forms(&self) -> Vec<ChanIdx> {
        let mut forms = self.facts.class_of.clone();
        forms.sort();
        forms.dedup();
        forms
    }

    pub(super) fn known_channel(&mut self, chan: &Expr) -> Option<Target> {
        let known = self.facts.known_channel(self.proc, chan)?;
        let layout = self.facts.layout;
        let queues = match known.space {
            Space::Global => &layout.global_queues,
            Space::Local => &layout.procs[self.proc.idx()].queues,
        };
        let at = queues[known.first].offset;
        let mut offset = match known.space {
            Space::Global => Offset { known: at as i32, found: None },
            Space::Local => self.in_process(at),
        };
        let rendezvous = self.facts.system.chans[known.chan.idx()].slots == 0;
        let has_number = rendezvous || self.facts.system.uses.claims;
        let needs_number = known.reset || (has_number && known.space == Space::Local);
        let number = needs_number.then(|| self.eval(chan));
        if let (true, Some(number)) = (known.reset, number) {
            let none = self.b.ins().icmp_imm(IntCC::Equal, number, 0);
            self.give_up_if(none);
        }
        let mut nth = None;
        if let Some(index) = known.index {
            let value = self.checked_index(index);
            // Rendezvous channels may lie in the same place.
            let stride = if index.bound > 1 { queues[known.first + 1].offset - at } else { 0 };
            let distance = self.b.ins().imul_imm(value, stride as i64);
            offset = self.moved(offset, distance);
            nth = Some(self.b.ins().ireduce(I32, value));
        }
        let id = has_number.then(|| match (number, nth) {
            (Some(number), _) => self.b.ins().iadd_imm(number, -1),
            (None, Some(nth)) => self.b.ins().iadd_imm(nth, known.first as i64),
            (None, None) => self.int(known.first as i64),
        });
        Some(Target { chan: known.chan, offset, id })
    }

    /// Gives up if another process has claimed the channel for itself: the
    /// interpreter says so.
    pub(super) fn give_up_if_claimed(&mut self, target: &Target, receive: bool) {
        if let (true, Some(id)) = (self.facts.system.uses.claims, target.id) {
            let receive = self.int(receive.into());
            let args = [self.context, self.start(self.base), self.pid, id, receive];
            let claimed = self.call(runtime::claimed as *const () as usize, &args, true);
            self.give_up_if(claimed.expect("the function returns a value"));
        }
    }

    fn look_up(&mut self, chan: &Expr) -> LookedUp {
        let number = self.eval(chan);
        let id = self.b.ins().iadd_imm(number, -1);
        let n_queues = self.load_context(I32, offset_of!(Context, n_queues));
        let missing = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, id, n_queues);
        self.give_up_if(missing);
        let wide = self.b.ins().uextend(I64, id);
        let entry = self.b.ins().imul_imm(wide, size_of::<Queue>() as i64);
        let entry = self.b.ins().iadd(self.context, entry);
        let offset = offset_of!(Context, queues) + offset_of!(Queue, offset);
        let flags = self.write_flags();
        let offset = self.b.ins().uload32(flags, entry, offset as i32);
        LookedUp { id, entry, offset }
    }

    pub(super) fn chan_layout(&self, target: &Target) -> &'s ChanLayout {
        &self.facts.layout.chans[target.chan.idx()]
    }

    /// The messages in a channel.
    pub(super) fn len_of(&mut self, target: &Target) -> Value {
        let repr = len_repr(self.chan_layout(target));
        self.load(repr, target.offset)
    }

    pub(super) fn set_len(&mut self, target: &Target, len: Value) {
        let repr = len_repr(self.chan_layout(target));
        self.store(repr, target.offset, len);
    }

    /// Where a message begins; `slot` is 64 bits wide.
    pub(super) fn message(&mut self, target: &Target, slot: Option<Value>) -> Offset {
        let layout = self.chan_layout(target);
        let first = target.offset.plus(layout.len_size);
        match slot {
            Some(slot) if layout.capacity > 1 => {
                let distance = self.b.ins().imul_imm(slot, layout.message_size as i64);
                self.moved(first, distance)
            }
            _ => first,
        }
    }

    pub(super) fn field_repr(&self, target: &Target, field: usize) -> Repr {
        self.facts.system.chans[target.chan.idx()].fields[field].repr
    }

    pub(super) fn load_field(&mut self, target: &Target, message: Offset, field: usize) -> Value {
        let at = self.chan_layout(target).field_offsets[field];
        self.load(self.field_repr(target, field), message.plus(at))
    }

    /// Length and capacity of the channel an expression means.
    fn len_and_capacity(&mut self, chan: &Expr) -> (Value, Value) {
        if let Some(target) = self.known_channel(chan) {
            let capacity = self.chan_layout(&target).capacity;
            return (self.len_of(&target), self.int(capacity as i64));
        }
        let found = self.look_up(chan);
        let chans = &self.facts.layout.chans;
        let len_size = chans.first().map_or(1, |c| c.len_size);
        if chans.iter().any(|c| c.len_size != len_size) {
            self.give_up();
        }
        let repr = Repr::Unsigned(8 * len_size as u8);
        let len = self.load(repr, Offset { known: 0, found: Some(found.offset) });
        let at = offset_of!(Context, queues) + offset_of!(Queue, capacity);
        let flags = self.write_flags();
        (len, self.b.ins().uload16(I32, flags, found.entry, at as i32))
    }

    pub(super) fn queue_len(&mut self, chan: &Expr) -> Value {
        self.len_and_capacity(chan).0
    }

    pub(super) fn queue_flag(&mut self, expr: &Expr) -> Value {
        let (Expr::Full(chan) | Expr::NotFull(chan) | Expr::Empty(chan) | Expr::NotEmpty(chan)) =
            expr
        else {
            unreachable!("the caller has an expression of these")
        };
        let (len, capacity) = self.len_and_capacity(chan);
        match expr {
            Expr::Full(_) => self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, len, capacity),
            Expr::NotFull(_) => self.b.ins().icmp(IntCC::UnsignedLessThan, len, capacity),
            Expr::Empty(_) => self.b.ins().icmp_imm(IntCC::Equal, len, 0),
            _ => self.b.ins().icmp_imm(IntCC::NotEqual, len, 0),
        }
    }
}

fn len_repr(layout: &ChanLayout) -> Repr {
    Repr::Unsigned(8 * layout.len_size as u8)
}
