//! Statements.

use super::generate::{Context, Generator, Returns};
use super::place::{Place, Use, Var};
use super::types::{TyIdx, Type};
use crate::fuzz::item::Item;

/// Statements are nested so deeply at most.
const MAX_DEPTH: usize = 3;

impl Generator {
    /// The statements of a rule or routine: first those that define locals.
    pub fn body(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        for _ in 0..self.rng.weighted(&[55, 30, 15]) {
            self.local(&mut items);
        }
        while self.budget > 0 {
            items.extend(self.statement());
        }
        items
    }

    fn local(&mut self, items: &mut Vec<Item>) {
        let (name, ty) = (self.name("l"), self.pick_type(|_, _| true, 8.0));
        self.locals.push(Item::Line(format!("var {name}: {};", self.types[ty].text)));
        let solid = !self.holds_sets(ty) && self.rng.chance(75);
        if solid {
            self.define(&name, ty, items);
        }
        self.scope.push(Var { solid, local: true, ..Var::new(&name, ty) });
    }

    /// Gives all parts of a place a value, but those of scalarsets of which
    /// none can be named.
    pub fn define(&mut self, place: &str, ty: TyIdx, items: &mut Vec<Item>) {
        if !self.holds_sets(ty) && self.rng.chance(20) {
            return items.push(Item::Line(format!("clear {place};")));
        }
        match self.ty(ty).clone() {
            Type::Record(fields) => {
                for (field, ty) in fields {
                    self.define(&format!("{place}.{field}"), ty, items);
                }
            }
            Type::Array { index, element } => {
                let name = self.name("i");
                let mut body = Vec::new();
                self.within(self.context.clone(), |g| {
                    g.scope.push(Var::bound(&name, index));
                    g.define(&format!("{place}[{name}]"), element, &mut body);
                });
                let open = format!("for {name} : {} do", self.types[index].text);
                if !body.is_empty() {
                    items.push(self.closed("for", &open, body));
                }
            }
            _ => {
                if let Some(value) = self.literal(ty) {
                    items.push(Item::Line(format!("{place} := {value};")));
                }
            }
        }
    }

    fn statement(&mut self) -> Vec<Item> {
        self.budget = self.budget.saturating_sub(1);
        let nested = self.context.depth < MAX_DEPTH;
        let one = |item: Option<Item>| item.into_iter().collect::<Vec<Item>>();
        match self.rng.weighted(&[42, 12, 6, 9, 4, 9, 5, 3, 6, 4, 2, 1, 3, 6, 4]) {
            1 if nested => vec![self.if_statement()],
            2 if nested => one(self.switch()),
            3 if nested => one(self.for_loop()),
            4 if nested => self.while_loop(),
            5 => one(self.call_statement()),
            6 => {
                let place = self.place(Use::Undefine, |_, _| true);
                one(place.map(|place| Item::Line(format!("undefine {};", place.text))))
            }
            7 => {
                let place = self.place(Use::Write, |g, ty| !g.holds_sets(ty));
                one(place.map(|place| Item::Line(format!("clear {};", place.text))))
            }
            8 if nested => one(self.alias()),
            9 => {
                let holds = if self.may_fail(40) { self.condition(2) } else { self.truism(1) };
                vec![Item::Line(format!("assert {holds} \"holds\";"))]
            }
            10 if !self.context.pure_only => {
                vec![Item::Line(format!("assume {};", self.condition(2)))]
            }
            11 if nested && self.risky => self.rare("error \"reached\";".into()),
            12 if nested => {
                let item = match self.context.returns {
                    Returns::Nothing => Item::Line("return;".into()),
                    Returns::Value(ty) => self.return_of(ty),
                };
                vec![Item::block(&format!("if {} then", self.condition(2)), vec![item], "end;")]
            }
            13 => one(self.copy()),
            14 => one(self.assigned_parts()),
            _ => one(self.assignment()),
        }
    }

    /// A statement under conditions that hold together now and then.
    fn rare(&mut self, statement: String) -> Vec<Item> {
        let (a, b) = (self.condition(1), self.condition(1));
        let open = format!("if ({a}) {} ({b}) then", self.connective("&"));
        vec![Item::block(&open, vec![Item::Line(statement)], "end;")]
    }

    fn assignment(&mut self) -> Option<Item> {
        let place = self.place(Use::Write, |g, ty| g.is_simple(ty))?;
        let value = self.value(place.ty, 2)?;
        Some(Item::Line(format!("{} := {value};", place.text)))
    }

    /// Assigns a record or an array.
    fn copy(&mut self) -> Option<Item> {
        let target = self.place(Use::Write, |g, ty| !g.is_simple(ty))?;
        let source = self.place(Use::Read, |_, ty| ty == target.ty)?;
        let other = self.place(Use::Read, |_, ty| ty == target.ty)?;
        let defined = target.var.solid || target.var.shared;
        if defined && !(source.var.solid && other.var.solid) {
            return None;
        }
        let source = match self.rng.chance(25) {
            true => format!("({} ? {} : {})", self.condition(1), source.text, other.text),
            false => source.text,
        };
        Some(Item::Line(format!("{} := {source};", target.text)))
    }

    /// At least one statement, and what is bound in it forgotten.
    fn block(&mut self) -> Vec<Item> {
        let context = Context { depth: self.context.depth + 1, ..self.context.clone() };
        self.within(context, |g| {
            let n = 1 + g.rng.below(2);
            let mut items: Vec<Item> = (0..n).flat_map(|_| g.statement()).collect();
            if items.is_empty() {
                items.extend(g.assignment());
            }
            items
        })
    }

    fn if_statement(&mut self) -> Item {
        let open = format!("if {} then", self.condition(2));
        let mut body = self.block();
        if self.rng.chance(20) {
            let open = format!("elsif {} then", self.condition(2));
            body.push(Item::block(&open, self.block(), ""));
        }
        if self.rng.chance(40) {
            body.push(Item::block("else", self.block(), ""));
        }
        self.closed("if", &open, body)
    }

    fn switch(&mut self) -> Option<Item> {
        let place = self.place(Use::Read, |g, ty| g.is_simple(ty))?;
        let value = self.read(&place)?;
        let mut body = Vec::new();
        for _ in 0..1 + self.rng.below(2) {
            let mut labels = vec![self.literal(place.ty)?];
            if self.rng.chance(25) {
                labels.push(self.literal(place.ty)?);
            }
            body.push(Item::block(&format!("case {}:", labels.join(", ")), self.block(), ""));
        }
        if self.rng.chance(50) {
            body.push(Item::block("else", self.block(), ""));
        }
        Some(self.closed("switch", &format!("switch {value}"), body))
    }

    fn for_loop(&mut self) -> Option<Item> {
        let name = self.name("i");
        let (mut domain, mut ty) = self.domain(&name);
        if self.is_scalarset(ty) {
            let body = self.for_all_of_set(&name, ty)?;
            return Some(self.closed("for", &format!("for {domain} do"), body));
        }
        if self.rng.chance(20)
            && let Some(place) =
                self.place(Use::Read, |g, ty| g.is_range(ty) && g.has_few_values(ty))
            && let Some(from) = self.read(&place)
        {
            // Up or down, as it is.
            domain = format!("{name} := {from} to 1");
            ty = self.numbers(-2, 4);
        }
        let context = Context { depth: self.context.depth + 1, ..self.context.clone() };
        let body = self.within(context, |g| {
            g.scope.push(Var::bound(&name, ty));
            g.block()
        });
        Some(self.closed("for", &format!("for {domain} do"), body))
    }

    /// The body of a loop over a scalarset, which does not depend on the order.
    fn for_all_of_set(&mut self, name: &str, set: TyIdx) -> Option<Vec<Item>> {
        let counts = self.rng.chance(35);
        // An array of which each element is written once, or a counter.
        let target = match counts {
            true => self.place(Use::Write, |g, ty| g.is_range(ty) && g.has_few_values(ty)),
            false => self.place(
                Use::Write,
                |g, ty| matches!(*g.ty(ty), Type::Array { index, .. } if index == set),
            ),
        };
        let target = target.filter(|t| t.stable && !t.var.shared)?;
        let avoided = Some(target.var.root.clone());
        self.within(Context { safe: true, avoided, ..self.context.clone() }, |g| {
            g.scope.push(Var::bound(name, set));
            let statement = if counts { g.count(&target)? } else { g.set_element(&target, name)? };
            let statement = Item::Line(statement);
            Some(match g.rng.chance(60) {
                true => {
                    vec![Item::block(
                        &format!("if {} then", g.condition(1)),
                        vec![statement],
                        "end;",
                    )]
                }
                false => vec![statement],
            })
        })
    }

    fn count(&mut self, target: &Place) -> Option<String> {
        let Type::Range { low, high } = *self.ty(target.ty) else { return None };
        if !target.var.solid {
            return None;
        }
        let t = &target.text;
        Some(format!("{t} := ({t} = {high} ? {low} : {t} + 1);"))
    }

    /// Writes the element of the array, or a part of it, that has this index.
    fn set_element(&mut self, array: &Place, index: &str) -> Option<String> {
        let Type::Array { element, .. } = *self.ty(array.ty) else { return None };
        let text = format!("{}[{index}]", array.text);
        let place = Place { text, ty: element, ..array.clone() };
        if !place.var.solid && self.rng.chance(20) {
            return Some(format!("undefine {};", place.text));
        }
        let place = self.part(place, &|g: &Self, ty| g.is_simple(ty))?;
        let value = self.value(place.ty, 1)?;
        Some(format!("{} := {value};", place.text))
    }

    fn while_loop(&mut self) -> Vec<Item> {
        let name = self.name("w");
        self.locals.push(Item::Line(format!("var {name}: 0..9;")));
        let (n, and, condition) = (1 + self.rng.below(3), self.connective("&"), self.condition(1));
        let open = format!("while {name} < {n} {and} ({condition}) do");
        let mut body = self.block();
        body.push(Item::Line(format!("{name} := {name} + 1;")));
        vec![Item::Line(format!("{name} := 0;")), self.closed("while", &open, body)]
    }

    fn alias(&mut self) -> Option<Item> {
        let (head, vars) = self.aliases()?;
        let context = Context { depth: self.context.depth + 1, ..self.context.clone() };
        let body = self.within(context, |g| {
            g.scope.extend(vars);
            g.block()
        });
        Some(self.closed("alias", &format!("alias {head} do"), body))
    }

    /// Names for places and values, and what they are.
    pub fn aliases(&mut self) -> Option<(String, Vec<Var>)> {
        let (mut texts, mut vars) = (Vec::new(), Vec::new());
        for _ in 0..1 + self.rng.weighted(&[75, 25]) {
            let name = self.name("a");
            if self.rng.chance(20) {
                let ty = self.pick_type(|g, ty| g.n_values(ty).is_some(), 3.0);
                texts.push(format!("{name}: {}", self.value(ty, 1)?));
                vars.push(Var::bound(&name, ty));
                continue;
            }
            let place = self.place(Use::Read, |_, _| true)?;
            texts.push(format!("{name}: {}", place.text));
            vars.push(Var { name, ty: place.ty, ..place.var });
        }
        Some((texts.join("; "), vars))
    }
}
