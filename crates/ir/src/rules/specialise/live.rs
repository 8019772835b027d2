//! Which registers still matter, at each place of the code.

use super::super::code::{Code, Instr, Read, Reg};

pub struct Live {
    /// Words of 64 registers, for each instruction and the end.
    words: Vec<u64>,
    n_words: usize,
}

impl Live {
    pub fn of(code: &Code) -> Live {
        let n_words = (code.n_regs as usize).div_ceil(64);
        let words = vec![0; n_words * (code.instrs.len() + 1)];
        let mut live = Live { words, n_words };
        let mut changed = true;
        while changed {
            changed = false;
            for (pc, instr) in code.instrs.iter().enumerate().rev() {
                changed |= live.update(pc, instr);
            }
        }
        live
    }

    /// Finds out what matters before an instruction; returns whether that is more
    /// than before.
    fn update(&mut self, pc: usize, instr: &Instr) -> bool {
        let n = self.n_words;
        let mut words = match instr {
            Instr::Return(_) | Instr::Fail(_) => vec![0; n],
            Instr::Jump(label) => self.row(*label as usize).to_vec(),
            _ => self.row(pc + 1).to_vec(),
        };
        if let Instr::Unless { label, .. } = instr {
            for (word, other) in words.iter_mut().zip(self.row(*label as usize)) {
                *word |= other;
            }
        }
        if let Some(Reg(to)) = instr.target() {
            words[to as usize / 64] &= !(1 << (to % 64));
        }
        instr.clone().for_each_read(&mut |read| {
            let reg = match read {
                Read::Reg(reg) => Some(*reg),
                Read::At(at) => at.base,
            };
            if let Some(Reg(reg)) = reg {
                words[reg as usize / 64] |= 1 << (reg % 64);
            }
        });
        // A call may return nothing, and then leaves its result as it was.
        if let Instr::Call { result: Some(Reg(to)), .. } = instr {
            words[*to as usize / 64] |= 1 << (to % 64);
        }
        let row = &mut self.words[pc * n..(pc + 1) * n];
        let changed = *row != *words;
        row.copy_from_slice(&words);
        changed
    }

    fn row(&self, pc: usize) -> &[u64] {
        &self.words[pc * self.n_words..(pc + 1) * self.n_words]
    }

    /// The registers that matter before an instruction.
    pub fn at(&self, pc: usize) -> impl Iterator<Item = u32> {
        self.row(pc).iter().enumerate().flat_map(|(i, word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| i as u32 * 64 + bit)
        })
    }
}
