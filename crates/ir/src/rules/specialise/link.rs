//! Blocks, one behind the other.

use super::super::code::{Instr, Reg};
use std::collections::HashMap;

/// Makes code of blocks that begin with the first; their labels are numbers of
/// blocks. Registers get their constants before all. Each block ends with an
/// instruction that does not go on.
pub fn link(blocks: Vec<Vec<Instr>>, constants: HashMap<i64, Reg>) -> Vec<Instr> {
    let counts = !is_acyclic(&blocks);
    let mut constants: Vec<(i64, Reg)> = constants.into_iter().collect();
    constants.sort_unstable_by_key(|(_, reg)| *reg);
    let constants = constants.into_iter().map(|(value, to)| Instr::Const { to, value });
    let mut instrs: Vec<Instr> = constants.collect();
    let mut starts = Vec::new();
    for block in blocks {
        starts.push(instrs.len() as u32);
        // Code without a loop comes to an end.
        instrs.extend(block.into_iter().filter(|i| counts || !matches!(i, Instr::Tick(_))));
    }
    for instr in &mut instrs {
        if let Instr::Jump(label) | Instr::Unless { label, .. } = instr {
            *label = starts[*label as usize];
        }
    }
    instrs
}

/// Whether no way leads from a block back to it.
fn is_acyclic(blocks: &[Vec<Instr>]) -> bool {
    let next: Vec<Vec<u32>> = blocks
        .iter()
        .map(|block| {
            let labels = block.iter().filter_map(|instr| match instr {
                Instr::Jump(label) | Instr::Unless { label, .. } => Some(*label),
                _ => None,
            });
            labels.collect()
        })
        .collect();
    let mut n_before = vec![0; blocks.len()];
    next.iter().flatten().for_each(|to| n_before[*to as usize] += 1);
    let mut free: Vec<usize> = (0..blocks.len()).filter(|i| n_before[*i] == 0).collect();
    let mut n_done = 0;
    while let Some(block) = free.pop() {
        n_done += 1;
        for to in &next[block] {
            n_before[*to as usize] -= 1;
            if n_before[*to as usize] == 0 {
                free.push(*to as usize);
            }
        }
    }
    n_done == blocks.len()
}
