//! Places in memory: loads, stores, and what is done with many bytes.

use super::super::context;
use super::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I16, I32, I64, Type};
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value};
use ir::rules::{Address, Width};

/// Bytes that are moved, zeroed or compared without a call.
const INLINE: u32 = 64;

impl Emitter<'_, '_> {
    /// How far an address is from the row.
    pub(super) fn distance(&mut self, at: Address) -> Value {
        match at.base {
            None => self.constant(at.offset),
            Some(base) => {
                let base = self.get(base);
                if at.offset == 0 { base } else { self.b.ins().iadd_imm(base, at.offset) }
            }
        }
    }

    /// A pointer and what is to be added to it.
    pub(super) fn pointer(&mut self, at: Address) -> (Value, i32) {
        let row = self.b.use_var(self.row);
        let offset = i32::try_from(at.offset).expect("states are smaller than that");
        match at.base {
            None => (row, offset),
            Some(base) => {
                let base = self.get(base);
                (self.b.ins().iadd(row, base), offset)
            }
        }
    }

    pub(super) fn whole_pointer(&mut self, at: Address) -> Value {
        let (pointer, offset) = self.pointer(at);
        self.b.ins().iadd_imm(pointer, i64::from(offset))
    }

    pub(super) fn load(&mut self, at: Address, width: Width) -> Value {
        let (pointer, offset) = self.pointer(at);
        let flags = unaligned();
        match width {
            Width::W1 => self.b.ins().uload8(I64, flags, pointer, offset),
            Width::W2 => self.b.ins().uload16(I64, flags, pointer, offset),
            Width::W4 => self.b.ins().uload32(flags, pointer, offset),
            Width::W8 => self.b.ins().load(I64, flags, pointer, offset),
        }
    }

    pub(super) fn store(&mut self, at: Address, width: Width, raw: Value) {
        let (pointer, offset) = self.pointer(at);
        let flags = unaligned();
        match width {
            Width::W1 => self.b.ins().istore8(flags, raw, pointer, offset),
            Width::W2 => self.b.ins().istore16(flags, raw, pointer, offset),
            Width::W4 => self.b.ins().istore32(flags, raw, pointer, offset),
            Width::W8 => self.b.ins().store(flags, raw, pointer, offset),
        };
    }

    /// All is loaded before anything is stored, as places may overlap.
    pub(super) fn move_bytes(&mut self, to: Address, from: Address, len: u32) {
        if len > INLINE {
            let (to, from) = (self.whole_pointer(to), self.whole_pointer(from));
            let len = self.constant(len.into());
            let function = context::move_bytes as *const () as usize;
            self.call_rust(function, &[to, from, len], false);
            return;
        }
        let ((to, to_at), (from, from_at)) = (self.pointer(to), self.pointer(from));
        let loaded: Vec<(i32, Value)> = pieces(len)
            .map(|(at, ty)| (at, self.b.ins().load(ty, unaligned(), from, from_at + at)))
            .collect();
        for (at, value) in loaded {
            self.b.ins().store(unaligned(), value, to, to_at + at);
        }
    }

    pub(super) fn zero_bytes(&mut self, at: Address, len: u32) {
        if len > INLINE {
            let (at, len) = (self.whole_pointer(at), self.constant(len.into()));
            self.call_rust(context::zero_bytes as *const () as usize, &[at, len], false);
            return;
        }
        let (pointer, offset) = self.pointer(at);
        for (at, ty) in pieces(len) {
            let zero = self.b.ins().iconst(ty, 0);
            self.b.ins().store(unaligned(), zero, pointer, offset + at);
        }
    }

    pub(super) fn same_bytes(&mut self, left: Address, right: Address, len: u32) -> Value {
        if len > INLINE {
            let (left, right) = (self.whole_pointer(left), self.whole_pointer(right));
            let len = self.constant(len.into());
            let function = context::same_bytes as *const () as usize;
            return self.call_rust(function, &[left, right, len], true);
        }
        let ((a, a_at), (b, b_at)) = (self.pointer(left), self.pointer(right));
        let mut differs = self.constant(0);
        for (at, ty) in pieces(len) {
            let x = self.b.ins().load(ty, unaligned(), a, a_at + at);
            let y = self.b.ins().load(ty, unaligned(), b, b_at + at);
            let mut bits = self.b.ins().bxor(x, y);
            if ty != I64 {
                bits = self.b.ins().uextend(I64, bits);
            }
            differs = self.b.ins().bor(differs, bits);
        }
        let same = self.b.ins().icmp_imm(IntCC::Equal, differs, 0);
        self.b.ins().uextend(I64, same)
    }
}

/// Flags for places that begin anywhere.
fn unaligned() -> MemFlags {
    MemFlags::new().with_notrap()
}

/// The pieces in which so many bytes are moved.
fn pieces(len: u32) -> impl Iterator<Item = (i32, Type)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (ty, n) = match len - at {
            0 => return None,
            1 => (I8, 1),
            2..=3 => (I16, 2),
            4..=7 => (I32, 4),
            _ => (I64, 8),
        };
        at += n;
        Some(((at - n) as i32, ty))
    })
}
