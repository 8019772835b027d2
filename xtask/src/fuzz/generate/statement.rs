//! Statements and sequences of them.

use super::{Generator, Item, Place, Ty};

/// What an option starts with.
#[derive(Clone, Copy)]
enum Guard {
    Else,
    Condition,
    Any,
}

impl Generator {
    /// About `n` statements; the first has no label where Spin forbids it.
    pub(super) fn sequence(&mut self, place: Place, n: usize, label_first: bool) -> Vec<Item> {
        let mut items = Vec::new();
        for i in 0..n {
            let may_label = (i > 0 || label_first) && !place.inline;
            self.statement(place, may_label, &mut items);
        }
        items
    }

    fn statement(&mut self, place: Place, may_label: bool, items: &mut Vec<Item>) {
        self.budget = self.budget.saturating_sub(1);
        if !place.dstep && self.rng.chance(7) {
            items.push(self.local(false));
            if self.rng.chance(60) {
                return;
            }
        }
        let label = if may_label && !place.dstep { self.label() } else { None };
        let at = items.len();
        let simple = place.depth >= 3 || self.budget == 0 || self.rng.chance(55);
        if simple {
            let mut text = self.simple(place);
            if label.as_ref().is_some_and(|l| text == format!("goto {l}")) {
                text = self.assignment();
            }
            items.push(self.line(text));
        } else {
            self.compound(place, items);
        }
        if let (Some(label), Some(first)) = (label, items.get_mut(at)) {
            match first {
                Item::Line(text) | Item::Block { open: text, .. } => {
                    *text = format!("{label}: {text}");
                }
            }
        }
    }

    /// A label for the next statement, now and then.
    fn label(&mut self) -> Option<String> {
        if !self.rng.chance(18) {
            return None;
        }
        let unused = self.pool.iter().find(|l| !self.placed.contains(l)).cloned();
        let label = match unused {
            Some(label) => label,
            None if self.rng.chance(50) => {
                let prefix = *self.rng.pick(&["L", "end", "progress", "accept", "M"]);
                self.name(&format!("{prefix}_"))
            }
            None => return None,
        };
        self.placed.push(label.clone());
        if self.rng.chance(50) {
            self.pool.push(label.clone());
        }
        Some(label)
    }

    /// A statement on one line.
    pub(super) fn simple(&mut self, place: Place) -> String {
        let jumps = !place.dstep && !place.inline;
        match self.rng.weighted(&[30, 10, 5, 14, 14, 9, 6, 3, 3, 5, 2, 3, 4]) {
            1 if !place.dstep => self.guard(place),
            2 if self.rng.chance(60) => self.rng.pick(&["skip", "true", "(1)"]).to_string(),
            3 => self.send(place).unwrap_or_else(|| "skip".into()),
            4 => self.receive(place).unwrap_or_else(|| "skip".into()),
            5 if jumps && !self.pool.is_empty() => format!("goto {}", self.rng.pick(&self.pool)),
            6 if place.in_loop => "break".into(),
            7 => format!("assert({})", self.condition(1)),
            8 => format!("printf(\"%d\\n\", {})", self.expression(1)),
            9 if !place.dstep => self.call(place).unwrap_or_else(|| self.assignment()),
            10 if !place.dstep && !place.inline => self.start(),
            11 if self.features.priorities => self.about_process(),
            12 => self.step(),
            _ => self.assignment(),
        }
    }

    fn about_process(&mut self) -> String {
        if self.rng.chance(40) {
            return format!("enabled({})", self.rng.below(3));
        }
        // Spin's undo goes wrong if the process does not exist.
        let pid = *self.rng.pick(&["0", "_pid"]);
        format!("set_priority({pid}, {})", 1 + self.rng.below(3))
    }

    fn assignment(&mut self) -> String {
        match self.scalar_ref() {
            Some((text, ty)) => {
                let value = self.value(&ty);
                format!("{text} = {value}")
            }
            None => "skip".into(),
        }
    }

    /// `x++` where that gives few values.
    fn step(&mut self) -> String {
        for _ in 0..4 {
            if let Some((text, ty)) = self.scalar_ref()
                && (ty.is_small() || (ty == Ty::Byte && self.rng.chance(5)))
            {
                return format!("{text}{}", if self.rng.chance(50) { "++" } else { "--" });
            }
        }
        "skip".into()
    }

    fn guard(&mut self, place: Place) -> String {
        if !place.inline && self.rng.chance(4) {
            return "timeout".into();
        }
        self.condition(1)
    }

    fn send(&mut self, place: Place) -> Option<String> {
        let (channel, signature) = self.any_channel(place.dstep)?;
        let args = self.send_args(&signature)?;
        let operator = if !signature.rendezvous && self.rng.chance(25) { "!!" } else { "!" };
        Some(format!("{channel}{operator}{args}"))
    }

    fn receive(&mut self, place: Place) -> Option<String> {
        let (channel, signature) = self.source(place.dstep)?;
        let args = self.receive_args(&signature)?;
        if signature.rendezvous {
            return Some(format!("{channel}?{args}"));
        }
        Some(match self.rng.below(10) {
            0 => format!("{channel}?<{args}>"),
            1 => format!("{channel}??<{args}>"),
            2 | 3 => format!("{channel}??{args}"),
            _ => format!("{channel}?{args}"),
        })
    }

    /// A call of an inline.
    fn call(&mut self, place: Place) -> Option<String> {
        if self.inlines.is_empty() || (place.inline && self.rng.chance(50)) {
            return None;
        }
        let idx = self.rng.below(self.inlines.len());
        let (name, n_params) = (self.inlines[idx].name.clone(), self.inlines[idx].n_params);
        // Different bytes: what an inline receives must not overlap.
        let mut vars = self.visible();
        vars.retain(|v| v.ty == Ty::Byte && v.len.is_none());
        let mut args = Vec::new();
        for _ in 0..n_params {
            if vars.is_empty() {
                return None;
            }
            let at = self.rng.below(vars.len());
            args.push(vars.swap_remove(at).name);
        }
        Some(format!("{name}({})", args.join(", ")))
    }

    /// `run` of a process type, while there are few processes.
    fn start(&mut self) -> String {
        if self.processes.is_empty() || self.rng.chance(50) {
            return self.assignment();
        }
        let process = self.rng.below(self.processes.len());
        let mut run = self.run_of(process);
        if let (true, Some(var)) = (self.rng.chance(40), self.counter()) {
            run = format!("{var} = {run}");
        }
        format!("if :: (_nr_pr < 3) -> {run} :: else fi")
    }

    fn compound(&mut self, place: Place, items: &mut Vec<Item>) {
        let inner = Place { depth: place.depth + 1, ..place };
        let n = 1 + self.rng.below(3);
        let (open, body) = match self.rng.weighted(&[26, 18, 14, 10, 8, 10, 7, 8]) {
            1 => return items.push(self.selection(Place { in_loop: true, ..inner }, true)),
            2 => ("atomic {", self.scoped(inner, n)),
            3 => ("d_step {", self.dstep_body(inner, n)),
            4 => ("{", self.scoped(inner, n)),
            5 if !place.dstep && !place.inline => return items.push(self.unless(inner, n)),
            6 => return items.push(self.for_loop(inner, n)),
            7 => return self.select(items),
            _ => return items.push(self.selection(inner, false)),
        };
        let close = self.close("}");
        items.push(Item::block(open, body, &close));
    }

    /// A sequence in braces: names declared in it end with it.
    fn scoped(&mut self, place: Place, n: usize) -> Vec<Item> {
        self.scopes.push(Vec::new());
        let mut items = Vec::new();
        if !place.dstep && !place.inline && self.rng.chance(6) {
            items.extend(self.reused());
        }
        items.extend(self.sequence(place, n, false));
        let ended = self.scopes.pop().unwrap_or_default();
        self.ended.extend(ended.into_iter().filter(|_| !place.inline));
        items
    }

    fn selection(&mut self, place: Place, is_loop: bool) -> Item {
        let mut body = Vec::new();
        let n_options = 1 + self.rng.below(3);
        let with_else = place.dstep || self.rng.chance(35);
        for i in 0..n_options {
            let leaves = is_loop && i + 1 == n_options && self.rng.chance(70);
            // Spin allows no 'else' beside a send or receive.
            let guarded = with_else || self.rng.chance(if is_loop { 75 } else { 50 });
            let guard = if guarded { Guard::Condition } else { Guard::Any };
            body.push(self.option(place, leaves, guard));
        }
        if with_else {
            body.push(self.option(place, is_loop, Guard::Else));
        }
        let (open, close) = if is_loop { ("do", "od") } else { ("if", "fi") };
        let close = self.close(close);
        Item::block(open, body, &close)
    }

    /// An option. It is no block: its names reach the statements behind it.
    fn option(&mut self, place: Place, leaves: bool, guard: Guard) -> Item {
        let mut body = Vec::new();
        let arrow = |text: String| Item::Line(format!("{text} ->"));
        match guard {
            Guard::Else => body.push(arrow("else".into())),
            Guard::Condition => {
                let mut guard = self.condition(1);
                // Spin's verifier rejects a loop of nothing but skips.
                if place.in_loop && ["1", "true", "skip"].contains(&guard.as_str()) {
                    guard = self.comparison();
                }
                body.push(arrow(guard));
            }
            // Spin's 'enabled' takes no 'else' of the other process into account
            // once an option in front of it has run.
            Guard::Any if place.in_loop || self.features.priorities => {
                let first = self.assignment();
                body.push(self.line(first));
            }
            Guard::Any => {}
        }
        if leaves {
            body.push(self.line("break"));
        } else {
            let n = 1 + self.rng.below(2);
            let label_first = !matches!(guard, Guard::Any);
            body.extend(self.sequence(place, n, label_first));
        }
        Item::block("::", body, "")
    }

    fn dstep_body(&mut self, place: Place, n: usize) -> Vec<Item> {
        let inside = Place { dstep: true, in_loop: false, ..place };
        self.in_dstep = true;
        let mut body = Vec::new();
        // In Spin, a d_step that starts with a jump, print or assertion does not
        // wait for a handshake to end.
        if self.features.rendezvous || self.rng.chance(35) {
            let guard = self.condition(1);
            body.push(Item::Line(format!("{guard} ->")));
        }
        let label = self.rng.chance(12).then(|| self.name("D"));
        if let Some(label) = &label {
            body.push(self.line(format!("goto {label}")));
        }
        body.extend(self.scoped(inside, n));
        if let Some(label) = label {
            let statement = self.assignment();
            body.push(self.line(format!("{label}: {statement}")));
        }
        self.in_dstep = place.dstep;
        body
    }

    fn unless(&mut self, place: Place, n: usize) -> Item {
        let main = self.scoped(place, n);
        let mut escape = Vec::new();
        if self.rng.chance(80) {
            let guard = self.condition(1);
            escape.push(Item::Line(format!("{guard} ->")));
        }
        let n = 1 + self.rng.below(2);
        escape.extend(self.scoped(place, n));
        let open = if self.rng.chance(15) { "atomic {" } else { "{" };
        let close = self.close("}");
        let body = vec![Item::block("", main, "} unless {"), Item::block("", escape, &close)];
        Item::block(open, body, "")
    }

    /// A byte to count with.
    fn counter(&mut self) -> Option<String> {
        let mut vars = self.visible();
        vars.retain(|v| v.ty == Ty::Byte && v.len.is_none());
        if vars.is_empty() { None } else { Some(self.rng.pick(&vars).name.clone()) }
    }

    /// `record in channel`, for a buffered channel of such records.
    fn messages(&mut self) -> Option<String> {
        let (channel, signature) = self.source(true)?;
        let [record @ Ty::Record(_)] = &signature.fields[..] else { return None };
        let mut vars = self.visible();
        vars.retain(|v| v.ty == *record && v.len.is_none());
        if vars.is_empty() {
            None
        } else {
            Some(format!("{} in {channel}", self.rng.pick(&vars).name))
        }
    }

    fn for_loop(&mut self, place: Place, n: usize) -> Item {
        if let Some(messages) = self.messages() {
            let body = self.scoped(Place { in_loop: true, ..place }, n);
            let close = self.close("}");
            return Item::block(&format!("for ({messages}) {{"), body, &close);
        }
        let Some(counter) = self.counter() else { return self.line("skip") };
        let mut arrays = self.visible();
        arrays.retain(|v| v.len.is_some());
        let range = if !arrays.is_empty() && self.rng.chance(35) {
            format!("in {}", self.rng.pick(&arrays).name)
        } else {
            format!(": {}..{}", self.rng.below(2), 1 + self.rng.below(2))
        };
        let body = self.scoped(Place { in_loop: true, ..place }, n);
        let close = self.close("}");
        Item::block(&format!("for ({counter} {range}) {{"), body, &close)
    }

    fn select(&mut self, items: &mut Vec<Item>) {
        let Some(counter) = self.counter() else { return items.push(self.line("skip")) };
        let range = match self.rng.below(6) {
            0 => "0..34".to_string(),
            1 => format!("({}) & 1 .. 2", self.expression(1)),
            _ => format!("{}..{}", self.rng.below(2), 1 + self.rng.below(2)),
        };
        items.push(self.line(format!("select({counter} : {range})")));
        if range == "0..34" {
            items.push(self.line(format!("{counter} = {counter} % 2")));
        }
    }
}
