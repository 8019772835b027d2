//! A search from its beginning, or a checkpoint, to its end: it pauses when
//! states are to be folded, a checkpoint is due or memory is full, and goes on.

use super::checkpoint::{Checkpoint, resume};
use super::provide::provide_meanwhile;
use super::run::{Event, Run};
use super::stack::Stack;
use super::worker::Worker;
use super::{Compress, Hashing, Maker, Options, Order, Storage, bfs, dfs, strict};
use crate::crc::Crc;
use crate::files::{Error, Files, Trouble};
use crate::memory::Budget;
use crate::outcome::{Saved, Stop};
use crate::store::{
    Aim, Bitstate, Compact, ExactStore, Filter, Fingerprints, Full, LossyStore, Name, PackedStore,
    SlabDesk, Store, TreeStore,
};
use ir::fault::Fault;
use ir::model::{Flow, Sink, Step};
use std::sync::Arc;

/// Which bits vary is known sooner than where to cut a tree.
const EARLIER: u64 = 4;
/// Ways are kept from so many times as many states on: until then they are soon
/// found once more.
const WAYS_LATER: u64 = 64;
/// With so many times as many states it takes long to pack them anew: if some do not
/// fit, those that are packed for speed are kept in full again.
const LATE: u64 = 8;
/// Bytes that the exact store takes for a state besides its own, with the table.
const OTHER_BYTES: u64 = 56;
/// Waiting states are worth going to disk if they take this part of the memory.
const WORTH_SPILLING: u64 = 32;

/// The states that were seen.
pub(super) enum Kept<'a> {
    Exact(ExactStore),
    Packed(Box<PackedStore>),
    Tree(Box<TreeStore>),
    /// Before they are many.
    Fingerprints(LossyStore<'a, Fingerprints>),
    Bitstate(LossyStore<'a, Bitstate>),
    Compact(LossyStore<'a, Compact>),
    /// There was no room for a store, or none to fold it.
    Nothing,
}

impl Kept<'_> {
    pub fn bytes(&self, run: &Run) -> u64 {
        match self {
            Kept::Exact(store) => store.bytes(),
            Kept::Packed(store) => store.bytes(),
            Kept::Tree(store) => store.bytes(),
            Kept::Fingerprints(store) => store.bytes(),
            Kept::Bitstate(store) => store.bytes(),
            Kept::Compact(store) => store.bytes(),
            Kept::Nothing => run.budget.used(),
        }
    }
}

pub(super) struct Job<'a> {
    kept: Kept<'a>,
    /// States that wait: see `dfs::search` and `bfs::search`.
    frontier: Vec<Stack>,
    compress: Compress,
    /// States are kept in full until there are some, and packed then.
    packs_soon: bool,
    /// What a bitstate search goes on with if its states cannot be packed, or are too
    /// many for that. Until then it loses none.
    later: Option<LossyStore<'a, Fingerprints>>,
    checkpoint: Option<Checkpoint>,
}

impl<'a> Job<'a> {
    /// Finds the initial states, or reads where a checkpoint has left off.
    pub fn new(make: &Maker, run: &mut Run<'a>) -> Result<Job<'a>, Error> {
        let on_disk = |f: &Files| f.checkpoint.is_some() || f.resume.is_some() || f.spill.is_some();
        if run.options.storage != Storage::Exact && run.options.files.is_some_and(on_disk) {
            return Err(Error::LossyStore);
        }
        let hidden = make().hidden();
        if hidden > 0 && is_strict(run) {
            return Err(Error::Hidden);
        }
        let checkpoint = Checkpoint::new(run.options, hidden)?;
        let (kept, later, frontier) = match run.options.files.and_then(|f| f.resume.as_deref()) {
            Some(file) => {
                let (kept, frontier) = resume(file, run, hidden)?;
                (kept, None, frontier)
            }
            None => begin(make, run, hidden),
        };
        let compress = compression(run, hidden);
        Ok(Job { kept, frontier, compress, packs_soon: false, later, checkpoint })
    }

    /// Searches until all is seen or a limit is met.
    pub fn explore(&mut self, make: &Maker, run: &Run) {
        // Stopped before all initial states were there, nothing can go on.
        if run.is_stopped() {
            return;
        }
        self.plan_ahead(run);
        if !self.packs_soon {
            // There are too many initial states for that.
            self.lose(run, false);
        }
        if let Some(checkpoint) = &self.checkpoint {
            run.checkpoint_in(checkpoint.every());
        }
        loop {
            self.search(make, run);
            let is_few = matches!(self.kept, Kept::Fingerprints(_));
            match run.event() {
                Event::Enough | Event::Full if is_few => self.pour(run),
                Event::Enough if self.is_packed() && self.later.is_some() => self.lose(run, true),
                Event::Enough => self.fold(run),
                Event::Checkpoint => self.save(run),
                Event::Full if self.has_misfits() => {
                    if !self.widen(run) {
                        break;
                    }
                }
                Event::Full if self.later.is_some() => self.lose(run, true),
                Event::Full if self.can_fold() => {
                    // If it cannot be folded it can go on elsewhere.
                    self.save(run);
                    self.fold(run);
                }
                Event::Full if self.can_spill(run) => self.spill(run),
                Event::Full | Event::End => break,
            }
            if matches!(self.kept, Kept::Nothing) {
                return;
            }
            run.go_on();
        }
        let resumable = matches!(
            run.stopped_by(),
            Some(Stop::Time | Stop::Memory | Stop::Interrupt | Stop::Disk)
        );
        if resumable {
            self.save(run);
        } else if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.forget();
        }
    }

    pub fn saved(&mut self) -> Option<Saved> {
        self.checkpoint.take().map(Checkpoint::saved)
    }

    /// The store alone: nothing waits any more.
    pub fn kept(self) -> Kept<'a> {
        self.kept
    }

    /// If states are kept in full.
    pub fn exact(&self) -> Option<&ExactStore> {
        match &self.kept {
            Kept::Exact(store) => Some(store),
            _ => None,
        }
    }

    pub fn search(&mut self, make: &Maker, run: &Run) {
        fn explore<S: Store>(make: &Maker, run: &Run, store: &S, frontier: &mut Vec<Stack>) {
            match run.options.order {
                Order::Dfs => dfs::search(make, run, store, frontier),
                Order::Bfs => bfs::search(make, run, store, frontier),
            }
        }
        fn search<S: Store>(make: &Maker, run: &Run, store: &S, frontier: &mut Vec<Stack>) {
            let threads = run.options.threads;
            provide_meanwhile(threads, || store.provide(), || explore(make, run, store, frontier));
        }
        let threads = run.options.threads;
        match &self.kept {
            // Memory that is given up soon is not worth a thread, and who compiles has
            // need of the core.
            Kept::Exact(store) if self.packs_soon => explore(make, run, store, &mut self.frontier),
            Kept::Exact(store) => search(make, run, store, &mut self.frontier),
            Kept::Packed(store) => {
                let frontier = &mut self.frontier;
                let later = self.later.as_ref().map(|later| &later.filter);
                let provide_arena =
                    |later: &Fingerprints| later.provide_for(store.about(), later.most_packed());
                let provide = || store.provide() || later.is_some_and(provide_arena);
                provide_meanwhile(threads, provide, || explore(make, run, &**store, frontier));
            }
            Kept::Tree(store) => search(make, run, &**store, &mut self.frontier),
            Kept::Bitstate(store) if is_strict(run) => {
                provide_meanwhile(threads, || store.provide(), || strict::search(make, run, store));
            }
            Kept::Compact(store) if is_strict(run) => {
                provide_meanwhile(threads, || store.provide(), || strict::search(make, run, store));
            }
            Kept::Fingerprints(store) => search(make, run, store, &mut self.frontier),
            Kept::Bitstate(store) => search(make, run, store, &mut self.frontier),
            Kept::Compact(store) => search(make, run, store, &mut self.frontier),
            Kept::Nothing => {}
        }
    }

    fn save(&mut self, run: &Run) {
        if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.write(run, &self.kept, &mut self.frontier);
        }
    }

    /// Has the search pause when its states are to be packed, or when it is time to
    /// keep ways.
    fn plan_ahead(&mut self, run: &Run) {
        let fold_after = run.options.fold_after;
        let pack_after = fold_after / EARLIER;
        let packs = match self.compress {
            Compress::On => true,
            Compress::Auto => expects_few_ways(run) && !run.has_states(pack_after),
            Compress::Off => false,
        };
        match &self.kept {
            Kept::Exact(_) if packs => {
                run.pause_at(pack_after);
                self.packs_soon = true;
            }
            Kept::Packed(store) if store.aim() == Aim::Speed && !store.keeps_ways() => {
                // There must be memory to find them once more.
                let most = run.budget.limit() / (2 * (store.state_len() as u64 + OTHER_BYTES));
                let least = match &self.later {
                    Some(later) => later.filter.most_packed(),
                    None => fold_after * WAYS_LATER,
                };
                run.pause_at(most.min(least));
            }
            Kept::Fingerprints(store) => run.pause_at(store.filter.most()),
            _ => {}
        }
    }

    /// Whether there is a way to go on with less memory.
    fn can_fold(&self) -> bool {
        match &self.kept {
            Kept::Exact(_) => self.compress != Compress::Off,
            Kept::Packed(store) => store.aim() == Aim::Speed,
            _ => false,
        }
    }

    fn has_misfits(&self) -> bool {
        matches!(&self.kept, Kept::Packed(store) if store.has_misfits())
    }

    /// Goes on with another store, or in another way: packs the states, or folds
    /// them together if that cannot be done and there are enough of them, or no
    /// memory for more; keeps ways, or forgets them. States are lost if there is no
    /// room for that.
    fn fold(&mut self, run: &Run) {
        let is_short = run.event() == Event::Full;
        let few = !is_short && !run.has_states(run.options.fold_after);
        run.pause_at(u64::MAX);
        self.packs_soon = false;
        // What is lost on the way cannot be written down.
        let is_saved = self.checkpoint.is_some();
        let go_on = || run.limit().filter(|_| !is_saved).map_or(Ok(()), |stop| Err(stop.into()));
        let (budget, frontier) = (&run.budget, &mut self.frontier);
        let mut rename = |name: &mut Name| rename(frontier, run, name);
        let saves_time = self.compress == Compress::Auto && !is_short;
        let aim = if saves_time { Aim::Speed } else { Aim::Memory };
        let folded = match std::mem::replace(&mut self.kept, Kept::Nothing) {
            Kept::Exact(store) => store.pack(aim, budget, &mut rename).and_then(|packed| {
                Ok(match packed {
                    Ok(packed) => Kept::Packed(Box::new(packed)),
                    Err(store) if saves_time => Kept::Exact(store),
                    Err(store) if few => {
                        run.pause_at(run.options.fold_after);
                        Kept::Exact(store)
                    }
                    Err(store) => Kept::Tree(Box::new(store.fold(budget, &mut rename, go_on)?)),
                })
            }),
            Kept::Packed(mut store) => match is_short {
                true => store.shrink(budget, &mut rename),
                false => store.keep_ways(budget, &mut rename),
            }
            .map(|()| Kept::Packed(store)),
            other => Ok(other),
        };
        self.go_on_with(folded, run);
        if self.is_packed() {
            self.plan_ahead(run);
        } else {
            self.lose(run, is_short);
        }
    }

    fn is_packed(&self) -> bool {
        matches!(self.kept, Kept::Packed(_))
    }

    /// If this is a bitstate search that has lost no state so far, it goes on with
    /// fingerprints, or with bits if it has enough of others, or there will soon be too
    /// many.
    fn lose(&mut self, run: &Run, has_enough: bool) {
        let Some(later) = self.later.take() else { return };
        let has_many = has_enough || run.has_states(later.filter.most() / 2);
        run.pause_at(u64::MAX);
        let kept = std::mem::replace(&mut self.kept, Kept::Nothing);
        let kept = hand_over(kept, later, has_many, |name| rename(&mut self.frontier, run, name));
        self.go_on_with(kept, run);
        self.plan_ahead(run);
    }

    /// Makes room for states that did not fit; false, and all is as it was, if
    /// there is no memory for that. If they do not fit in a word at all, states are
    /// kept in full again, or folded together; without memory for that they are lost.
    fn widen(&mut self, run: &Run) -> bool {
        let Kept::Packed(store) = &mut self.kept else { return false };
        let (budget, frontier) = (&run.budget, &mut self.frontier);
        let mut rename = |name: &mut Name| rename(frontier, run, name);
        let saves_time = store.aim() == Aim::Speed;
        let is_late = saves_time && run.has_states(run.options.fold_after * LATE);
        let mut is_wider = if is_late { Ok(false) } else { store.widen(budget, &mut rename) };
        if saves_time && matches!(is_wider, Err(Trouble::Full)) {
            let shrunk = store.shrink(budget, &mut rename);
            is_wider = shrunk.and_then(|()| store.widen(budget, &mut rename));
        }
        if self.later.is_some() && matches!(is_wider, Ok(false) | Err(Trouble::Full)) {
            self.lose(run, is_wider.is_err());
            return true;
        }
        let kept = match is_wider {
            Ok(true) => return true,
            Ok(false) => unpack_or_fold(store, budget, &mut rename),
            Err(Trouble::Full) => return false,
            Err(trouble) => Err(trouble),
        };
        // They are not packed again.
        run.pause_at(u64::MAX);
        self.kept = Kept::Nothing;
        self.go_on_with(kept, run);
        true
    }

    fn go_on_with(&mut self, kept: Result<Kept<'a>, Trouble>, run: &Run) {
        match kept {
            Ok(kept) => self.kept = kept,
            Err(trouble) => {
                run.go_on();
                run.trouble(trouble);
            }
        }
    }

    /// Sets the bits of all states that were kept as fingerprints.
    fn pour(&mut self, run: &Run) {
        run.pause_at(u64::MAX);
        self.kept = match std::mem::replace(&mut self.kept, Kept::Nothing) {
            Kept::Fingerprints(store) => Kept::Bitstate(store.pour()),
            other => other,
        };
    }

    fn can_spill(&self, run: &Run) -> bool {
        let memory: u64 = self.frontier.iter().map(Stack::memory).sum();
        run.space.spill.is_some() && memory >= run.budget.limit() / WORTH_SPILLING
    }

    /// Moves what waits to disk, so that the store has room.
    fn spill(&mut self, run: &Run) {
        run.space.tighten();
        let spilled: Result<(), Trouble> = self.frontier.iter_mut().try_for_each(Stack::spill_all);
        if let Err(trouble) = spilled {
            run.go_on();
            run.trouble(trouble);
        }
    }
}

/// Has a lossy store take over states that were kept without loss: their bits are set if
/// there are many.
fn hand_over<'a>(
    kept: Kept<'a>,
    later: LossyStore<'a, Fingerprints>,
    has_many: bool,
    rename: impl FnOnce(&mut Name) -> Result<(), Trouble>,
) -> Result<Kept<'a>, Trouble> {
    let (mut desk, mut space) = (SlabDesk::default(), Vec::new());
    let mut keep = |state: &[u8]| later.keep_state(state, None, &mut desk).ok_or(Full);
    match kept {
        Kept::Packed(store) => {
            rename(&mut |token| keep(store.state(token, &mut space)))?;
            if has_many {
                return Ok(Kept::Bitstate(later.pour_packed(&store)));
            }
            store.parts(|state| later.take_over(state)).flatten().collect::<Result<(), _>>()?;
        }
        Kept::Exact(store) => {
            rename(&mut |token| keep(store.state(token)))?;
            store.states().try_for_each(|state| later.take_over(state))?;
        }
        other => return Ok(other),
    }
    Ok(Kept::Fingerprints(later))
}

/// Keeps the states of a packed store in full again, if it is for speed and there is
/// memory; else folds them together.
fn unpack_or_fold<'a>(
    store: &mut PackedStore,
    budget: &Arc<Budget>,
    mut rename: impl FnMut(&mut Name) -> Result<(), Trouble>,
) -> Result<Kept<'a>, Trouble> {
    if store.aim() == Aim::Speed {
        match store.unpack(budget, &mut rename) {
            Err(Trouble::Full) => store.shrink(budget, &mut rename)?,
            unpacked => return unpacked.map(Kept::Exact),
        }
    }
    store.fold(budget, rename).map(|tree| Kept::Tree(Box::new(tree)))
}

/// Names all states anew that wait, or from which violations were met.
fn rename(frontier: &mut [Stack], run: &Run, name: &mut Name) -> Result<(), Trouble> {
    run.rename_found(name)?;
    frontier.iter_mut().try_for_each(|stack| stack.rename(name))
}

/// The ways to many violations would take long to be found once more, and who wants the
/// nearest one expects one.
fn expects_few_ways(run: &Run) -> bool {
    run.options.max_violations <= 1 && run.options.order == Order::Dfs
}

/// Bytes that do not count for equality have no place in a tree.
fn compression(run: &Run, hidden: usize) -> Compress {
    if hidden > 0 { Compress::Off } else { run.options.compress }
}

/// What a search begins with: a store, what comes later, and the states that wait.
type Begun<'a> = (Kept<'a>, Option<LossyStore<'a, Fingerprints>>, Vec<Stack>);

/// Makes the store and puts the initial states into it.
fn begin<'a>(make: &Maker, run: &Run<'a>, hidden: usize) -> Begun<'a> {
    let budget = &run.budget;
    let passing = compression(run, hidden) == Compress::On;
    let exact = || {
        let store = ExactStore::new(hidden, passing, budget)?;
        Some((start(make, run, &store), Kept::Exact(store)))
    };
    let mut later = None;
    let begun = match run.options.storage {
        Storage::Exact => exact(),
        Storage::Bitstate { bits, hashes, layout } if begins_with_fingerprints(bits, run) => {
            Bitstate::new(bits, hashes, layout, budget)
                .and_then(|arena| Fingerprints::before(arena, run.options.threads, budget))
                .and_then(|filter| lossy(filter, run, hidden))
                .and_then(|store| match packs_first(make, run, hidden, &store.filter) {
                    true => {
                        later = Some(store);
                        exact()
                    }
                    false => Some((start(make, run, &store), Kept::Fingerprints(store))),
                })
        }
        Storage::Bitstate { bits, hashes, layout } => Bitstate::new(bits, hashes, layout, budget)
            .and_then(|filter| lossy(filter, run, hidden))
            .map(|store| (start(make, run, &store), Kept::Bitstate(store))),
        Storage::Compact { arena, signature, drop } => Compact::new(arena, signature, drop, budget)
            .and_then(|filter| lossy(filter, run, hidden))
            .map(|store| (start(make, run, &store), Kept::Compact(store))),
    };
    match begun {
        Some((stack, kept)) => (kept, later, vec![stack]),
        None => {
            run.stop(Stop::Memory);
            (Kept::Nothing, None, Vec::new())
        }
    }
}

/// Whether a search that begins with fingerprints packs its states instead, as long as
/// that can be done: there must be memory to find a way once more, or for those that
/// wait when they are poured.
fn packs_first(make: &Maker, run: &Run, hidden: usize, filter: &Fingerprints) -> bool {
    let is_told = run.options.collector.is_some();
    let may_pack = compression(run, hidden) == Compress::Auto && expects_few_ways(run);
    let len = if may_pack && !is_told { first_len(make) } else { return false };
    let needed = filter.most_packed().saturating_mul(2 * (len as u64 + OTHER_BYTES));
    PackedStore::saves_time(len) && run.budget.left() >= needed
}

/// How long the first initial state is.
fn first_len(make: &Maker) -> usize {
    struct First(usize);
    impl Sink for First {
        fn successor(&mut self, state: &[u8], _steps: &[Step]) -> Flow {
            self.0 = state.len();
            Flow::Stop
        }

        fn fault(&mut self, _fault: Fault, _steps: &[Step]) -> Flow {
            Flow::Continue
        }
    }
    let mut first = First(0);
    make().initial(&mut first);
    first.0
}

/// Whether a bitstate search keeps fingerprints as long as there are few states.
fn begins_with_fingerprints(bits: u64, run: &Run) -> bool {
    let Options { store_probability, hashing, .. } = *run.options;
    let plain = hashing == Hashing::Mix && store_probability >= 1.0 && !is_strict(run);
    plain && Fingerprints::are_worth_it(bits, &run.budget)
}

fn lossy<'a, F: Filter>(filter: F, run: &Run<'a>, hidden: usize) -> Option<LossyStore<'a, F>> {
    let Options { seed, store_probability, hashing, .. } = *run.options;
    let mut store = LossyStore::new(filter, hidden, seed, store_probability, &run.budget)?;
    store.collector = run.options.collector;
    if run.options.threads == 1 {
        // A search that begins has one stack, and lossy ones are never resumed.
        store.be_alone();
    }
    store.polynomials = (hashing == Hashing::Crc).then(|| Crc::new(seed));
    Some(store)
}

fn is_strict(run: &Run) -> bool {
    run.options.precision > 0 && run.options.storage != Storage::Exact
}

/// Stores the initial states. A search in strict order does so itself.
fn start<S: Store>(make: &Maker, run: &Run, store: &S) -> Stack {
    if is_strict(run) {
        return Stack::new(&run.space);
    }
    let mut worker = Worker::new(run, make(), store.writer());
    worker.start();
    let mut stack = Stack::new(&run.space);
    if let Err(trouble) = stack.push_all(worker.finds.fresh.drain(..)) {
        run.trouble(trouble);
    }
    run.add_reached(worker.reached());
    stack
}
