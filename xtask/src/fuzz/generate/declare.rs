//! Declarations: types, globals, channels, parameters and locals.

use super::{Generator, Item, Record, Signature, Ty, Var};

const MTYPES: [&str; 3] = ["red", "green", "blue"];

impl Generator {
    pub(super) fn declarations(&mut self, items: &mut Vec<Item>) {
        if self.rng.chance(40) {
            items.push(Item::Line("#define PICK(a, b) ((a) > (b) -> (a) : (b))".into()));
            items.push(Item::Line("#define TWO 2".into()));
            self.macros = true;
        }
        if self.rng.chance(60) {
            items.push(Item::Line(format!("mtype = {{ {} }}", MTYPES.join(", "))));
            self.mtypes = MTYPES.to_vec();
        }
        for _ in 0..self.rng.weighted(&[55, 30, 15]) {
            self.record(items);
        }
        for _ in 0..2 + self.rng.below(4) {
            let mut var = self.variable("g", true);
            // Spin has no hidden bits.
            let may_hide = matches!(var.ty, Ty::Byte | Ty::Short | Ty::Int | Ty::Mtype);
            var.hidden = may_hide && self.rng.chance(8);
            let hidden = if var.hidden { "hidden " } else { "" };
            let init = self.initialiser(&var);
            items.push(Item::Line(format!("{hidden}{}{init};", self.declared(&var))));
            self.globals.push(var);
        }
        for _ in 0..self.rng.weighted(&[20, 40, 25, 15]) {
            self.global_channel(items);
        }
    }

    fn record(&mut self, items: &mut Vec<Item>) {
        let name = format!("R{}", self.records.len());
        let mut fields = Vec::new();
        for i in 0..1 + self.rng.below(3) {
            let mut var = self.variable("f", true);
            var.name = format!("f{i}");
            fields.push(var);
        }
        let mut body = Vec::new();
        for field in &fields {
            let init = if field.len.is_none() { self.initialiser(field) } else { String::new() };
            body.push(Item::Line(format!("{}{init};", self.declared(field))));
        }
        items.push(Item::block(&format!("typedef {name} {{"), body, "}"));
        self.records.push(Record { name, fields });
    }

    fn scalar(&mut self) -> Ty {
        // In models with priorities Spin leaves the last bits of a process out
        // of the state.
        let no_bits = self.features.priorities && !self.scopes.is_empty();
        match self.rng.weighted(&[15, 12, 30, 8, 6, 3, 10, 10]) {
            0 | 1 | 6 if no_bits => Ty::Byte,
            0 => Ty::Bit,
            1 => Ty::Bool,
            3 => Ty::Short,
            4 => Ty::Int,
            5 => Ty::Pid,
            6 => Ty::Unsigned(1 + self.rng.below(3) as u8),
            7 if !self.mtypes.is_empty() => Ty::Mtype,
            _ => Ty::Byte,
        }
    }

    /// A scalar that can be a parameter or a message field.
    fn plain_scalar(&mut self) -> Ty {
        match self.scalar() {
            Ty::Unsigned(_) => Ty::Byte,
            ty => ty,
        }
    }

    /// A new variable: a scalar, a record, or an array of one of them.
    pub(super) fn variable(&mut self, prefix: &str, arrays: bool) -> Var {
        let ty = if !self.records.is_empty() && self.rng.chance(20) {
            Ty::Record(self.rng.below(self.records.len()))
        } else {
            self.scalar()
        };
        // Spin has no arrays of 'unsigned'.
        let array = arrays && self.rng.chance(20) && !matches!(ty, Ty::Unsigned(_));
        let len = array.then(|| 2 + self.rng.below(2));
        Var { name: self.name(prefix), ty, len, hidden: false }
    }

    pub(super) fn declared(&self, var: &Var) -> String {
        let name = &var.name;
        let ty = self.type_name(&var.ty);
        match (&var.ty, var.len) {
            (Ty::Unsigned(bits), _) => format!("unsigned {name} : {bits}"),
            (_, Some(n)) => format!("{ty} {name}[{n}]"),
            _ => format!("{ty} {name}"),
        }
    }

    fn type_name(&self, ty: &Ty) -> String {
        match ty {
            Ty::Bit => "bit",
            Ty::Bool => "bool",
            Ty::Byte => "byte",
            Ty::Short => "short",
            Ty::Int => "int",
            Ty::Pid => "pid",
            Ty::Unsigned(_) => "unsigned",
            Ty::Mtype => "mtype",
            Ty::Chan(_) => "chan",
            Ty::Record(r) => return self.records[*r].name.clone(),
        }
        .into()
    }

    fn initialiser(&mut self, var: &Var) -> String {
        if !var.ty.is_scalar() || self.rng.chance(60) {
            return String::new();
        }
        match (&var.ty, var.len) {
            (Ty::Mtype, _) => format!(" = {}", self.rng.pick(&self.mtypes)),
            (_, Some(n)) if self.scopes.is_empty() && self.rng.chance(30) => {
                let values: Vec<String> = (0..n).map(|_| self.rng.below(3).to_string()).collect();
                format!(" = {{ {} }}", values.join(", "))
            }
            _ => format!(" = {}", self.constant()),
        }
    }

    /// A record that can be a message field: Spin sends nothing 'unsigned'.
    fn message_record(&mut self) -> Option<Ty> {
        let plain = |r: &Record| r.fields.iter().all(|f| f.ty.holds(&Ty::Bit));
        let plain: Vec<usize> =
            (0..self.records.len()).filter(|r| plain(&self.records[*r])).collect();
        if plain.is_empty() { None } else { Some(Ty::Record(*self.rng.pick(&plain))) }
    }

    fn signature(&mut self) -> usize {
        if !self.signatures.is_empty() && self.rng.chance(30) {
            return self.rng.below(self.signatures.len());
        }
        let mut fields = Vec::new();
        for _ in 0..1 + self.rng.weighted(&[50, 35, 15]) {
            let ty = match self.rng.below(20) {
                0 => self.message_record().unwrap_or(Ty::Short),
                1 if !self.signatures.is_empty() => Ty::Chan(0),
                _ => self.plain_scalar(),
            };
            fields.push(ty);
        }
        let rendezvous = self.features.rendezvous && self.rng.chance(50);
        self.signatures.push(Signature { fields, rendezvous });
        self.signatures.len() - 1
    }

    fn global_channel(&mut self, items: &mut Vec<Item>) {
        let signature = self.signature();
        let len = self.rng.chance(15).then_some(2);
        let var = Var { name: self.name("q"), ty: Ty::Chan(signature), len, hidden: false };
        let of = self.channel_of(signature);
        items.push(Item::Line(format!("{}{of};", self.declared(&var))));
        self.globals.push(var);
    }

    /// ` = [1] of { byte }`
    fn channel_of(&mut self, signature: usize) -> String {
        let Signature { fields, rendezvous } = self.signatures[signature].clone();
        let slots = if rendezvous { 0 } else { 1 + self.rng.weighted(&[60, 30, 10]) };
        let fields: Vec<String> = fields.iter().map(|f| self.type_name(f)).collect();
        format!(" = [{slots}] of {{ {} }}", fields.join(", "))
    }

    pub(super) fn params(&mut self) -> Vec<Var> {
        let mut params = Vec::new();
        // Such that there is an argument for them.
        let globals = |is: &dyn Fn(&Var) -> bool| -> Vec<Ty> {
            self.globals.iter().filter(|g| is(g)).map(|g| g.ty.clone()).collect()
        };
        let channels = globals(&|g| matches!(g.ty, Ty::Chan(_)));
        // Spin hands on no arrays.
        let flat = |r: &usize| self.records[*r].fields.iter().all(|f| f.len.is_none());
        let scalars = |r: &usize| self.records[*r].fields.iter().all(|f| f.ty.holds(&Ty::Bit));
        let records = globals(
            &|g| matches!(&g.ty, Ty::Record(r) if g.len.is_none() && flat(r) && scalars(r)),
        );
        for _ in 0..self.rng.below(3) {
            let ty = if !channels.is_empty() && self.rng.chance(40) {
                self.rng.pick(&channels).clone()
            } else if !records.is_empty() && self.rng.chance(30) {
                self.rng.pick(&records).clone()
            } else {
                self.plain_scalar()
            };
            params.push(Var { name: self.name("a"), ty, len: None, hidden: false });
        }
        params
    }

    pub(super) fn parameter_list(&self, params: &[Var]) -> String {
        params.iter().map(|p| self.declared(p)).collect::<Vec<_>>().join("; ")
    }

    /// A local declaration, in front of all statements or among them.
    pub(super) fn local(&mut self, in_front: bool) -> Item {
        if in_front && self.rng.chance(12) {
            let signature = self.signature();
            let var =
                Var { name: self.name("c"), ty: Ty::Chan(signature), len: None, hidden: false };
            let text = format!("{}{}", self.declared(&var), self.channel_of(signature));
            self.declare(var);
            return self.line(text);
        }
        let var = self.variable("v", true);
        let may_init = in_front || var.len.is_none();
        let init = if may_init { self.initialiser(&var) } else { String::new() };
        let text = format!("{}{init}", self.declared(&var));
        self.declare(var);
        self.line(text)
    }

    /// A declaration with the name of a variable whose block has ended.
    pub(super) fn reused(&mut self) -> Option<Item> {
        let name = self.ended.pop()?.name;
        let var = Var { name, ..self.variable("v", false) };
        let text = format!("{}{}", self.declared(&var), self.initialiser(&var));
        self.declare(var);
        Some(self.line(text))
    }

    fn declare(&mut self, var: Var) {
        self.scopes.last_mut().expect("a scope is open").push(var);
    }
}
