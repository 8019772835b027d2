//! Random Murphi models in the language of Rumur: small, well-typed, and aimed
//! at the corners of data where two checkers can disagree.
//!
//! Symmetry is never broken: values of scalarsets come from rulesets and other
//! variables, and what is done for all of them does not depend on the order.

use super::place::Var;
use super::routine::Routine;
use super::types::Declared;
use crate::fuzz::item::Item;
use crate::fuzz::random::Random;

pub struct Generator {
    pub rng: Random,
    /// Some things in the model may fail.
    pub risky: bool,
    /// '&' and '|' are those of bits, '&&' and '||' those of conditions. Rumur
    /// 2022.08.20 rejects models where one of bits is on the left of another.
    pub has_bits: bool,
    pub types: Vec<Declared>,
    pub constants: Vec<(String, i64)>,
    pub globals: Vec<Var>,
    /// Parameters, locals and what quantifiers and aliases bind.
    pub scope: Vec<Var>,
    pub routines: Vec<Routine>,
    /// Declarations of the rule or routine that is being made.
    pub locals: Vec<Item>,
    /// Places that the guard says are defined.
    pub known: Vec<String>,
    pub context: Context,
    /// Statements that may still be made.
    pub budget: usize,
    fresh: usize,
}

/// What may stand where something is being made.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Nothing may fail: what happens for one value of a scalarset would
    /// depend on those before it.
    pub safe: bool,
    /// Inside of an operation on bits.
    pub in_bits: bool,
    /// In a loop over a scalarset, the variable that is written.
    pub avoided: Option<String>,
    /// Nothing but locals is written.
    pub pure_only: bool,
    pub returns: Returns,
    /// Statements around.
    pub depth: usize,
}

/// What a `return` looks like.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Returns {
    #[default]
    Nothing,
    Value(super::types::TyIdx),
}

/// The logarithm of the number of states that a model may have.
const MAX_BITS: f64 = 11.0;

/// The model of a seed.
pub fn model(seed: u64) -> Vec<Item> {
    let mut rng = Random::new(seed ^ 0x6D75_7270_6869);
    let mut generator = Generator {
        risky: rng.chance(35),
        has_bits: rng.chance(50),
        rng,
        types: Vec::new(),
        constants: Vec::new(),
        globals: Vec::new(),
        scope: Vec::new(),
        routines: Vec::new(),
        locals: Vec::new(),
        known: Vec::new(),
        context: Context::default(),
        budget: 0,
        fresh: 0,
    };
    generator.program()
}

impl Generator {
    fn program(&mut self) -> Vec<Item> {
        let deadlock = ["off", "stuck", "stuttering"][self.rng.weighted(&[80, 8, 12])];
        let mut items = vec![Item::Line(format!("-- deadlock: {deadlock}"))];
        self.declare_constants(&mut items);
        self.declare_types(&mut items);
        self.declare_globals(&mut items);
        for _ in 0..self.rng.weighted(&[20, 25, 25, 20, 10]) {
            self.routine(&mut items);
        }
        for _ in 0..1 + self.rng.weighted(&[65, 25, 10]) {
            self.start_state(&mut items);
        }
        for _ in 0..2 + self.rng.below(3) {
            self.chosen_value(&mut items);
        }
        for _ in 0..2 + self.rng.below(3) {
            self.rules(&mut items);
        }
        for _ in 0..self.rng.weighted(&[25, 40, 25, 10]) {
            self.property(&mut items);
        }
        items
    }

    pub fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    /// What closes something: `end`, or with its name.
    pub fn end(&mut self, of: &str) -> String {
        let of = if self.rng.chance(20) { of } else { "" };
        format!("end{of}")
    }

    /// Something with statements or rules in it.
    pub fn closed(&mut self, of: &str, open: &str, body: Vec<Item>) -> Item {
        let close = format!("{};", self.end(of));
        Item::block(open, body, &close)
    }

    fn declare_constants(&mut self, items: &mut Vec<Item>) {
        for _ in 0..self.rng.below(3) {
            let name = self.name("C");
            let value = *self.rng.pick(&[0, 1, 2, 3, -1, -2, 7, 256, 70_000]);
            items.push(Item::Line(format!("const {name}: {value};")));
            self.constants.push((name, value));
        }
    }

    fn declare_globals(&mut self, items: &mut Vec<Item>) {
        let mut bits = MAX_BITS;
        for i in 0..2 + self.rng.below(4) {
            let ty = match i {
                0 => self.pick_type(|g, ty| g.n_values(ty).is_none(), bits),
                _ => self.pick_type(|_, _| true, bits),
            };
            bits -= self.bits(ty);
            if bits < 0.0 {
                break;
            }
            let name = self.name("g");
            items.push(Item::Line(format!("var {name}: {};", self.types[ty].text)));
            let solid = !self.holds_sets(ty) && self.rng.chance(65);
            self.globals.push(Var { solid, ..Var::new(&name, ty) });
        }
    }

    /// Runs `make` with another context, and forgets what it has bound.
    pub fn within<T>(&mut self, context: Context, make: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.context, context);
        let n_bound = self.scope.len();
        let made = make(self);
        self.scope.truncate(n_bound);
        self.context = before;
        made
    }
}
