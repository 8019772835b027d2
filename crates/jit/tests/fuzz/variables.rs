//! Random variables: frames, arrays, channels and the places that name them.

use crate::random::Random;
use ir::scalar::{Kind, Repr, Scalar};
use ir::system::{Cell, ChanIdx, Frame, Init, Space};

/// A variable: a scalar or an array of them.
#[derive(Debug, Clone)]
pub struct Variable {
    pub space: Space,
    pub offset: u32,
    pub count: u32,
    pub ty: Scalar,
    /// For channels: the type it was declared with, if it is.
    pub chan: Option<ChanIdx>,
}

impl Variable {
    pub fn is_chan(&self) -> bool {
        self.ty.kind == Kind::Chan
    }
}

pub fn scalar(r: &mut Random) -> Scalar {
    let kinds = [Kind::Bit, Kind::Bool, Kind::Byte, Kind::Byte, Kind::Pid, Kind::Short, Kind::Int];
    match r.below(kinds.len() + 1) {
        i if i < kinds.len() => Scalar::new(kinds[i].clone()),
        _ => {
            let bits = r.within(1, 31) as u8;
            Scalar { kind: Kind::Unsigned, repr: Repr::Unsigned(bits) }
        }
    }
}

/// Adds `count` cells of a type and returns where they are.
fn add(frame: &mut Frame, space: Space, ty: &Scalar, count: u32, hidden: bool) -> Variable {
    let offset = frame.size;
    for i in 0..count {
        let offset = offset + i * ty.repr.size();
        let name = format!("v{offset}");
        frame.cells.push(Cell { name, ty: ty.clone(), offset, hidden });
    }
    frame.size += count * ty.repr.size();
    Variable { space, offset, count, ty: ty.clone(), chan: None }
}

/// A frame with `n_params` parameters in front; returns its variables.
pub fn frame(
    r: &mut Random,
    space: Space,
    n_chans: usize,
    n_params: usize,
) -> (Frame, Vec<Variable>) {
    let mut frame = Frame::default();
    let mut variables = Vec::new();
    for _ in 0..n_params {
        let ty = if r.chance(60) { Scalar::new(Kind::Chan) } else { scalar(r) };
        variables.push(add(&mut frame, space, &ty, 1, false));
    }
    if space == Space::Global && r.chance(20) {
        let ty = scalar(r);
        variables.push(add(&mut frame, space, &ty, 1, true));
    }
    for _ in 0..r.within(1, 3) {
        let ty = scalar(r);
        let count = if r.chance(25) { 1 << r.within(1, 2) } else { 1 };
        variables.push(add(&mut frame, space, &ty, count, false));
    }
    let wanted = if space == Space::Global { r.within(1, 3) } else { r.below(2) };
    for _ in 0..wanted {
        let ty = Scalar::new(Kind::Chan);
        let count = if r.chance(30) { 1 << r.within(1, 2) } else { 1 };
        let mut variable = add(&mut frame, space, &ty, count, false);
        if n_chans > 0 && r.chance(85) {
            let chan = ChanIdx(r.below(n_chans) as u32);
            variable.chan = Some(chan);
            let offset = variable.offset;
            frame.init.push(Init::Channels { offset, stride: 1, count, chan });
        }
        variables.push(variable);
    }
    (frame, variables)
}
