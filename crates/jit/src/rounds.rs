//! The function that makes the round of all processes, for each state of a bundle:
//! `try_each` as native code, for states that have the same processes at the same
//! places, so that everything about a process is a constant. A state that has
//! others, or where anything but moves come up, is left to the caller.

use crate::code::Code;
use crate::runtime::{Context, Entry, GaveUp, MOVED, NOT_TRIED, Process, UNWIND};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, InstBuilder, MemFlags, SigRef, Signature, Type, Value,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use ir::model::Found;
use std::mem::offset_of;

/// Expands states of a bundle of so many, from a number on. Returns the number of
/// the one that is left to the caller; `Context::status` says what became of it.
pub type RoundsFn = unsafe extern "C" fn(*mut Context, *const Found<'_>, usize, usize) -> usize;

/// States with more processes are left as they are. The function for a kind is made
/// while the search waits, so there are fewer.
const MOST_PROCESSES: usize = 64;
const MOST_OF_A_KIND: usize = 32;

/// What there is to know.
pub struct Rounds {
    processes: Vec<Constants>,
    len: usize,
    count_at: usize,
    wide_locations: bool,
    /// Addresses of the tables of `Waits`, if there are rendezvous, and of masks
    /// by class, if anything may be left out.
    waits: Option<usize>,
    masks: Option<usize>,
}

/// A process, as in `Process`; `moves` is an address.
struct Constants {
    at: usize,
    locations: usize,
    table: usize,
    moves: usize,
    /// Its type, and where that is in a state, if it is not the same in all.
    ty: Option<(usize, u32)>,
}

impl Rounds {
    /// For states with all processes, if none is ever started. `None` if there is no
    /// such function.
    pub fn of(code: &Code) -> Option<Rounds> {
        let fixed = code.fixed.as_ref().filter(|fixed| fixed.procs.len() <= MOST_PROCESSES)?;
        Rounds::of_states(code, &fixed.procs, fixed.sizes.last()?.len)
    }

    /// For states of a kind: of this length, with these processes.
    pub fn of_kind(code: &Code, procs: &[Process], len: usize) -> Option<Rounds> {
        if procs.len() > MOST_OF_A_KIND {
            return None;
        }
        Rounds::of_states(code, procs, len)
    }

    fn of_states(code: &Code, procs: &[Process], len: usize) -> Option<Rounds> {
        if !has_pointer_first(&[1, 2, 3]) {
            return None;
        }
        let varies = code.fixed.is_none();
        let type_at = |process: &Process| process.at as usize + code.layout.type_at;
        let constants = |process: &Process| Constants {
            at: process.at as usize,
            locations: process.locations as usize,
            table: process.table as usize,
            moves: process.moves.addr(),
            ty: varies.then(|| (type_at(process), process.proc)),
        };
        let waits = code.functions.tables.waits.as_ptr().addr();
        Some(Rounds {
            processes: procs.iter().map(constants).collect(),
            len,
            count_at: code.layout.count_at,
            wide_locations: code.layout.wide_locations,
            waits: code.rendezvous.then_some(waits),
            masks: code.may_leave_out().then(|| code.functions.masks.address()),
        })
    }
}

/// Whether slices are what native code takes them for.
fn has_pointer_first(slice: &[u8]) -> bool {
    // SAFETY: a slice is a pointer and a length, and both are numbers.
    let [first, second] = unsafe { std::mem::transmute::<&[u8], [usize; 2]>(slice) };
    first == slice.as_ptr().addr() && second == slice.len()
}

pub fn signature(call_conv: CallConv) -> Signature {
    let mut signature = Signature::new(call_conv);
    signature.params.extend([AbiParam::new(I64); 4]);
    signature.returns.push(AbiParam::new(I64));
    signature
}

struct Emitter<'a, 'r> {
    b: FunctionBuilder<'a>,
    rounds: &'r Rounds,
    /// That of functions of locations.
    location: SigRef,
    context: Value,
    state: Value,
    next_frame: Value,
    number: Value,
}

/// Fills the function of `b`.
pub fn emit(mut b: FunctionBuilder, rounds: &Rounds) {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let &[context, bundle, from, n] = b.block_params(entry) else {
        unreachable!("the signature has four parameters")
    };
    let call_conv = b.func.signature.call_conv;
    let location = b.import_signature(crate::emit::signature(call_conv));
    let [next, round, done] = std::array::from_fn(|_| b.create_block());
    let number = b.append_block_param(next, I64);
    b.ins().jump(next, &[from.into()]);
    b.switch_to_block(next);
    let is_end = b.ins().icmp(IntCC::Equal, number, n);
    b.ins().brif(is_end, done, &[], round, &[]);
    b.switch_to_block(done);
    b.ins().return_(&[n]);
    b.switch_to_block(round);
    let offset = b.ins().imul_imm(number, size_of::<Found>() as i64);
    let found = b.ins().iadd(bundle, offset);
    let (state, next_frame) = (context, context);
    let mut emitter = Emitter { b, rounds, location, context, state, next_frame, number };
    emitter.load(found);
    emitter.round(found, next);
    emitter.b.seal_all_blocks();
    emitter.b.finalize();
}

impl Emitter<'_, '_> {
    /// What `Native::load` does for a state with these processes.
    fn load(&mut self, found: Value) {
        let at = offset_of!(Found, state);
        self.state = self.read(I64, found, at);
        let len = self.read(I64, found, at + size_of::<usize>());
        let same_len = self.b.ins().icmp_imm(IntCC::Equal, len, self.rounds.len as i64);
        self.require(same_len);
        let count = self.b.ins().load(I8, flags(), self.state, self.rounds.count_at as i32);
        let n_processes = self.rounds.processes.len() as i64;
        let all_there = self.b.ins().icmp_imm(IntCC::Equal, count, n_processes);
        self.require(all_there);
        self.require_types();
        self.write(self.state, offset_of!(Context, state));
        self.write(self.number, offset_of!(Context, number));
        let head = offset_of!(Found, head);
        let (low, high) = (self.read(I64, found, head), self.read(I64, found, head + 8));
        let low = self.b.ins().bor(low, len);
        self.write(low, offset_of!(Context, head));
        self.write(high, offset_of!(Context, head) + 8);
        self.next_frame = self.read(I64, self.context, offset_of!(Context, next_frame));
    }

    /// All processes are of their types.
    fn require_types(&mut self) {
        let mut others = None;
        for (at, ty) in self.rounds.processes.iter().filter_map(|process| process.ty) {
            let there = self.b.ins().uload8(I32, flags(), self.state, at as i32);
            let other = self.b.ins().bxor_imm(there, ty as i64);
            others = Some(others.map_or(other, |others| self.b.ins().bor(others, other)));
        }
        if let Some(others) = others {
            let none = self.b.ins().icmp_imm(IntCC::Equal, others, 0);
            self.require(none);
        }
    }

    /// The caller does what there is to do, unless the condition holds.
    fn require(&mut self, condition: Value) {
        let [go_on, leave] = std::array::from_fn(|_| self.b.create_block());
        self.b.set_cold_block(leave);
        self.b.ins().brif(condition, go_on, &[], leave, &[]);
        self.b.switch_to_block(leave);
        let status = self.b.ins().iconst(I32, NOT_TRIED as i64);
        self.leave(status);
        self.b.switch_to_block(go_on);
    }

    /// Leaves the state to the caller.
    fn leave(&mut self, status: Value) {
        self.write(status, offset_of!(Context, status));
        self.b.ins().return_(&[self.number]);
    }

    /// Tries all processes, youngest first; then goes on in `next`.
    fn round(&mut self, found: Value, next: Block) {
        let rounds = self.rounds;
        let locations: Vec<Value> = rounds.processes.iter().map(|p| self.location(p)).collect();
        self.find_waiting(&locations);
        let masks = rounds.masks.map(|masks| self.masks(found, masks));
        let mut status = self.b.ins().iconst(I32, 0);
        for (pid, process) in rounds.processes.iter().enumerate().rev() {
            let location = locations[pid];
            let n_events = self.read(I64, self.context, offset_of!(Context, n_events));
            match masks {
                // None is older.
                Some(_) if pid == 0 => self.skip_nothing(),
                Some((masks, cause)) => self.set_skips(pid, process, location, masks, cause),
                None => {}
            }
            status = self.call(pid, process, location, status, n_events);
        }
        let out = self.read(I64, self.context, offset_of!(Context, out));
        let full = self.read(I64, self.context, offset_of!(Context, full));
        let is_full = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, out, full);
        let has_moved = self.b.ins().icmp_imm(IntCC::Equal, status, MOVED as i64);
        let goes_on = self.b.ins().band_not(has_moved, is_full);
        let [go_on, leave] = std::array::from_fn(|_| self.b.create_block());
        self.b.ins().brif(goes_on, go_on, &[], leave, &[]);
        self.b.switch_to_block(leave);
        self.leave(status);
        self.b.switch_to_block(go_on);
        let number = self.b.ins().iadd_imm(self.number, 1);
        self.b.ins().jump(next, &[number.into()]);
    }

    /// Where a process is.
    fn location(&mut self, process: &Constants) -> Value {
        let (at, flags) = (process.at as i32, flags());
        let location = match self.rounds.wide_locations {
            true => self.b.ins().uload16(I64, flags, self.state, at),
            false => self.b.ins().uload8(I64, flags, self.state, at),
        };
        let (most, less) = (process.locations as i64, IntCC::UnsignedLessThan);
        let exists = self.b.ins().icmp_imm(less, location, most);
        self.require(exists);
        location
    }

    /// Which rendezvous channels are waited at.
    fn find_waiting(&mut self, locations: &[Value]) {
        let Some(waits) = self.rounds.waits else { return };
        let mut waiting = self.b.ins().iconst(I64, 0);
        for (process, location) in self.rounds.processes.iter().zip(locations) {
            let its = self.element(waits + process.table * size_of::<u64>(), *location, 3);
            let its = self.read(I64, its, 0);
            waiting = self.b.ins().bor(waiting, its);
        }
        self.write(waiting, offset_of!(Context, waiting));
    }

    /// The address of an element of a table, of so many bytes as a power of two.
    fn element(&mut self, table: usize, number: Value, log_size: i64) -> Value {
        let table = self.b.ins().iconst(I64, table as i64);
        let offset = self.b.ins().ishl_imm(number, log_size);
        self.b.ins().iadd(table, offset)
    }

    /// The masks of the state's cause, and the process that has led to it.
    fn masks(&mut self, found: Value, masks: usize) -> (Value, Value) {
        let cause = offset_of!(Found, cause) as i32;
        let cause = self.b.ins().uload16(I64, flags(), found, cause);
        let class = self.b.ins().ushr_imm(cause, 8);
        let its = self.element(masks, class, 3);
        (self.read(I64, its, 0), self.b.ins().band_imm(cause, 0xFF))
    }

    fn skip_nothing(&mut self) {
        let none = self.b.ins().iconst(I64, 0);
        self.write(none, offset_of!(Context, skips));
    }

    /// Processes younger than the one that has led to the state leave out what
    /// the masks say.
    fn set_skips(
        &mut self,
        pid: usize,
        process: &Constants,
        location: Value,
        masks: Value,
        cause: Value,
    ) {
        let offset = self.b.ins().ishl_imm(location, 1);
        let its = self.b.ins().iadd(masks, offset);
        let mask = self.b.ins().uload16(I64, flags(), its, (process.table * 2) as i32);
        let is_younger = self.b.ins().icmp_imm(IntCC::UnsignedLessThan, cause, pid as i64);
        let none = self.b.ins().iconst(I64, 0);
        let skips = self.b.ins().select(is_younger, mask, none);
        self.write(skips, offset_of!(Context, skips));
    }

    /// Calls the function of a location, if there is one; the status with its own.
    fn call(
        &mut self,
        pid: usize,
        process: &Constants,
        location: Value,
        status: Value,
        n_events: Value,
    ) -> Value {
        let [exists, gave_up, next] = std::array::from_fn(|_| self.b.create_block());
        let after = self.b.append_block_param(next, I32);
        self.b.set_cold_block(gave_up);
        let entry = self.element(process.moves, location, size_of::<Entry>().ilog2() as i64);
        // Acquire at least, as in `Entry::get`.
        let function = self.b.ins().atomic_load(I64, flags(), entry);
        self.b.ins().brif(function, exists, &[], next, &[status.into()]);
        self.b.switch_to_block(exists);
        let at = self.b.ins().iconst(I64, process.at as i64);
        let number = self.b.ins().iconst(I32, pid as i64);
        let queue = self.b.ins().iconst(I32, 0);
        let args = [self.context, self.state, self.next_frame, at, number, queue];
        let call = self.b.ins().call_indirect(self.location, function, &args);
        let its = self.b.inst_results(call)[0];
        let status = self.b.ins().bor(status, its);
        let unwinds = self.b.ins().band_imm(its, UNWIND as i64);
        let args: [BlockArg; 1] = [status.into()];
        self.b.ins().brif(unwinds, gave_up, &[], next, &args);
        self.b.switch_to_block(gave_up);
        let pid = self.b.ins().iconst(I64, pid as i64);
        let at = offset_of!(Context, gave_up);
        self.write(pid, at + offset_of!(GaveUp, pid));
        self.write(n_events, at + offset_of!(GaveUp, n_events));
        self.leave(status);
        self.b.switch_to_block(next);
        after
    }

    fn read(&mut self, ty: Type, base: Value, offset: usize) -> Value {
        self.b.ins().load(ty, flags(), base, offset as i32)
    }

    fn write(&mut self, value: Value, offset: usize) {
        self.b.ins().store(flags(), value, self.context, offset as i32);
    }
}

/// All of it is there and aligned enough.
fn flags() -> MemFlags {
    MemFlags::new().with_notrap()
}
