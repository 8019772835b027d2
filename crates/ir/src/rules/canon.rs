//! Multisets in one order: slots that are taken first, in the order of their
//! bytes. Rules see the order the state had when they began.

use super::{Rules, Type, TypeIdx};

/// A multiset at a fixed place in all states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Multiset {
    pub offset: usize,
    pub slots: usize,
    pub stride: usize,
}

/// The multisets of a state; those inside of others come first.
pub fn multisets(rules: &Rules) -> Vec<Multiset> {
    let mut found = Vec::new();
    for variable in &rules.variables {
        collect(rules, variable.ty, variable.offset as usize, &mut found);
    }
    found
}

fn collect(rules: &Rules, ty: TypeIdx, at: usize, found: &mut Vec<Multiset>) {
    match rules.ty(ty) {
        Type::Simple(_) => {}
        Type::Record { fields, .. } => {
            for field in fields {
                collect(rules, field.ty, at + field.offset as usize, found);
            }
        }
        Type::Array { element, size, .. } => {
            let stride = rules.size_of(*element) as usize;
            for i in 0..(*size as usize).checked_div(stride).unwrap_or(0) {
                collect(rules, *element, at + i * stride, found);
            }
        }
        Type::Multiset { slots, element, .. } => {
            let (slots, stride) = (*slots as usize, 1 + rules.size_of(*element) as usize);
            for i in 0..slots {
                collect(rules, *element, at + i * stride + 1, found);
            }
            found.push(Multiset { offset: at, slots, stride });
        }
    }
}

/// Brings the slots of each multiset into order.
pub fn sort_multisets(multisets: &[Multiset], state: &mut [u8]) {
    for m in multisets {
        let bytes = &mut state[m.offset..m.offset + m.slots * m.stride];
        // Insertion: there are few slots, and most are in order already.
        for i in 1..m.slots {
            let mut j = i;
            while j > 0 {
                let (before, this) =
                    bytes[(j - 1) * m.stride..(j + 1) * m.stride].split_at_mut(m.stride);
                // Slots that are taken begin with 1, so they are the greater ones;
                // those that are not are all the same.
                if this[0] == 0 || before[0] == 1 && *before >= *this {
                    break;
                }
                before.swap_with_slice(this);
                j -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_slots_come_first_and_in_order() {
        let m = Multiset { offset: 1, slots: 4, stride: 2 };
        let mut state = vec![9, 0, 0, 1, 3, 1, 7, 1, 3, 8];
        sort_multisets(&[m], &mut state);
        assert_eq!(state, [9, 1, 7, 1, 3, 1, 3, 0, 0, 8]);
    }
}
