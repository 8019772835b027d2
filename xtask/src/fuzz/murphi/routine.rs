//! Functions, procedures and calls of them.

use super::generate::{Context, Generator, Returns};
use super::place::{Use, Var};
use super::types::TyIdx;
use crate::fuzz::item::Item;

#[derive(Debug, Clone)]
pub struct Routine {
    name: String,
    params: Vec<Param>,
    /// `None` for a procedure.
    pub result: Option<TyIdx>,
    /// It changes nothing, so that it may be called in conditions.
    pub is_pure: bool,
}

#[derive(Debug, Clone)]
struct Param {
    name: String,
    ty: TyIdx,
    by_reference: bool,
    /// What is passed is never undefined.
    solid: bool,
}

impl Generator {
    pub fn routine(&mut self, items: &mut Vec<Item>) {
        let is_pure = self.rng.chance(50);
        let result = match is_pure || self.rng.chance(40) {
            true => Some(self.pick_type(|_, _| true, 8.0)),
            false => None,
        };
        let params: Vec<Param> = (0..self.rng.below(4)).map(|_| self.param(!is_pure)).collect();
        let name = self.name(if result.is_some() { "fun" } else { "proc" });
        let open = self.heading(&name, &params, result);
        let returns = result.map_or(Returns::Nothing, Returns::Value);
        let context = Context { pure_only: is_pure, returns, ..Context::default() };
        let body = self.within(context, |g| {
            for param in &params {
                g.scope.push(Var {
                    writable: param.by_reference,
                    solid: param.solid,
                    shared: param.by_reference,
                    ..Var::new(&param.name, param.ty)
                });
            }
            g.budget = 1 + g.rng.below(4);
            let mut body = g.body();
            if let Some(ty) = result {
                body.push(g.return_of(ty));
            }
            body
        });
        let body = [std::mem::take(&mut self.locals), vec![Item::Line("begin".into())], body];
        let of = if result.is_some() { "function" } else { "procedure" };
        items.push(self.closed(of, &open, body.concat()));
        self.routines.push(Routine { name, params, result, is_pure });
    }

    fn param(&mut self, references: bool) -> Param {
        let by_reference = references && self.rng.chance(45);
        let ty = self.pick_type(|_, _| true, 8.0);
        let solid = !by_reference && self.is_simple(ty) && self.rng.chance(70);
        Param { name: self.name("p"), ty, by_reference, solid }
    }

    fn heading(&self, name: &str, params: &[Param], result: Option<TyIdx>) -> String {
        let list: Vec<String> = params
            .iter()
            .map(|p| {
                let var = if p.by_reference { "var " } else { "" };
                format!("{var}{}: {}", p.name, self.types[p.ty].text)
            })
            .collect();
        let list = list.join("; ");
        match result {
            Some(ty) => format!("function {name}({list}): {};", self.types[ty].text),
            None => format!("procedure {name}({list});"),
        }
    }

    /// `return value;`
    pub fn return_of(&mut self, ty: TyIdx) -> Item {
        if self.is_simple(ty)
            && let Some(value) = self.value(ty, 2)
        {
            return Item::Line(format!("return {value};"));
        }
        let place = self.place(Use::Read, |_, t| t == ty).map(|place| place.text);
        let text = place.unwrap_or_else(|| {
            // Of a scalarset, or with parts: what a local variable has.
            let name = self.name("l");
            self.locals.push(Item::Line(format!("var {name}: {};", self.types[ty].text)));
            name
        });
        Item::Line(format!("return {text};"))
    }

    /// A call, if there are arguments for it.
    pub fn call_of(&mut self, routine: usize) -> Option<String> {
        let Routine { name, params, .. } = self.routines[routine].clone();
        let mut args = Vec::new();
        for param in &params {
            args.push(self.argument(param)?);
        }
        Some(format!("{name}({})", args.join(", ")))
    }

    fn argument(&mut self, param: &Param) -> Option<String> {
        let ty = param.ty;
        if param.by_reference {
            return Some(self.place(Use::Write, |_, t| t == ty)?.text);
        }
        if self.is_simple(ty) && (param.solid || self.rng.chance(40)) {
            return self.value(ty, 1);
        }
        Some(self.place(Use::Read, |_, t| t == ty)?.text)
    }

    /// One of the routines that fit.
    pub fn pick_routine(&mut self, fits: impl Fn(&Self, &Routine) -> bool) -> Option<usize> {
        let all = 0..self.routines.len();
        let fitting: Vec<usize> = all.filter(|i| fits(self, &self.routines[*i])).collect();
        (!fitting.is_empty()).then(|| *self.rng.pick(&fitting))
    }

    /// A call as a statement: of a procedure, or of a function whose result is
    /// assigned.
    pub fn call_statement(&mut self) -> Option<Item> {
        let pure_only = self.context.pure_only;
        let routine = self.pick_routine(|_, r| !pure_only && !r.is_pure)?;
        let call = self.call_of(routine)?;
        let Some(ty) = self.routines[routine].result.filter(|_| self.rng.chance(85)) else {
            return Some(Item::Line(format!("{call};")));
        };
        // A target that the call cannot move: what is evaluated first does not
        // matter then. Results with parts may have undefined ones.
        let usage = if self.is_simple(ty) { Use::Write } else { Use::Undefine };
        let target = self.place(usage, |_, t| t == ty).filter(|place| place.stable)?;
        Some(Item::Line(format!("{} := {call};", target.text)))
    }

    /// `target := f(...)` of a function that changes nothing and returns parts.
    pub fn assigned_parts(&mut self) -> Option<Item> {
        let routine = self
            .pick_routine(|this, r| r.is_pure && r.result.is_some_and(|ty| !this.is_simple(ty)))?;
        let call = self.call_of(routine)?;
        let ty = self.routines[routine].result?;
        let target = self.place(Use::Undefine, |_, t| t == ty)?;
        Some(Item::Line(format!("{} := {call};", target.text)))
    }
}
