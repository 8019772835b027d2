//! Variables: where they are, and how values are read and written.

use super::{Base, Emitter};
use crate::diamonds::bytes;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use ir::scalar::Repr;
use ir::system::{Expr, Index, Place, Space};
use std::ops::Range;

/// A distance from the start of a state: a constant, and what is found at run time.
#[derive(Debug, Clone, Copy)]
pub struct Offset {
    pub known: i32,
    pub found: Option<Value>,
}

impl Offset {
    pub fn plus(self, more: usize) -> Offset {
        Offset { known: self.known + more as i32, ..self }
    }
}

impl Emitter<'_, '_> {
    /// Where a place is; gives up if an index is out of range.
    pub(super) fn locate(&mut self, place: &Place) -> Offset {
        let offset = match place.space {
            Space::Global => Offset { known: place.offset as i32, found: None },
            Space::Local => self.in_process(self.facts.layout.locals_at + place.offset as usize),
        };
        self.indexed(offset, &place.indices)
    }

    /// A distance from the start of the process.
    pub(super) fn in_process(&self, offset: usize) -> Offset {
        Offset { known: offset as i32, found: Some(self.at) }
    }

    pub(super) fn indexed(&mut self, mut offset: Offset, indices: &[Index]) -> Offset {
        for index in indices {
            if let Expr::Const(value) = index.expr {
                if (0..index.bound as i64).contains(&(value as i64)) {
                    offset.known += value * index.stride as i32;
                } else {
                    self.give_up();
                }
                continue;
            }
            let value = self.checked_index(index);
            let distance = match index.stride {
                1 => value,
                stride if stride.is_power_of_two() => {
                    self.b.ins().ishl_imm(value, stride.ilog2() as i64)
                }
                stride => self.b.ins().imul_imm(value, stride as i64),
            };
            offset = self.moved(offset, distance);
        }
        offset
    }

    pub(super) fn moved(&mut self, offset: Offset, distance: Value) -> Offset {
        let found = match offset.found {
            Some(found) => self.b.ins().iadd(found, distance),
            None => distance,
        };
        Offset { found: Some(found), ..offset }
    }

    /// The value of an index, 64 bits wide.
    pub(super) fn checked_index(&mut self, index: &Index) -> Value {
        let value = self.eval(&index.expr);
        let outside = IntCC::UnsignedGreaterThanOrEqual;
        let outside = self.b.ins().icmp_imm(outside, value, index.bound as i64);
        self.give_up_if(outside);
        self.b.ins().uextend(I64, value)
    }

    /// The address for an access to `base`, and the constant that goes with it.
    pub(super) fn address(&mut self, base: Value, offset: Offset) -> (Value, i32) {
        match offset.found {
            Some(found) => (self.b.ins().iadd(base, found), offset.known),
            None => (base, offset.known),
        }
    }

    /// The value of a place.
    pub(super) fn load_place(&mut self, place: &Place) -> Value {
        let offset = self.locate(place);
        let base = if self.may_be_written(place) { self.base } else { Base::State };
        self.load_from(base, place.ty.repr, offset)
    }

    /// Whether the action may have written to a place since the state was copied.
    fn may_be_written(&self, place: &Place) -> bool {
        let read = bytes(place);
        let meets = |range: &Range<usize>| range.start < read.end && read.start < range.end;
        self.written.iter().any(|(space, range)| *space == place.space && meets(range))
    }

    /// Stores to a place.
    pub(super) fn store_place(&mut self, place: &Place, offset: Offset, value: Value) {
        self.store(place.ty.repr, offset, value);
        self.will_write(place);
    }

    /// What is read of a place from now on may be written by then.
    pub(super) fn will_write(&mut self, place: &Place) {
        self.written.push((place.space, bytes(place)));
    }

    pub(super) fn load(&mut self, repr: Repr, offset: Offset) -> Value {
        self.load_from(self.base, repr, offset)
    }

    fn load_from(&mut self, base: Base, repr: Repr, offset: Offset) -> Value {
        let (flags, start) = (self.read_flags(base), self.start(base));
        let (base, at) = self.address(start, offset);
        match (repr, repr.size()) {
            (_, 1) => self.b.ins().uload8(I32, flags, base, at),
            (Repr::I16, _) => self.b.ins().sload16(I32, flags, base, at),
            (_, 2) => self.b.ins().uload16(I32, flags, base, at),
            _ => self.b.ins().load(I32, flags, base, at),
        }
    }

    /// Stores to `out`, and keeps the bits that the type has.
    pub(super) fn store(&mut self, repr: Repr, offset: Offset, value: Value) {
        debug_assert_eq!(self.base, Base::Out, "the state is copied before it is changed");
        let flags = self.write_flags();
        let value = match repr {
            Repr::Unsigned(n) if n != 8 && n != 16 => {
                self.b.ins().band_imm(value, ((1u32 << n) - 1) as i64)
            }
            _ => value,
        };
        let (base, at) = self.address(self.out, offset);
        match repr.size() {
            1 => self.b.ins().istore8(flags, value, base, at),
            2 => self.b.ins().istore16(flags, value, base, at),
            _ => self.b.ins().store(flags, value, base, at),
        };
    }
}
