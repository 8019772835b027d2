//! Expressions, variable references and message arguments.

use super::{Generator, Signature, Ty, Var};

impl Generator {
    /// Variables that can be named here. Spin does not undo what a d_step
    /// does to hidden ones.
    pub(super) fn visible(&self) -> Vec<Var> {
        let mut vars: Vec<Var> = Vec::new();
        for var in self.scopes.iter().rev().flatten().chain(&self.globals) {
            let usable = !(self.in_dstep && var.hidden);
            if usable && !vars.iter().any(|v| v.name == var.name) {
                vars.push(var.clone());
            }
        }
        vars
    }

    pub(super) fn constant(&mut self) -> String {
        if self.rng.chance(6) {
            let odd = ["255", "256", "-1", "32767", "40000", "65536", "-2", "7"];
            return self.rng.pick(&odd).to_string();
        }
        if self.macros && self.rng.chance(10) {
            return "TWO".into();
        }
        ["0", "1", "2", "true", "false", "3"][self.rng.weighted(&[30, 30, 20, 4, 4, 8])].into()
    }

    /// An index below `len`.
    fn index(&mut self, len: usize) -> String {
        let mut plain = self.visible();
        plain.retain(|v| v.len.is_none() && v.ty.is_unsigned());
        if !plain.is_empty() && self.rng.chance(40) {
            return format!("{} % {len}", self.rng.pick(&plain).name);
        }
        if self.rng.chance(20) {
            return format!("_pid % {len}");
        }
        self.rng.below(len).to_string()
    }

    /// `name` or, for an array, `name[index]`.
    fn element(&mut self, var: Var) -> String {
        match var.len {
            Some(len) => format!("{}[{}]", var.name, self.index(len)),
            None => var.name,
        }
    }

    /// A reference to some scalar that can be assigned to, and its type.
    pub(super) fn scalar_ref(&mut self) -> Option<(String, Ty)> {
        let mut vars = self.visible();
        vars.retain(|v| !matches!(v.ty, Ty::Chan(_)));
        if vars.is_empty() {
            return None;
        }
        let var = self.rng.pick(&vars).clone();
        let mut ty = var.ty.clone();
        let mut text = self.element(var);
        while let Ty::Record(r) = ty {
            let fields = self.records[r].fields.clone();
            let field = self.rng.pick(&fields).clone();
            ty = field.ty.clone();
            text = format!("{text}.{}", self.element(field));
        }
        Some((text, ty))
    }

    /// Some variable of exactly this type: a channel or a whole record.
    pub(super) fn whole(&mut self, ty: &Ty) -> Option<String> {
        let mut vars = self.visible();
        vars.retain(|v| v.ty == *ty);
        if vars.is_empty() {
            return None;
        }
        let var = self.rng.pick(&vars).clone();
        Some(self.element(var))
    }

    /// Some channel and its signature.
    pub(super) fn any_channel(&mut self, buffered: bool) -> Option<(String, Signature)> {
        let mut vars = self.visible();
        let signatures = &self.signatures;
        vars.retain(|v| matches!(v.ty, Ty::Chan(s) if !(buffered && signatures[s].rendezvous)));
        if vars.is_empty() {
            return None;
        }
        let var = self.rng.pick(&vars).clone();
        let Ty::Chan(signature) = var.ty else { return None };
        Some((self.element(var), self.signatures[signature].clone()))
    }

    /// Some channel to receive from. Spin evaluates its index again after each
    /// field and when it undoes the receive, so that must not change.
    pub(super) fn source(&mut self, buffered: bool) -> Option<(String, Signature)> {
        let (text, signature) = self.any_channel(buffered)?;
        let text = match text.split_once('[') {
            Some((name, _)) => format!("{name}[{}]", self.rng.below(2)),
            None => text,
        };
        Some((text, signature))
    }

    pub(super) fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.chance(40) {
            return self.atom();
        }
        let a = self.expression(depth - 1);
        match self.rng.below(20) {
            0 => format!("({a} / 2)"),
            1 => format!("({a} % 3)"),
            2 => format!("({a} << 1)"),
            3 => format!("({a} >> 1)"),
            4 => format!("(- {a})"),
            5 => format!("(~{a})"),
            6 => format!("(!{a})"),
            7 => {
                // Spin's grammar has no channel tests here.
                let (c, b) = (self.comparison(), self.expression(depth - 1));
                format!("({c} -> {a} : {b})")
            }
            8 if self.macros => {
                let b = self.atom();
                format!("PICK({a}, {b})")
            }
            n => {
                let operators = ["+", "-", "*", "&", "|", "^", "==", "!=", "<", "<="];
                let operator = operators[n % operators.len()];
                let b = self.expression(depth - 1);
                format!("({a} {operator} {b})")
            }
        }
    }

    pub(super) fn atom(&mut self) -> String {
        match self.rng.below(20) {
            0..=10 => match self.scalar_ref() {
                Some((text, _)) => text,
                None => self.constant(),
            },
            11 => "_pid".into(),
            12 if self.rng.chance(30) => "_nr_pr".into(),
            12 if self.features.last => "_last".into(),
            13 => match self.any_channel(false) {
                Some((channel, _)) => format!("len({channel})"),
                None => self.constant(),
            },
            14 if !self.mtypes.is_empty() => self.rng.pick(&self.mtypes).to_string(),
            _ => self.constant(),
        }
    }

    /// A value for a variable of this type.
    pub(super) fn value(&mut self, ty: &Ty) -> String {
        if *ty == Ty::Mtype && !self.rng.chance(5) {
            return self.rng.pick(&self.mtypes).to_string();
        }
        let value = self.expression(2);
        if ty.is_small() || self.rng.chance(2) {
            return value;
        }
        match self.rng.below(4) {
            0 => self.constant(),
            1 => format!("({value}) & 3"),
            _ => format!("({value}) % 3"),
        }
    }

    pub(super) fn condition(&mut self, depth: usize) -> String {
        if depth > 0 && self.rng.chance(20) {
            let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
            let operator = if self.rng.chance(50) { "&&" } else { "||" };
            return format!("({a} {operator} {b})");
        }
        match self.rng.below(16) {
            0 => "true".into(),
            1 => match self.any_channel(true) {
                Some((channel, _)) => {
                    let probe = *self.rng.pick(&["full", "empty", "nfull", "nempty"]);
                    format!("{probe}({channel})")
                }
                None => "1".into(),
            },
            2 => self.poll().unwrap_or_else(|| "skip".into()),
            3 if self.features.remote => self.remote().unwrap_or_else(|| "1".into()),
            4 if self.features.priorities => {
                format!("(get_priority({}) > 1)", self.rng.below(3))
            }
            5 => format!("({})", self.expression(1)),
            6 if self.rng.chance(10) => "false".into(),
            7 if self.rng.chance(15) => "(_nr_pr < 3)".into(),
            8 if self.features.last => format!("(_last == {})", self.rng.below(3)),
            _ => self.comparison(),
        }
    }

    pub(super) fn comparison(&mut self) -> String {
        let operator = *self.rng.pick(&["==", "!=", "<", "<=", ">", ">="]);
        let (a, b) = (self.atom(), self.constant());
        format!("({a} {operator} {b})")
    }

    fn poll(&mut self) -> Option<String> {
        let (channel, signature) = self.source(true)?;
        let random = if self.rng.chance(40) { "??" } else { "?" };
        let args = self.receive_args(&signature)?;
        Some(format!("{channel}{random}[{args}]"))
    }

    fn remote(&mut self) -> Option<String> {
        let known = self.processes.iter().filter(|p| p.active > 0);
        let known: Vec<usize> = known.map(|p| p.pid).collect();
        if known.is_empty() {
            return None;
        }
        let pid = *self.rng.pick(&known);
        let process = self.processes.iter().find(|p| p.pid == pid && p.active > 0)?;
        let (name, labels, locals) =
            (process.name.clone(), process.labels.clone(), process.locals.clone());
        if !labels.is_empty() && self.rng.chance(60) {
            return Some(format!("{name}[{pid}]@{}", self.rng.pick(&labels)));
        }
        if locals.is_empty() {
            return None;
        }
        Some(format!("({name}[{pid}]:{} == {})", self.rng.pick(&locals), self.rng.below(2)))
    }

    pub(super) fn send_args(&mut self, signature: &Signature) -> Option<String> {
        let mut args = Vec::new();
        for field in &signature.fields {
            args.push(match field {
                Ty::Record(_) | Ty::Chan(_) => self.whole(field)?,
                ty => self.value(ty),
            });
        }
        Some(self.join(args))
    }

    /// Spin undoes a receive by putting the arguments' values back into the
    /// channel, so it needs variables that can hold the field and that differ,
    /// also in `eval`.
    pub(super) fn receive_args(&mut self, signature: &Signature) -> Option<String> {
        let mut args = Vec::new();
        let mut used = Vec::new();
        for field in &signature.fields {
            // Spin keeps a lone bit in a byte, with all of its values.
            let lone_bit = signature.fields.len() == 1 && matches!(field, Ty::Bit | Ty::Bool);
            let field = if lone_bit { &Ty::Byte } else { field };
            args.push(match field {
                Ty::Chan(_) => "_".into(),
                Ty::Record(_) => self.receive_into(field, &mut used)?,
                ty => self.receive_arg(ty, &mut used),
            });
        }
        Some(self.join(args))
    }

    fn receive_arg(&mut self, ty: &Ty, used: &mut Vec<String>) -> String {
        match self.rng.below(10) {
            0 => "_".into(),
            1 => match self.receive_into(ty, used) {
                Some(var) => format!("eval({var})"),
                None => format!("eval({})", self.constant()),
            },
            2 if *ty == Ty::Mtype => self.rng.pick(&self.mtypes).to_string(),
            2 => self.rng.below(3).to_string(),
            _ => self.receive_into(ty, used).unwrap_or_else(|| "_".into()),
        }
    }

    /// A variable that can hold every value of `ty`.
    fn receive_into(&mut self, ty: &Ty, used: &mut Vec<String>) -> Option<String> {
        let mut vars = self.visible();
        vars.retain(|v| v.ty.holds(ty) && !used.contains(&v.name));
        if vars.is_empty() {
            return None;
        }
        let var = self.rng.pick(&vars).clone();
        used.push(var.name.clone());
        Some(match var.len {
            Some(len) => format!("{}[{}]", var.name, self.rng.below(len)),
            None => var.name,
        })
    }

    /// `a, b, c` or `a(b, c)`
    fn join(&mut self, args: Vec<String>) -> String {
        match args.split_first() {
            Some((first, rest)) if !rest.is_empty() && self.rng.chance(20) => {
                format!("{first}({})", rest.join(", "))
            }
            _ => args.join(", "),
        }
    }
}
