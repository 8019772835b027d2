//! Random expressions, places and operations of one process.

use crate::random::Random;
use crate::variables::Variable;
use ir::system::{
    Binary, Chan, ChanIdx, Expr, Field, Index, LocIdx, Op, Place, ProcIdx, Receive, Unary, Uses,
};

/// What an operation can refer to.
pub struct Scope<'a> {
    pub chans: &'a [Chan],
    /// Globals and the locals of the process.
    pub variables: &'a [Variable],
    /// Locals of all processes, for remote references.
    pub remote: &'a [Variable],
    pub n_locations: usize,
    /// Parameters of each process type.
    pub params: &'a [usize],
    /// Only narrow variables are changed, so that loops end.
    pub narrow: bool,
    /// Faults are likely; otherwise there are few.
    pub wild: bool,
}

pub struct Generator<'a> {
    pub r: &'a mut Random,
    pub uses: &'a mut Uses,
    pub scope: Scope<'a>,
}

const BINARY: [Binary; 18] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::Div,
    Binary::Rem,
    Binary::And,
    Binary::Or,
    Binary::BitAnd,
    Binary::BitOr,
    Binary::BitXor,
    Binary::Shl,
    Binary::Shr,
    Binary::Eq,
    Binary::Ne,
    Binary::Lt,
    Binary::Le,
    Binary::Gt,
    Binary::Ge,
];

impl Generator<'_> {
    fn constant(&mut self) -> i32 {
        match self.r.below(12) {
            0 => i32::MIN,
            1 => -1,
            2 => 255 + self.r.below(3) as i32,
            3 => self.r.next() as i32,
            _ => self.r.below(5) as i32,
        }
    }

    fn place_of(&mut self, variable: &Variable, depth: usize) -> Place {
        let mut place = Place {
            space: variable.space,
            offset: variable.offset,
            indices: Vec::new(),
            ty: variable.ty.clone(),
        };
        let stride = variable.ty.repr.size();
        if variable.count > 1 {
            let mask = variable.count as i32 - 1;
            let expr = match self.r.below(20) {
                0 if self.scope.wild => self.expr(depth),
                1 if self.scope.wild => Expr::Const(self.constant()),
                2..=6 => Expr::Const(self.r.below(variable.count as usize) as i32),
                _ => binary(Binary::BitAnd, self.expr(depth), Expr::Const(mask)),
            };
            place.indices.push(Index { expr, bound: variable.count, stride });
        }
        place
    }

    /// A variable that holds a number.
    fn place(&mut self, depth: usize) -> Option<Place> {
        let fits = |v: &&Variable| !v.is_chan();
        let all: Vec<&Variable> = self.scope.variables.iter().filter(fits).collect();
        let variable = (*self.r.pick(&all)?).clone();
        Some(self.place_of(&variable, depth))
    }

    fn writable(&mut self, depth: usize) -> Option<Place> {
        let narrow = self.scope.narrow;
        let fits = |v: &&Variable| !v.is_chan() && (!narrow || v.ty.repr.size() == 1);
        let all: Vec<&Variable> = self.scope.variables.iter().filter(fits).collect();
        let variable = (*self.r.pick(&all)?).clone();
        Some(self.place_of(&variable, depth))
    }

    /// An expression for a channel, and its type as far as one can say.
    fn chan(&mut self) -> (Expr, Option<ChanIdx>) {
        let all: Vec<&Variable> = self.scope.variables.iter().filter(|v| v.is_chan()).collect();
        let known: Vec<&Variable> = all.iter().copied().filter(|v| v.chan.is_some()).collect();
        let percent = if self.scope.wild { 85 } else { 98 };
        let from = if self.r.chance(percent) && !known.is_empty() { known } else { all };
        let Some(&variable) = self.r.pick(&from) else { return (Expr::Const(1), None) };
        let (variable, chan) = (variable.clone(), variable.chan);
        let place = self.place_of(&variable, 1);
        (Expr::Load(Box::new(place)), chan)
    }

    pub fn expr(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.r.chance(30) {
            return match self.place(0) {
                Some(place) if self.r.chance(65) => Expr::Load(Box::new(place)),
                _ => Expr::Const(self.constant()),
            };
        }
        match self.r.below(20) {
            0..=9 => self.binary(depth),
            10..=12 => {
                let op = [Unary::Neg, Unary::Not, Unary::BitNot][self.r.below(3)];
                Expr::Unary(op, Box::new(self.expr(depth - 1)))
            }
            13 => Expr::Cond(
                Box::new(self.expr(depth - 1)),
                Box::new(self.expr(depth - 1)),
                Box::new(self.expr(depth - 1)),
            ),
            14..=16 => self.about_channel(),
            _ => self.about_processes(depth),
        }
    }

    fn binary(&mut self, depth: usize) -> Expr {
        let op = BINARY[self.r.below(BINARY.len())];
        let a = self.expr(depth - 1);
        let b = match op {
            Binary::Div | Binary::Rem if self.r.chance(60) => {
                Expr::Const([1, 2, 3, 7, -1, -2, i32::MIN][self.r.below(7)])
            }
            Binary::Div | Binary::Rem if self.r.chance(70) || !self.scope.wild => {
                binary(Binary::BitOr, self.expr(depth - 1), Expr::Const(1))
            }
            _ => self.expr(depth - 1),
        };
        binary(op, a, b)
    }

    fn about_channel(&mut self) -> Expr {
        let chan = Box::new(self.chan().0);
        match self.r.below(6) {
            0 => Expr::Len(chan),
            1 => Expr::Full(chan),
            2 => Expr::Empty(chan),
            3 => Expr::NotFull(chan),
            4 => Expr::NotEmpty(chan),
            _ => self.poll(),
        }
    }

    fn poll(&mut self) -> Expr {
        for _ in 0..4 {
            let (chan, declared) = self.chan();
            let buffered = declared.is_some_and(|c| self.scope.chans[c.idx()].slots > 0);
            if buffered || self.scope.wild {
                return Expr::Poll(Box::new(self.receive(chan, declared, false)));
            }
        }
        Expr::Pid
    }

    fn about_processes(&mut self, depth: usize) -> Expr {
        let pid = Box::new(match self.r.below(3) {
            0 => self.expr(depth - 1),
            _ => Expr::Const(self.r.below(4) as i32),
        });
        match self.r.below(12) {
            0..=1 => Expr::Pid,
            2 => Expr::ProcessCount,
            3 => {
                self.uses.last = true;
                Expr::Last
            }
            4 => {
                self.uses.control = true;
                Expr::At { pid, loc: LocIdx(self.r.below(self.scope.n_locations) as u32) }
            }
            5 => {
                self.uses.control = true;
                Expr::PcValue(pid)
            }
            6 => {
                let proc = self.r.below(self.scope.params.len());
                Expr::TheProcess(ProcIdx(proc as u32))
            }
            7..=9 => match self.r.pick(self.scope.remote).cloned() {
                Some(variable) => {
                    self.uses.control = true;
                    let place = Box::new(self.place_of(&variable, 0));
                    Expr::Remote { pid, place }
                }
                None => Expr::Pid,
            },
            10 => Expr::Priority(pid),
            _ if self.scope.wild && self.r.chance(8) => Expr::NonProgress,
            _ => {
                self.uses.timeout = true;
                Expr::Timeout
            }
        }
    }

    /// An expression that often holds, but not always.
    fn condition(&mut self) -> Expr {
        match self.r.below(8) {
            0 => Expr::Const(1),
            1..=3 => {
                let op = [Binary::Eq, Binary::Ne, Binary::Lt, Binary::Ge][self.r.below(4)];
                let value = self.r.below(3) as i32;
                binary(op, self.expr(1), Expr::Const(value))
            }
            _ => self.expr(3),
        }
    }

    fn receive(&mut self, chan: Expr, declared: Option<ChanIdx>, bind: bool) -> Receive {
        let n = self.n_fields(declared);
        let fields = (0..n).map(|_| self.field(bind)).collect();
        let rendezvous = declared.is_none_or(|c| self.scope.chans[c.idx()].slots == 0);
        let keep = bind && self.r.chance(10) && (self.scope.wild || !rendezvous);
        Receive { chan, random: self.r.chance(35), keep, fields }
    }

    fn n_fields(&mut self, declared: Option<ChanIdx>) -> usize {
        match declared {
            Some(chan) if !self.scope.wild || self.r.chance(97) => {
                self.scope.chans[chan.idx()].fields.len()
            }
            _ => self.r.within(1, 3),
        }
    }

    fn field(&mut self, bind: bool) -> Field {
        let narrow = self.scope.narrow;
        let chans: Vec<&Variable> =
            self.scope.variables.iter().filter(|v| v.is_chan() && v.chan.is_none()).collect();
        match self.r.below(10) {
            0..=2 => Field::Match(self.expr(1)),
            3 => Field::Match(Expr::Const(self.r.below(3) as i32)),
            4..=8 if bind && !narrow => {
                let chan = self.r.pick(&chans).map(|v| (*v).clone());
                match chan {
                    Some(variable) if self.r.chance(15) => Field::Bind(self.place_of(&variable, 0)),
                    _ => self.writable(1).map_or(Field::Any, Field::Bind),
                }
            }
            _ => Field::Any,
        }
    }

    fn send(&mut self) -> Op {
        let (chan, declared) = self.chan();
        let n = self.n_fields(declared);
        let args =
            (0..n).map(|_| if self.r.chance(8) { self.chan().0 } else { self.expr(2) }).collect();
        Op::Send { chan, sorted: self.r.chance(25), args }
    }

    pub fn run(&mut self) -> Expr {
        let proc = self.r.below(self.scope.params.len());
        let n_args = self.scope.params[proc];
        let args = (0..n_args)
            .map(|_| if self.r.chance(60) { self.chan().0 } else { self.expr(1) })
            .collect();
        Expr::Run { proc: ProcIdx(proc as u32), args, priority: 1 }
    }

    pub fn assign(&mut self) -> Op {
        match self.writable(1) {
            Some(place) => Op::Assign(place, self.expr(3)),
            None => Op::Skip,
        }
    }

    /// Any operation but blocks, `else` and the end of a process.
    pub fn op(&mut self) -> Op {
        match self.r.below(40) {
            0 => Op::Skip,
            1..=8 => Op::Cond(self.condition()),
            9..=18 => self.assign(),
            19..=26 => self.send(),
            27..=34 => {
                let (chan, declared) = self.chan();
                Op::Receive(self.receive(chan, declared, true))
            }
            35 if self.scope.wild => Op::Assert(self.condition()),
            35..=37 => {
                let holds = if self.scope.wild { self.r.below(9) as i32 } else { 1 };
                Op::Assert(binary(Binary::Or, self.expr(2), Expr::Const(holds)))
            }
            38 => {
                let args = vec![self.expr(2)];
                Op::Print { format: "%d".into(), args }
            }
            _ => self.rare(),
        }
    }

    fn rare(&mut self) -> Op {
        // Only where it is not asked for by another `enabled`.
        let pid = Box::new(Expr::Const(self.r.below(4) as i32));
        self.uses.control = true;
        let kinds = if self.scope.wild { 6 } else { 30 };
        match (self.r.below(kinds), self.writable(0)) {
            (0, Some(place)) => Op::Assign(place, Expr::Enabled(pid)),
            (1, _) => Op::Assert(Expr::Enabled(pid)),
            _ => Op::Cond(self.condition()),
        }
    }
}

pub fn binary(op: Binary, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}
