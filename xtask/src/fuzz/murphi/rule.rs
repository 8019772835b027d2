//! Start states, rules, properties and what encloses them.

use super::generate::{Context, Generator};
use super::place::{Use, Var};
use crate::fuzz::item::Item;

/// Instances of a rule.
const MAX_INSTANCES: i64 = 12;

impl Generator {
    pub fn start_state(&mut self, items: &mut Vec<Item>) {
        let (percent, name) = (35, self.name("start"));
        let item = self.enclosed(percent, false, |g| {
            let mut body = Vec::new();
            for var in g.globals.clone() {
                if var.solid || g.rng.chance(60) {
                    g.define(&var.name, var.ty, &mut body);
                }
            }
            g.budget = g.rng.weighted(&[50, 30, 20]);
            body.extend(g.body());
            let begin = vec![Item::Line("begin".into())];
            let body = [std::mem::take(&mut g.locals), begin, body].concat();
            vec![g.closed("startstate", &format!("startstate \"{name}\""), body)]
        });
        items.extend(item);
    }

    /// A rule that gives a variable, or a part of it, any value.
    pub fn chosen_value(&mut self, items: &mut Vec<Item>) {
        let (name, value, index) = (self.name("rule"), self.name("v"), self.name("x"));
        let made = self.within(Context::default(), |g| {
            let set = g.pick_type(|g, ty| g.n_values(ty).is_some_and(|n| n <= 4), 3.0);
            g.scope.push(Var::bound(&index, set));
            let place =
                g.place(Use::Write, |g, ty| g.n_values(g.ty(ty)).is_some_and(|n| n <= 5))?;
            g.scope.push(Var::bound(&value, place.ty));
            let guard = if g.rng.chance(50) { g.condition(1) } else { "true".into() };
            let body = vec![Item::Line(format!("{} := {value};", place.text))];
            let rule = Item::block(&format!("rule \"{name}\" {guard} ==> begin"), body, "end;");
            let (set, ty) = (&g.types[set].text, &g.types[place.ty].text);
            let open = format!("ruleset {index} : {set}; {value} : {ty} do");
            Some(Item::block(&open, vec![rule], "end;"))
        });
        items.extend(made);
    }

    pub fn rules(&mut self, items: &mut Vec<Item>) {
        let made = self.enclosed(65, true, |g| {
            let n = 1 + g.rng.weighted(&[75, 25]);
            (0..n).map(|_| g.rule()).collect()
        });
        items.extend(made);
    }

    fn rule(&mut self) -> Item {
        let name = self.name("rule");
        self.known.clear();
        let mut guards = Vec::new();
        if self.rng.chance(40)
            && let Some(place) = self.stable_place(|g, ty| g.is_simple(ty))
            && !place.var.solid
        {
            guards.push(format!("!isundefined({})", place.text));
            self.known.push(place.text);
        }
        if self.rng.chance(65) {
            guards.push(format!("({})", self.condition(2)));
        }
        let guard = match guards.is_empty() {
            true => String::new(),
            false => format!(" {} ==>", guards.join(&format!(" {} ", self.connective("&")))),
        };
        self.budget = 1 + self.rng.below(5);
        let body = self.within(Context::default(), |g| g.body());
        self.known.clear();
        let begin = vec![Item::Line("begin".into())];
        let body = [std::mem::take(&mut self.locals), begin, body].concat();
        self.closed("rule", &format!("rule \"{name}\"{guard}"), body)
    }

    /// What is made, mostly in a ruleset or under an alias.
    fn enclosed(
        &mut self,
        percent: usize,
        aliases: bool,
        make: impl FnOnce(&mut Self) -> Vec<Item>,
    ) -> Vec<Item> {
        self.within(Context::default(), |g| {
            let ruleset = g.rng.chance(percent).then(|| g.ruleset());
            let alias = (aliases && g.rng.chance(15)).then(|| g.aliases()).flatten();
            if let Some((_, vars)) = &alias {
                g.scope.extend(vars.iter().cloned());
            }
            let mut items = make(g);
            if let Some((head, _)) = alias {
                items = vec![g.closed("alias", &format!("alias {head} do"), items)];
            }
            if let Some(head) = ruleset {
                items = vec![g.closed("ruleset", &head, items)];
            }
            items
        })
    }

    /// Binds parameters.
    fn ruleset(&mut self) -> String {
        let mut texts = Vec::new();
        let mut instances = 1;
        for _ in 0..1 + self.rng.weighted(&[50, 35, 15]) {
            let name = self.name("r");
            let (domain, ty) = self.values(&name);
            let n = self.n_values(self.ty(ty)).unwrap_or(1);
            if instances * n > MAX_INSTANCES {
                continue;
            }
            instances *= n;
            texts.push(domain);
            self.scope.push(Var::bound(&name, ty));
        }
        format!("ruleset {} do", texts.join("; "))
    }

    pub fn property(&mut self, items: &mut Vec<Item>) {
        let name = self.name("prop");
        let assumption = self.rng.chance(12);
        let made = self.enclosed(30, !assumption, |g| {
            // Which instance of an assumption fails first must not matter.
            let sets = g.scope.iter().any(|v| v.bound && g.is_scalarset(v.ty));
            let safe = assumption && sets;
            g.within(Context { safe, ..Context::default() }, |g| {
                let holds = match assumption {
                    true => format!("assume \"{name}\" {}", g.condition(2)),
                    false if g.may_fail(60) => format!("invariant \"{name}\" {}", g.condition(2)),
                    false => format!("invariant \"{name}\" {}", g.truism(2)),
                };
                vec![Item::Line(format!("{holds};"))]
            })
        });
        items.extend(made);
    }
}
