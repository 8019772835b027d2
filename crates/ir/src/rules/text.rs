//! The text form of rules, for `--emit ir`.

use super::code::{Address, Code, Instr, Reg};
use super::{Rule, Rules, Type};
use std::fmt;

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.base {
            Some(base) => write!(f, "[{base}+{}]", self.offset),
            None => write!(f, "[{}]", self.offset),
        }
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "rules \"{}\" {} {{", self.name, self.language)?;
        writeln!(f, "  state {} bytes", self.size)?;
        writeln!(f, "  deadlock {}, symmetry {}", self.deadlock.name(), self.symmetry.name())?;
        for variable in &self.variables {
            write!(f, "  [{}] {} : ", variable.offset, variable.name)?;
            match self.ty(variable.ty) {
                Type::Simple(s) => writeln!(f, "{} values from {}", s.count, s.low)?,
                _ => writeln!(f, "{} bytes", self.size_of(variable.ty))?,
            }
        }
        for (i, routine) in self.routines.iter().enumerate() {
            self.code(f, &format!("routine {i} '{}'", routine.name), &routine.code)?;
        }
        for (what, rules) in [("start", &self.starts), ("rule", &self.rules)] {
            for rule in rules {
                self.code(f, &format!("{what} {}", heading(rule)), &rule.code)?;
            }
        }
        for (what, properties) in [("assume", &self.assumptions), ("invariant", &self.invariants)] {
            for property in properties {
                self.code(f, &format!("{what} {}", property.name), &property.code)?;
            }
        }
        for cover in &self.covers {
            match &cover.code {
                Some(code) => self.code(f, &format!("cover {}", cover.name), code)?,
                None => writeln!(f, "  cover {}", cover.name)?,
            }
        }
        writeln!(f, "}}")
    }
}

fn heading(rule: &Rule) -> String {
    let params: Vec<String> = rule
        .params
        .iter()
        .map(|p| format!("{} = {} by {} ({})", p.name, p.low, p.step, p.count))
        .collect();
    format!("{} [{}]", rule.name, params.join(", "))
}

impl Rules {
    fn code(&self, f: &mut fmt::Formatter, heading: &str, code: &Code) -> fmt::Result {
        writeln!(f, "  {heading}: {} registers, {} bytes {{", code.n_regs, code.frame)?;
        for (i, instr) in code.instrs.iter().enumerate() {
            writeln!(f, "    {i}: {}", self.instr(instr))?;
        }
        writeln!(f, "  }}")
    }

    fn instr(&self, instr: &Instr) -> String {
        match instr {
            Instr::Const { to, value } => format!("{to} = {value}"),
            Instr::Copy { to, from } => format!("{to} = {from}"),
            Instr::Unary { to, op, of } => format!("{to} = {op:?} {of}"),
            Instr::Binary { to, op, left, right, .. } => format!("{to} = {left} {op:?} {right}"),
            Instr::Read { to, at, low, .. } => format!("{to} = read {at} from {low}"),
            Instr::Write { at, low, count, from, .. } => {
                format!("write {at} = {from}, {count} from {low}")
            }
            Instr::Load { to, at, .. } => format!("{to} = load {at}"),
            Instr::Store { at, from, .. } => format!("store {at} = {from}"),
            Instr::Bound { value, low, count, .. } => format!("bound {value}, {count} from {low}"),
            Instr::Element { to, array, index, low, count, stride, .. } => {
                format!("{to} = element {index} of {array}, {count} from {low} by {stride}")
            }
            Instr::Place { to, at } => format!("{to} = place {at}"),
            Instr::Move { to, from, len } => format!("move {to} = {from}, {len} bytes"),
            Instr::Zero { at, len } => format!("zero {at}, {len} bytes"),
            Instr::Same { to, left, right, len } => {
                format!("{to} = same {left} {right}, {len} bytes")
            }
            Instr::Jump(label) => format!("jump {label}"),
            Instr::Unless { condition, label } => format!("unless {condition} jump {label}"),
            Instr::Guard(condition) => format!("guard {condition}"),
            Instr::Assume(condition) => format!("assume {condition}"),
            Instr::Cover(cover) => format!("cover {cover}"),
            Instr::Call { routine, args, result } => {
                let args: Vec<String> = args.iter().map(Reg::to_string).collect();
                let result = result.map_or(String::new(), |r| format!("{r} = "));
                format!("{result}call {routine}({})", args.join(", "))
            }
            Instr::Return(Some(value)) => format!("return {value}"),
            Instr::Return(None) => "return".into(),
            Instr::Fail(failure) => {
                let failure = &self.failures[*failure as usize];
                format!("fail {}: {}", failure.kind, failure.message)
            }
            Instr::Tick(_) => "tick".into(),
            Instr::Put(put) => format!("{put:?}"),
        }
    }
}
