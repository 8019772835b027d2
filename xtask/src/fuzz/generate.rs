//! Random Promela models: small, valid for Spin, and aimed at the corners of
//! control flow and data where two checkers can disagree.
//!
//! Values are kept small (mostly modulo 3) so that most models have between
//! ten and fifty thousand states.

mod declare;
mod express;
mod statement;

use super::item::Item;
use super::random::Random;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ty {
    Bit,
    Bool,
    Byte,
    Short,
    Int,
    Pid,
    Unsigned(u8),
    Mtype,
    /// A channel with this signature.
    Chan(usize),
    Record(usize),
}

impl Ty {
    /// Assigning any number leaves few values.
    fn is_small(&self) -> bool {
        matches!(self, Ty::Bit | Ty::Bool | Ty::Unsigned(_))
    }

    fn is_scalar(&self) -> bool {
        !matches!(self, Ty::Chan(_) | Ty::Record(_))
    }

    /// A variable of this type can hold every value of a field of type `field`.
    fn holds(&self, field: &Ty) -> bool {
        let bits = |ty: &Ty| match ty {
            Ty::Bit | Ty::Bool => 1,
            Ty::Byte | Ty::Pid | Ty::Mtype => 8,
            Ty::Short => 16,
            Ty::Int => 32,
            Ty::Unsigned(_) | Ty::Chan(_) | Ty::Record(_) => 0,
        };
        self == field || (field.is_scalar() && bits(self) >= bits(field).max(1))
    }

    /// Never negative.
    fn is_unsigned(&self) -> bool {
        self.is_scalar() && !matches!(self, Ty::Short | Ty::Int)
    }
}

#[derive(Debug, Clone)]
struct Var {
    name: String,
    ty: Ty,
    len: Option<usize>,
    hidden: bool,
}

#[derive(Debug, Clone)]
struct Record {
    name: String,
    fields: Vec<Var>,
}

/// What the messages of a channel look like.
#[derive(Debug, Clone)]
struct Signature {
    fields: Vec<Ty>,
    rendezvous: bool,
}

struct Inline {
    name: String,
    n_params: usize,
}

/// A process type that is complete, for `run` and remote references.
struct Process {
    name: String,
    params: Vec<Ty>,
    active: usize,
    /// Number of the first instance.
    pid: usize,
    labels: Vec<String>,
    /// Scalars declared first in its body.
    locals: Vec<String>,
}

/// What is special in this model.
struct Features {
    rendezvous: bool,
    priorities: bool,
    remote: bool,
    last: bool,
}

/// Where the statement being generated stands.
#[derive(Clone, Copy, Default)]
struct Place {
    depth: usize,
    dstep: bool,
    in_loop: bool,
    inline: bool,
}

pub struct Generator {
    rng: Random,
    features: Features,
    records: Vec<Record>,
    signatures: Vec<Signature>,
    globals: Vec<Var>,
    /// Variables of each open block of the process type.
    scopes: Vec<Vec<Var>>,
    inlines: Vec<Inline>,
    processes: Vec<Process>,
    macros: bool,
    mtypes: Vec<&'static str>,
    /// Labels that jumps may use, and those that exist already.
    pool: Vec<String>,
    placed: Vec<String>,
    /// Statements this process type may still get.
    budget: usize,
    fresh: usize,
    in_dstep: bool,
    /// Variables of blocks that have ended.
    ended: Vec<Var>,
}

/// The model of a seed.
pub fn model(seed: u64) -> Vec<Item> {
    let mut rng = Random::new(seed);
    let priorities = rng.chance(12);
    let features = Features {
        rendezvous: !priorities && rng.chance(45),
        priorities,
        remote: rng.chance(20),
        last: rng.chance(6),
    };
    let mut generator = Generator {
        rng,
        features,
        records: Vec::new(),
        signatures: Vec::new(),
        globals: Vec::new(),
        scopes: Vec::new(),
        inlines: Vec::new(),
        processes: Vec::new(),
        macros: false,
        mtypes: Vec::new(),
        pool: Vec::new(),
        placed: Vec::new(),
        budget: 0,
        fresh: 0,
        in_dstep: false,
        ended: Vec::new(),
    };
    generator.program()
}

impl Generator {
    fn program(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        self.declarations(&mut items);
        for _ in 0..self.rng.below(3) {
            self.inline(&mut items);
        }
        let n_procs = 1 + self.rng.below(3);
        let mut next_pid = 0;
        let with_init = self.rng.chance(40);
        for _ in 0..n_procs {
            let active =
                if with_init && self.rng.chance(60) { 0 } else { 1 + self.rng.below(4) / 3 };
            self.process(active, next_pid, &mut items);
            next_pid += active;
        }
        if with_init || next_pid == 0 {
            self.init(&mut items);
        }
        items
    }

    /// A statement's line, with a semicolon or, sometimes, only the line's end.
    fn line(&mut self, text: impl Into<String>) -> Item {
        let text: String = text.into();
        // Spin adds no semicolon behind '>'.
        let written = text.ends_with('>') || self.rng.chance(75);
        let separator = if written { ";" } else { "" };
        Item::Line(format!("{text}{separator}"))
    }

    fn close(&mut self, close: &str) -> String {
        let separator = if self.rng.chance(75) { ";" } else { "" };
        format!("{close}{separator}")
    }

    fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    fn inline(&mut self, items: &mut Vec<Item>) {
        let name = self.name("inl");
        let n_params = self.rng.below(3);
        let params: Vec<String> = (0..n_params).map(|i| format!("par{i}")).collect();
        let vars = params.iter().map(|name| Var {
            name: name.clone(),
            ty: Ty::Byte,
            len: None,
            hidden: false,
        });
        self.scopes = vec![vars.collect()];
        self.budget = 2 + self.rng.below(4);
        let place = Place { depth: 2, inline: true, ..Place::default() };
        let body = self.sequence(place, 1, false);
        items.push(Item::block(&format!("inline {name}({}) {{", params.join(", ")), body, "}"));
        self.inlines.push(Inline { name, n_params });
    }

    fn process(&mut self, active: usize, pid: usize, items: &mut Vec<Item>) {
        let name = format!("P{}", self.processes.len());
        self.scopes = vec![Vec::new()];
        let params: Vec<Var> = if active > 0 { Vec::new() } else { self.params() };
        let keyword = if self.rng.chance(2) { "D_proctype" } else { "proctype" };
        let prefix = match active {
            0 => String::new(),
            1 => "active ".into(),
            n => format!("active [{n}] "),
        };
        let mut open = format!("{prefix}{keyword} {name}({})", self.parameter_list(&params));
        if self.features.priorities && active > 0 && self.rng.chance(40) {
            open.push_str(&format!(" priority {}", 1 + self.rng.below(3)));
        }
        if self.rng.chance(8) {
            self.scopes.clear();
            let clause = self.condition(1);
            open.push_str(&format!(" provided ({clause})"));
        }
        self.scopes = vec![params.clone()];
        let (body, locals) = self.body();
        items.push(Item::block(&format!("{open} {{"), body, "}"));
        let params = params.into_iter().map(|p| p.ty).collect();
        let labels = std::mem::take(&mut self.placed);
        self.processes.push(Process { name, params, active, pid, labels, locals });
    }

    /// The body of a process type and the names of its first scalars.
    fn body(&mut self) -> (Vec<Item>, Vec<String>) {
        let names = ["L0", "L1", "end0", "progress0", "accept0", "end"];
        self.pool = (0..1 + self.rng.below(3)).map(|_| self.rng.pick(&names).to_string()).collect();
        self.placed.clear();
        self.ended.clear();
        self.budget = 4 + self.rng.below(9);
        let mut body = Vec::new();
        for _ in 0..self.rng.below(3) {
            body.push(self.local(true));
        }
        let scalar = |v: &&Var| v.ty.is_scalar() && v.len.is_none();
        let locals = self.scopes[0].iter().filter(scalar).map(|v| v.name.clone()).collect();
        let n = 2 + self.rng.below(4);
        body.extend(self.sequence(Place::default(), n, true));
        for label in self.pool.clone() {
            if !self.placed.contains(&label) {
                let statement = self.simple(Place::default());
                body.push(self.line(format!("{label}: {statement}")));
                self.placed.push(label);
            }
        }
        (body, locals)
    }

    fn init(&mut self, items: &mut Vec<Item>) {
        self.scopes = vec![Vec::new()];
        let mut starts = Vec::new();
        for i in 0..self.processes.len() {
            let idle = self.processes[i].active == 0;
            if idle || self.rng.chance(10) {
                for _ in 0..1 + self.rng.below(4) / 3 {
                    let run = self.run_of(i);
                    starts.push(self.line(run));
                }
            }
        }
        let body = if self.rng.chance(40) && !starts.is_empty() {
            vec![Item::block("atomic {", starts, "};")]
        } else {
            starts
        };
        // Spin wants channels to be created in front of all statements.
        let (rest, _) = self.body();
        let creates = |item: &Item| matches!(item, Item::Line(t) if t.starts_with("chan "));
        let (channels, rest): (Vec<Item>, Vec<Item>) = rest.into_iter().partition(creates);
        let body = channels.into_iter().chain(body).chain(rest).collect();
        items.push(Item::block("init {", body, "}"));
    }

    /// `run P(arguments)`
    fn run_of(&mut self, process: usize) -> String {
        let name = self.processes[process].name.clone();
        let params = self.processes[process].params.clone();
        let args: Vec<String> = params.iter().map(|ty| self.argument(ty)).collect();
        let mut text = format!("run {name}({})", args.join(", "));
        if self.features.priorities && self.rng.chance(40) {
            text.push_str(&format!(" priority {}", 1 + self.rng.below(3)));
        }
        text
    }

    fn argument(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Chan(_) | Ty::Record(_) => self.whole(ty).unwrap_or_else(|| "0".into()),
            _ => self.value(ty),
        }
    }
}
