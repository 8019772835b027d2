//! Expressions.

use super::generate::{Context, Generator};
use super::place::{Place, Use, Var};
use super::types::{BOOL, TyIdx, Type};

impl Generator {
    /// A value of a simple type, mostly in range. There is none of a scalarset
    /// if none can be named.
    pub fn value(&mut self, ty: TyIdx, depth: usize) -> Option<String> {
        if depth > 0 && self.rng.chance(12) {
            let (condition, a, b) =
                (self.condition(depth - 1), self.value(ty, depth - 1)?, self.value(ty, depth - 1)?);
            return Some(format!("({condition} ? {a} : {b})"));
        }
        if depth > 0
            && self.rng.chance(12)
            && let Some(call) = self.pure_call(|_, result| result == ty)
        {
            return Some(call);
        }
        match *self.ty(ty) {
            Type::Bool => Some(self.condition(depth)),
            Type::Range { low, high } => self.number_in(ty, low, high, depth),
            _ => {
                let place = self.rng.chance(60).then(|| self.place(Use::Read, |_, t| t == ty));
                let read = place.flatten().and_then(|place| self.read(&place));
                read.or_else(|| self.literal(ty))
            }
        }
    }

    fn number_in(&mut self, ty: TyIdx, low: i64, high: i64, depth: usize) -> Option<String> {
        let shown = |n: i64| if n < 0 { format!("({n})") } else { n.to_string() };
        let (least, most) = (shown(low), shown(high));
        match self.rng.weighted(&[20, 20, 30, 15, 12, 2]) {
            1 => {
                let inside = |g: &Self, t| match g.ty(t) {
                    Type::Range { low: l, high: h } => low <= *l && *h <= high,
                    _ => false,
                };
                let place = self.place(Use::Read, inside);
                place.and_then(|place| self.read(&place)).or_else(|| self.literal(ty))
            }
            2 => {
                // The next value, or the first one again.
                let place = self.place(Use::Read, |_, t| t == ty);
                let Some(from) = place.and_then(|place| self.read(&place)) else {
                    return self.literal(ty);
                };
                let step = ((high - low) / 3).max(1);
                Some(format!("({from} > {} ? {least} : {from} + {step})", shown(high - step)))
            }
            3 if high > low && depth > 0 => {
                let n = if high - low >= 3 { 4 } else { 2 };
                let number = self.below(n, depth - 1);
                Some(format!("({least} + {number})"))
            }
            4 if high - low <= 4 && depth > 0 => {
                let n = self.number(depth - 1);
                Some(format!("({n} < {least} ? {least} : ({n} > {most} ? {most} : {n}))"))
            }
            5 if self.may_fail(100) => Some(self.number(depth)),
            _ => self.literal(ty),
        }
    }

    /// A number from 0 to `n - 1`; `n` is a power of two.
    fn below(&mut self, n: i64, depth: usize) -> String {
        if self.has_bits && !self.context.in_bits {
            let number = self.bits_operand(depth);
            return format!("(({number}) & {})", n - 1);
        }
        let number = self.number(depth);
        format!("(({number}) % {n} < 0 ? 0 : ({number}) % {n})")
    }

    fn bits_operand(&mut self, depth: usize) -> String {
        let context = Context { in_bits: true, ..self.context.clone() };
        self.within(context, |g| g.number(depth))
    }

    /// `&` and `|` of conditions.
    pub fn connective(&self, operator: &'static str) -> &'static str {
        match (operator, self.has_bits) {
            ("&", true) => "&&",
            ("|", true) => "||",
            _ => operator,
        }
    }

    /// Some number.
    pub fn number(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.chance(35) {
            return self.number_atom();
        }
        let a = self.number(depth - 1);
        let small = self.rng.pick(&["2", "3", "(-2)", "7", "1"]).to_string();
        match self.rng.below(16) {
            0 => format!("({a} / {small})"),
            1 => format!("({a} % {small})"),
            2 if self.may_fail(50) => {
                let (operator, b) = (*self.rng.pick(&["/", "%"]), self.number(depth - 1));
                format!("({a} {operator} ({b}))")
            }
            3 => format!("({a} * {small})"),
            4 => {
                let operator = *self.rng.pick(&["<<", ">>"]);
                let by = *self.rng.pick(&["0", "1", "2", "3", "(-1)", "9"]);
                format!("(({a}) {operator} {by})")
            }
            5 => format!("(-({a}))"),
            6 => format!("(~({a}))"),
            7 => {
                let (condition, b) = (self.condition(depth - 1), self.number(depth - 1));
                format!("({condition} ? {a} : {b})")
            }
            8 => {
                let call = self.pure_call(|g, result| g.is_range(result));
                call.unwrap_or(a)
            }
            n @ (9 | 10) if self.has_bits && !self.context.in_bits => {
                let (a, b) = (self.bits_operand(depth - 1), self.bits_operand(depth - 1));
                format!("(({a}) {} ({b}))", ["&", "|"][n - 9])
            }
            11 => {
                let b = self.number(depth - 1);
                format!("(({a}) ^ ({b}))")
            }
            n => {
                let b = self.number(depth - 1);
                let operator = ["+", "-", "+", "-"][n % 4];
                // What binds tighter is the parser's business.
                if self.rng.chance(25) {
                    format!("{a} {operator} {b}")
                } else {
                    format!("({a} {operator} {b})")
                }
            }
        }
    }

    fn number_atom(&mut self) -> String {
        let place = match self.rng.chance(65) {
            true => self.place(Use::Read, |g, ty| g.is_range(ty)),
            false => None,
        };
        if let Some(text) = place.and_then(|place| self.read(&place)) {
            return text;
        }
        if !self.constants.is_empty() && self.rng.chance(25) {
            return self.rng.pick(&self.constants).0.clone();
        }
        let numbers = ["0", "1", "2", "3", "(-1)", "255", "300", "65536"];
        numbers[self.rng.weighted(&[25, 25, 20, 10, 10, 3, 3, 4])].into()
    }

    /// Some condition.
    pub fn condition(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.chance(30) {
            return self.condition_atom(depth);
        }
        let a = self.condition(depth - 1);
        match self.rng.below(14) {
            0 => format!("!({a})"),
            1 => {
                let b = self.condition(depth - 1);
                let operator = *self.rng.pick(&["=", "!="]);
                format!("(({a}) {operator} ({b}))")
            }
            2 => {
                let (b, c) = (self.condition(depth - 1), self.condition(depth - 1));
                format!("({a} ? {b} : {c})")
            }
            3 | 4 => self.quantified(depth),
            5 => self.pure_call(|_, result| result == BOOL).unwrap_or(a),
            n => {
                let b = self.condition(depth - 1);
                let operator = self.connective(["&", "|", "->"][n % 3]);
                // Without parentheses '->' does not follow another one.
                if operator != "->" && self.rng.chance(25) {
                    format!("{a} {operator} {b}")
                } else {
                    format!("({a} {operator} {b})")
                }
            }
        }
    }

    fn condition_atom(&mut self, depth: usize) -> String {
        let found = match self.rng.below(13) {
            0 | 1 => {
                let place = self.place(Use::Read, |_, ty| ty == BOOL);
                place.and_then(|place| self.read(&place))
            }
            2 => {
                let place = self.place(Use::Read, |g, ty| g.is_simple(ty));
                place.filter(|p| !p.var.bound).map(|place| format!("isundefined({})", place.text))
            }
            3 | 4 => self.equality(depth, |g, ty| matches!(g.ty(ty), Type::Enum(_))),
            5..=7 => self.equality(depth, |g, ty| g.is_scalarset(ty)),
            8 => self.same_parts(),
            9 | 10 => self.compared(),
            _ => None,
        };
        found.unwrap_or_else(|| {
            let (a, b) = (self.number(depth.min(1)), self.number_atom());
            let operator = *self.rng.pick(&["=", "!=", "<", "<=", ">", ">="]);
            format!("({a}) {operator} {b}")
        })
    }

    /// A number that is a variable, and a value of its type.
    fn compared(&mut self) -> Option<String> {
        let place = self.place(Use::Read, |g, ty| g.is_range(ty))?;
        let (a, b) = (self.read(&place)?, self.literal(place.ty)?);
        Some(format!("{a} {} {b}", self.rng.pick(&["=", "!=", "<", ">="])))
    }

    fn equality(&mut self, depth: usize, want: impl Fn(&Self, TyIdx) -> bool) -> Option<String> {
        let place = self.place(Use::Read, want)?;
        let other = self.value(place.ty, depth.min(1))?;
        let operator = *self.rng.pick(&["=", "!="]);
        if place.var.solid {
            return Some(format!("{} {operator} {other}", place.text));
        }
        let and = self.connective("&");
        Some(format!("(!isundefined({0}) {and} {0} {operator} {other})", place.text))
    }

    /// Whether two records or arrays are the same.
    fn same_parts(&mut self) -> Option<String> {
        let a = self.place(Use::Read, |g, ty| !g.is_simple(ty))?;
        let b = self.place(Use::Read, |_, ty| ty == a.ty)?;
        Some(format!("{} {} {}", a.text, self.rng.pick(&["=", "!="]), b.text))
    }

    fn quantified(&mut self, depth: usize) -> String {
        let name = self.name("q");
        let (domain, ty) = self.domain(&name);
        let keyword = *self.rng.pick(&["forall", "exists"]);
        let safe = self.context.safe || self.is_scalarset(ty);
        let body = self.within(Context { safe, ..self.context.clone() }, |g| {
            g.scope.push(Var::bound(&name, ty));
            g.condition(depth - 1)
        });
        format!("({keyword} {domain} do {body} {})", self.end(keyword))
    }

    /// What a ruleset goes through, and the type of its parameter. Rumur
    /// 2022.08.20 knows no steps there.
    pub fn values(&mut self, name: &str) -> (String, TyIdx) {
        let ty = self.pick_type(|g, ty| g.n_values(ty).is_some_and(|n| n <= 5), 3.0);
        (format!("{name} : {}", self.types[ty].text), ty)
    }

    /// What a quantifier goes through, and the type of its variable.
    pub fn domain(&mut self, name: &str) -> (String, TyIdx) {
        if self.rng.chance(20) {
            let low = self.rng.below(3) as i64 - 1;
            let high = low + self.rng.below(4) as i64;
            let ty = self.numbers(low, high);
            return (
                match self.rng.below(4) {
                    0 => format!("{name} := {high} to {low} by -1"),
                    1 => format!("{name} := {low} to {high} by 2"),
                    2 => format!("{name} : {low}..{high}"),
                    _ => format!("{name} := {low} to {high}"),
                },
                ty,
            );
        }
        self.values(name)
    }

    /// A call of a function that changes nothing.
    fn pure_call(&mut self, want: impl Fn(&Self, TyIdx) -> bool) -> Option<String> {
        if self.context.safe {
            return None;
        }
        let fits = |this: &Self, ty| this.is_simple(ty) && want(this, ty);
        let routine =
            self.pick_routine(|this, r| r.is_pure && r.result.is_some_and(|ty| fits(this, ty)))?;
        self.call_of(routine)
    }

    /// A condition that holds if it does not fail.
    pub fn truism(&mut self, depth: usize) -> String {
        let (a, b) = (self.condition(depth), self.condition_atom(depth));
        format!("(({a}) -> ({b} {} ({a})))", self.connective("|"))
    }

    /// A part of a variable that is as it is until the rule ends.
    pub fn stable_place(&mut self, want: impl Fn(&Self, TyIdx) -> bool) -> Option<Place> {
        let context = Context { safe: true, ..self.context.clone() };
        let place = self.within(context, |g| g.place(Use::Read, want))?;
        (place.stable && !place.var.bound).then_some(place)
    }
}
