//! Native code that packs states: what `Packing` does, without loops.

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlags, Signature, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use ir::rules::{Packing, Piece};

/// Packings of more pieces are left to loops.
const MANY_PIECES: usize = 256;

/// Packs or unpacks a state: from where, to where. Both but a packed state that
/// is read go on for at least seven bytes.
pub type MoveFn = unsafe extern "C" fn(*const u8, *mut u8);

/// A packing, and native code for it.
#[derive(Clone)]
pub struct Packer {
    pub packing: Packing,
    moves: Option<Moves>,
}

#[derive(Clone, Copy)]
struct Moves {
    pack: MoveFn,
    unpack: MoveFn,
}

impl Packer {
    /// The code, if there is any, is that of `emit`.
    pub fn new(packing: Packing, pack: Option<MoveFn>, unpack: Option<MoveFn>) -> Packer {
        let moves = pack.zip(unpack).map(|(pack, unpack)| Moves { pack, unpack });
        Packer { packing, moves }
    }

    #[inline(always)]
    pub fn pack(&self, state: &[u8], to: &mut [u8]) {
        match self.moves {
            // SAFETY: the code reads and writes whole words, which both slices have.
            Some(moves) => unsafe { (moves.pack)(state.as_ptr(), to.as_mut_ptr()) },
            None => self.packing.pack(state, to),
        }
    }

    #[inline(always)]
    pub fn unpack(&self, packed: &[u8], to: &mut [u8]) {
        assert_eq!(packed.len(), self.packing.packed_size, "a state of another model");
        match self.moves {
            // SAFETY: as above; of the packed state no more is read than it has.
            Some(moves) => unsafe { (moves.unpack)(packed.as_ptr(), to.as_mut_ptr()) },
            None => self.packing.unpack(packed, to),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Pack,
    Unpack,
}

/// Whether it is worth the while to make code.
pub fn worthwhile(packing: &Packing) -> bool {
    packing.by_packed.len() <= MANY_PIECES
}

pub fn signature(convention: CallConv) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend([AbiParam::new(I64), AbiParam::new(I64)]);
    signature
}

pub fn emit(mut b: FunctionBuilder, packing: &Packing, direction: Direction) {
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    let (from, to) = (b.block_params(block)[0], b.block_params(block)[1]);
    let (pieces, target): (_, fn(&Piece) -> u32) = match direction {
        Direction::Pack => (&packing.by_packed, |piece| piece.packed.into()),
        Direction::Unpack => (&packing.by_state, |piece| piece.state),
    };
    for same in pieces.chunk_by(|a, b| target(a) == target(b)) {
        let mut sum: Option<Value> = None;
        for piece in same {
            let moved = match direction {
                Direction::Pack => packed_bits(&mut b, from, piece),
                Direction::Unpack => state_bits(&mut b, from, piece, packing.packed_size),
            };
            sum = Some(sum.map_or(moved, |sum| b.ins().bor(sum, moved)));
        }
        if let (Some(sum), Some(first)) = (sum, same.first()) {
            b.ins().store(MemFlags::new().with_notrap(), sum, to, target(first) as i32 * 8);
        }
    }
    b.ins().return_(&[]);
    b.seal_all_blocks();
    b.finalize();
}

fn packed_bits(b: &mut FunctionBuilder, from: Value, piece: &Piece) -> Value {
    let word = b.ins().load(I64, MemFlags::new().with_notrap(), from, piece.state as i32 * 8);
    let bits = b.ins().band_imm(word, piece.bits as i64);
    b.ins().rotl_imm(bits, i64::from(piece.turn))
}

fn state_bits(b: &mut FunctionBuilder, from: Value, piece: &Piece, packed_size: usize) -> Value {
    let flags = MemFlags::new().with_notrap();
    let at = i32::from(piece.packed) * 8;
    let word = if at as usize + 8 <= packed_size {
        b.ins().load(I64, flags, from, at)
    } else {
        let half = b.ins().load(I32, flags, from, at);
        b.ins().uextend(I64, half)
    };
    let turned = b.ins().rotr_imm(word, i64::from(piece.turn));
    b.ins().band_imm(turned, piece.bits as i64)
}
