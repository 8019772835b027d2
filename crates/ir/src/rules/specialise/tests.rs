//! Specialised code does what the code it was made from does.

use super::*;
use crate::rules::code::{Binary, Width};
use crate::rules::{End, Machine, Routine};
use crate::source::Span;

const ANY: Reg = Reg(1);

fn place(base: Option<u32>, offset: i64) -> Address {
    Address { base: base.map(Reg), offset }
}

fn binary(to: u32, op: Binary, left: u32, right: u32) -> Instr {
    Instr::Binary { to: Reg(to), op, left: Reg(left), right: Reg(right), failure: 0 }
}

/// Four bytes of state, and a routine that adds one to what its parameter
/// refers to and returns whether that was 1.
fn rules() -> Rules {
    let code = Code {
        n_params: 1,
        n_regs: 5,
        frame: 1,
        instrs: vec![
            Instr::Load { to: Reg(2), at: place(Some(1), 0), width: Width::W1 },
            Instr::Const { to: Reg(3), value: 1 },
            binary(4, Binary::Eq, 2, 3),
            binary(2, Binary::Add, 2, 3),
            Instr::Store { at: place(Some(1), 0), width: Width::W1, from: Reg(2) },
            Instr::Store { at: place(Some(0), 0), width: Width::W1, from: Reg(2) },
            Instr::Return(Some(Reg(4))),
        ],
    };
    let routine = Routine { name: "add".into(), code, span: Span::NONE };
    Rules { size: 4, routines: vec![routine], ..Rules::default() }
}

/// Calls the routine for the first elements of the state; returns how many
/// were 1. With `from` memory tells how many.
fn counting(from: Option<Address>) -> Code {
    let end = match from {
        None => Instr::Const { to: Reg(3), value: 3 },
        Some(at) => Instr::Load { to: Reg(3), at, width: Width::W1 },
    };
    let instrs = vec![
        Instr::Const { to: Reg(2), value: 0 },
        end,
        Instr::Const { to: Reg(4), value: 0 },
        Instr::Const { to: Reg(5), value: 1 },
        // 4: the loop.
        binary(6, Binary::Lt, 2, 3),
        Instr::Unless { condition: Reg(6), label: 13 },
        Instr::Tick(0),
        Instr::Element {
            to: Reg(7),
            array: place(None, 0),
            index: Reg(2),
            low: 0,
            count: 4,
            stride: 1,
            failure: 0,
        },
        Instr::Call { routine: 0, args: vec![Reg(7)], result: Some(Reg(8)) },
        Instr::Unless { condition: Reg(8), label: 11 },
        binary(4, Binary::Add, 4, 5),
        binary(2, Binary::Add, 2, 5),
        Instr::Jump(4),
        // 13: a parameter that may be known.
        binary(4, Binary::Add, 4, ANY.0),
        Instr::Return(Some(Reg(4))),
    ];
    Code { n_params: 1, n_regs: 9, frame: 0, instrs }
}

/// What becomes of a state, and what is returned.
fn run(rules: &Rules, code: &Code, state: [u8; 4]) -> (Vec<u8>, End) {
    let mut machine = Machine::new(rules);
    machine.set_state(&state);
    let end = machine.run(code, &[7]).expect("nothing fails");
    (machine.state().to_vec(), end)
}

fn same(code: &Code, new: &Code) {
    for i in 0..256u32 {
        let state = [0, 2, 4, 6].map(|by| (i >> by & 3) as u8);
        assert_eq!(run(&rules(), new, state), run(&rules(), code, state), "{state:?}");
    }
}

#[test]
fn loops_over_known_ranges_and_calls_are_unrolled() {
    let code = counting(None);
    for argument in [None, Some(7)] {
        let new = specialise(&rules(), &code, &[argument], 1000).expect("it is short");
        same(&code, &new);
        let left = |instr: &Instr| matches!(instr, Instr::Tick(_) | Instr::Call { .. });
        assert!(!new.instrs.iter().any(left), "{:#?}", new.instrs);
        assert!(!new.instrs.iter().any(|i| matches!(i, Instr::Element { .. })));
    }
}

#[test]
fn loops_that_depend_on_the_state_stay_and_count() {
    let at = place(None, 3);
    let instrs = vec![
        Instr::Load { to: Reg(2), at, width: Width::W1 },
        Instr::Unless { condition: Reg(2), label: 7 },
        Instr::Tick(0),
        Instr::Const { to: Reg(3), value: 1 },
        binary(4, Binary::Sub, 2, 3),
        Instr::Store { at, width: Width::W1, from: Reg(4) },
        Instr::Jump(0),
        Instr::Return(None),
    ];
    let code = Code { n_params: 1, n_regs: 5, frame: 0, instrs };
    let new = specialise(&rules(), &code, &[None], 1000).expect("it is short");
    same(&code, &new);
    assert!(new.instrs.iter().any(|i| matches!(i, Instr::Tick(_))));
}

#[test]
fn recursion_stays_a_call() {
    let mut rules = rules();
    let again = Instr::Call { routine: 0, args: vec![Reg(1)], result: None };
    rules.routines[0].code.instrs.insert(6, again);
    let new = specialise(&rules, &counting(None), &[None], 1000).expect("it is short");
    assert!(new.instrs.iter().any(|i| matches!(i, Instr::Call { .. })));
}

#[test]
fn code_that_gets_too_long_is_given_up() {
    assert!(specialise(&rules(), &counting(None), &[None], 20).is_none());
    // The counter is known, but not where it ends.
    let until = counting(Some(place(None, 3)));
    assert!(specialise(&rules(), &until, &[None], 1000).is_none());
}
