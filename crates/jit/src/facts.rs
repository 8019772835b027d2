//! What is known about a system before it runs: which channel an expression
//! means, which processes there are, which locations can be entered.
//!
//! Invariant: everything here holds in all states that can be reached, so
//! code may rely on it without a check.

use crate::diamonds::Diamonds;
use ir::interpret::Waits;
use ir::layout::Layout;
use ir::scalar::Repr;
use ir::system::{
    Action, ChanIdx, Claim, Expr, Frame, Index, Init, LocIdx, Location, Op, Place, Proc, ProcIdx,
    Space, System,
};
use ir::visit::Access;
use ir::visit::look::{Visitor, visit_inits, visit_op};
use std::ops::Range;
use std::sync::Arc;

/// All that is known of a system: see above.
pub struct Facts<'s> {
    pub system: &'s System,
    pub layout: &'s Layout,
    /// No process is started after the initial state, so process `n` is always
    /// of the same type and at the same place. Holds the bytes of all of them.
    pub fixed_len: Option<usize>,
    /// Some channel has no buffer.
    pub rendezvous: bool,
    /// For each channel type the first one that looks the same in a state.
    pub class_of: Vec<ChanIdx>,
    /// For each process type where the numbers of channels are that it claims
    /// for itself; `None` if that is more than a variable.
    pub claims: Option<Vec<Vec<Claimed>>>,
    /// Found when the rest is known.
    pub waits: Arc<Waits>,
    pub diamonds: Arc<Diamonds>,
    globals: Vec<Created>,
    locals: Vec<Vec<Created>>,
}

/// A variable with a channel that a process has claimed for itself.
#[derive(Debug, Clone, Copy)]
pub struct Claimed {
    pub receive: bool,
    /// It is one of the process, or of all.
    pub local: bool,
    /// From the start of the process or of the state.
    pub at: usize,
}

fn claimed(proc: &Proc, layout: &Layout) -> Option<Vec<Claimed>> {
    let variable = |claim: &Claim| {
        let Expr::Load(place) = &claim.chan else { return None };
        let simple = place.indices.is_empty() && place.ty.repr.size() == 1;
        let local = place.space == Space::Local;
        let at = place.offset as usize + if local { layout.locals_at } else { 0 };
        simple.then_some(Claimed { receive: claim.receive, local, at })
    };
    proc.claims.iter().map(variable).collect()
}

/// Channels that one initialiser makes, in variables that hold them for good.
#[derive(Debug)]
struct Created {
    offset: u32,
    stride: u32,
    count: u32,
    chan: ChanIdx,
    /// Number of the first among the channels of its frame.
    first: usize,
    /// The variables may be reset to 0 (where nobody will read them).
    reset: bool,
}

/// A channel, by its number in its frame.
#[derive(Debug)]
pub struct Known<'e> {
    pub space: Space,
    pub chan: ChanIdx,
    pub first: usize,
    /// Counts on from `first`.
    pub index: Option<&'e Index>,
    pub reset: bool,
}

impl<'s> Facts<'s> {
    pub fn new(system: &'s System, layout: &'s Layout) -> Facts<'s> {
        let writes = Writes::of(system);
        let locals = system.procs.iter().zip(&writes.locals);
        let fixed_len = layout.fixed.as_ref().map(|types| {
            let size = |proc: &ProcIdx| layout.procs[proc.idx()].size;
            layout.procs_at + types.iter().map(size).sum::<usize>()
        });
        let mut facts = Facts {
            system,
            layout,
            fixed_len,
            rendezvous: system.chans.iter().any(|c| c.slots == 0),
            class_of: classes(system),
            claims: system.procs.iter().map(|proc| claimed(proc, layout)).collect(),
            waits: Arc::default(),
            diamonds: Arc::default(),
            globals: created(&system.globals, &writes.globals),
            locals: locals.map(|(p, w)| created(&p.frame, w)).collect(),
        };
        facts.waits = Arc::new(facts.find_waits());
        facts.diamonds = Arc::new(Diamonds::new(&facts));
        facts
    }

    /// Priorities concern every step: such models are interpreted.
    pub fn worth_compiling(&self) -> bool {
        !self.system.uses.priority && self.claims.is_some()
    }

    /// The channel that an expression of the process always means.
    pub fn known_channel<'e>(&self, proc: ProcIdx, chan: &'e Expr) -> Option<Known<'e>> {
        let place = match chan {
            Expr::Const(number) => {
                let first = usize::try_from(number - 1).ok()?;
                let chan = self.layout.global_queues.get(first)?.chan;
                let (space, index, reset) = (Space::Global, None, false);
                return Some(Known { space, chan, first, index, reset });
            }
            Expr::Load(place) => place,
            _ => return None,
        };
        let frame = match place.space {
            Space::Global => &self.globals,
            Space::Local => &self.locals[proc.idx()],
        };
        let created = frame.iter().find(|c| c.bytes().contains(&place.offset))?;
        let distance = place.offset - created.offset;
        let nth = distance / created.stride.max(1);
        let (index, most) = match &place.indices[..] {
            [] => (None, 1),
            [index] if index.stride == created.stride => (Some(index), index.bound),
            _ => return None,
        };
        let fits = nth * created.stride == distance
            && nth + most <= created.count
            && place.ty.repr.size() == 1;
        let first = created.first + nth as usize;
        let Created { chan, reset, .. } = *created;
        fits.then_some(Known { space: place.space, chan, first, index, reset })
    }

    /// Who may take messages of rendezvous.
    fn find_waits(&self) -> Waits {
        let first =
            |action: &Action| action.ops.first().map_or(0, |op| self.op_waits(action.proc, op));
        let by_action: Vec<u64> = match self.rendezvous {
            true => self.system.actions.iter().map(first).collect(),
            false => vec![0; self.system.actions.len()],
        };
        let channels = |proc: &Proc| {
            let evaluated = proc.provided.is_some() || self.system.uses.priority;
            let bits = |loc: &Location| match evaluated && self.rendezvous {
                true => u64::MAX,
                false => loc.actions.iter().fold(0, |bits, action| bits | by_action[action.idx()]),
            };
            proc.locations.iter().map(bits).collect()
        };
        let only_takes = |(action, bits): (&Action, &u64)| {
            bits.is_power_of_two() && matches!(action.ops[..], [Op::Receive(_), ..])
        };
        Waits {
            channels: self.system.procs.iter().map(channels).collect(),
            only_takes: self.system.actions.iter().zip(&by_action).map(only_takes).collect(),
        }
    }

    fn op_waits(&self, proc: ProcIdx, op: &Op) -> u64 {
        match op {
            Op::Receive(receive) => {
                let known = self.known_channel(proc, &receive.chan);
                let Some(known) = known.filter(|k| !k.reset && k.index.is_none()) else {
                    return u64::MAX;
                };
                match (self.system.chans[known.chan.idx()].slots, known.space) {
                    // To keep the message is a fault, whichever channel it is.
                    (0, Space::Global) if !receive.keep => 1 << (known.first % 64),
                    (0, _) => u64::MAX,
                    _ => 0,
                }
            }
            Op::Cond(Expr::Run { .. }) => u64::MAX,
            Op::Block(block) => {
                block.guards.iter().fold(0, |bits, g| bits | self.op_waits(proc, g))
            }
            _ => 0,
        }
    }

    /// For each location whether a path leads there.
    pub fn reachable(&self, proc: ProcIdx) -> Vec<bool> {
        let proc = self.system.proc(proc);
        let mut reachable = vec![false; proc.locations.len()];
        let mut todo = vec![proc.initial];
        while let Some(LocIdx(at)) = todo.pop() {
            if std::mem::replace(&mut reachable[at as usize], true) {
                continue;
            }
            let actions = proc.locations[at as usize].actions.iter();
            todo.extend(actions.filter_map(|a| self.system.action(*a).target));
        }
        reachable
    }
}

impl Created {
    fn bytes(&self) -> Range<u32> {
        self.offset..self.offset + (self.count.max(1) - 1) * self.stride + 1
    }
}

/// The channels of a frame that stay in the variables they were made for.
fn created(frame: &Frame, writes: &[Write]) -> Vec<Created> {
    let mut all = Vec::new();
    let mut first = 0;
    for init in &frame.init {
        if let Init::Channels { offset, stride, count, chan } = *init {
            all.push(Created { offset, stride, count, chan, first, reset: false });
            first += count as usize;
        }
    }
    let overlap = |a: &Range<u32>, b: &Range<u32>| a.start < b.end && b.start < a.end;
    let ranges: Vec<Range<u32>> = all.iter().map(Created::bytes).collect();
    let alone = |c: &Created| ranges.iter().filter(|r| overlap(r, &c.bytes())).count() == 1;
    all.retain(|c| alone(c) && c.count > 0);
    all.retain_mut(|created| {
        let bytes = created.bytes();
        let mut touching = writes.iter().filter(|w| overlap(&w.bytes, &bytes));
        created.reset = touching.clone().next().is_some();
        touching.all(|w| w.zero)
    });
    all
}

fn classes(system: &System) -> Vec<ChanIdx> {
    let form =
        |c: &ir::system::Chan| (c.slots, c.fields.iter().map(|f| f.repr).collect::<Vec<Repr>>());
    let first = |c: &ir::system::Chan| system.chans.iter().position(|d| form(c) == form(d));
    system.chans.iter().map(|c| ChanIdx(first(c).unwrap_or(0) as u32)).collect()
}

/// Bytes of a frame that something writes to.
#[derive(Clone)]
struct Write {
    bytes: Range<u32>,
    /// It writes 0, nothing else.
    zero: bool,
}

#[derive(Default)]
struct Writes {
    globals: Vec<Write>,
    locals: Vec<Vec<Write>>,
    /// The process type whose operations are visited.
    proc: usize,
    zero: bool,
}

impl Writes {
    fn of(system: &System) -> Writes {
        let mut writes = Writes { locals: vec![Vec::new(); system.procs.len()], ..Self::default() };
        writes.inits(&system.globals.init);
        for (i, proc) in system.procs.iter().enumerate() {
            writes.proc = i;
            writes.inits(&proc.frame.init);
            proc.params.iter().for_each(|p| writes.place(p, Access::Write));
        }
        for action in &system.actions {
            writes.proc = action.proc.idx();
            for op in &action.ops {
                writes.zero = matches!(op, Op::Assign(_, Expr::Const(0)));
                visit_op(op, &mut writes);
                writes.zero = false;
            }
        }
        writes
    }

    fn inits(&mut self, inits: &[Init]) {
        for init in inits {
            self.zero = matches!(init, Init::Assign(_, Expr::Const(0)));
            visit_inits(std::slice::from_ref(init), self);
            self.zero = false;
        }
    }
}

impl Visitor for Writes {
    fn place(&mut self, place: &Place, access: Access) {
        if access != Access::Write {
            return;
        }
        let reach: u32 =
            place.indices.iter().map(|i| i.bound.max(1).saturating_sub(1) * i.stride).sum();
        let bytes = place.offset..place.offset + reach + place.ty.repr.size();
        let frame = match place.space {
            Space::Global => &mut self.globals,
            Space::Local => &mut self.locals[self.proc],
        };
        frame.push(Write { bytes, zero: self.zero });
    }
}
