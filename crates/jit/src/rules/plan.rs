//! What code is made of: rules and properties as they are, or specialised for
//! what is known of them in advance.

use super::emit::Piece;
use ir::rules::{Code, Rule, Rules, specialise};
use std::borrow::Cow;

/// Rules with more instances are loops.
const MAX_UNROLLED: u64 = 32;
/// Instructions that specialised code may have: of one rule or property, and of
/// all together. Making code takes some microseconds for each.
const MAX_OF_ONE: usize = 1 << 11;
const MAX_OF_ALL: usize = 1 << 14;

/// The code of a rule.
pub enum Plan<'r> {
    /// For each instance.
    Unrolled(Vec<Code>),
    /// For all, in a loop over the parameters.
    Looped(Cow<'r, Code>),
}

impl Plan<'_> {
    pub fn codes(&self) -> &[Code] {
        match self {
            Plan::Unrolled(codes) => codes,
            Plan::Looped(code) => std::slice::from_ref(code),
        }
    }
}

/// What a function is to be made of.
pub enum Part<'r> {
    /// With its number.
    Rule(usize, &'r Rule),
    Routine(&'r Code),
    Property(&'r Code),
}

/// Plans one piece after the other, as long as specialised code does not get
/// too long.
pub struct Planner<'r> {
    rules: &'r Rules,
    left: usize,
}

impl<'r> Planner<'r> {
    pub fn new(rules: &'r Rules) -> Planner<'r> {
        Planner { rules, left: MAX_OF_ALL }
    }

    /// Routines stay as they are: code that calls them is specialised.
    pub fn piece(&mut self, part: Part<'r>) -> Piece<'r> {
        match part {
            Part::Rule(number, rule) => Piece::Rule(number, rule, self.rule(rule)),
            Part::Routine(code) => Piece::Routine(Cow::Borrowed(code)),
            Part::Property(code) => Piece::Routine(self.code(code)),
        }
    }

    fn rule(&mut self, rule: &'r Rule) -> Plan<'r> {
        match self.unrolled(rule) {
            Some(codes) => Plan::Unrolled(codes),
            None => Plan::Looped(self.code(&rule.code)),
        }
    }

    fn unrolled(&mut self, rule: &Rule) -> Option<Vec<Code>> {
        let n_instances = rule.n_instances();
        if n_instances > MAX_UNROLLED {
            return None;
        }
        let mut limit = MAX_OF_ONE.min(self.left);
        let mut codes = Vec::new();
        for instance in 0..n_instances {
            let arguments: Vec<_> = rule.arguments(instance).into_iter().map(Some).collect();
            let code = specialise(self.rules, &rule.code, &arguments, limit)?;
            limit = limit.checked_sub(code.instrs.len())?;
            codes.push(code);
        }
        self.take(&codes);
        Some(codes)
    }

    /// Code whose arguments are not known.
    fn code(&mut self, code: &'r Code) -> Cow<'r, Code> {
        let arguments = vec![None; code.n_params as usize];
        let limit = MAX_OF_ONE.min(self.left);
        match specialise(self.rules, code, &arguments, limit) {
            Some(code) => {
                self.take(std::slice::from_ref(&code));
                Cow::Owned(code)
            }
            None => Cow::Borrowed(code),
        }
    }

    fn take(&mut self, codes: &[Code]) {
        let n_instrs: usize = codes.iter().map(|code| code.instrs.len()).sum();
        self.left = self.left.saturating_sub(n_instrs);
    }
}
