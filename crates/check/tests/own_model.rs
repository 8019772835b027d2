//! Anything that implements `Model` can be checked: here, a road with two
//! kinds of steps, by one and by ten, and a hole at its end.

use check::{
    Compress, Found, Layout, Lossy, Options, Order, Outcome, Stop, Storage, Target, Verdict,
};
use ir::fault::{Fault, FaultKind};
use ir::model::{Flow, Model, Sink, Step};
use ir::source::Span;
use ir::system::ActionIdx;
use std::sync::atomic::AtomicBool;

struct Road {
    end: u32,
    /// Bytes that make states larger and otherwise mean nothing.
    ballast: usize,
}

impl Road {
    fn state(&self, at: u32) -> Vec<u8> {
        let mut state = at.to_le_bytes().to_vec();
        state.resize(4 + self.ballast, 7);
        state
    }
}

impl Model for Road {
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow {
        sink.successor(&self.state(0), &[])
    }

    fn expand(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let at = u32::from_le_bytes([state[0], state[1], state[2], state[3]]);
        for (action, by) in [(0, 1), (1, 10)] {
            let steps = [Step { process: 0, action: ActionIdx(action) }];
            let next = at + by;
            let flow = if next == self.end {
                let fault = Fault {
                    kind: FaultKind::Assertion,
                    message: "fell into the hole".into(),
                    span: Span::NONE,
                };
                sink.fault(fault, &steps)
            } else if next < self.end {
                sink.successor(&self.state(next), &steps)
            } else {
                Flow::Continue
            };
            if flow == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }
}

fn road(end: u32, ballast: usize) -> impl Fn() -> Box<dyn Model> + Sync {
    move || Box::new(Road { end, ballast })
}

fn options(order: Order, interrupt: &AtomicBool) -> Options<'_> {
    Options { order, threads: 1, compress: Compress::Off, interrupt, ..Options::default() }
}

fn check(end: u32, ballast: usize, options: &Options) -> Outcome {
    check::check(&road(end, ballast), options).expect("no files are in use")
}

fn search(order: Order, end: u32) -> Outcome {
    let interrupt = AtomicBool::new(false);
    check(end, 0, &options(order, &interrupt))
}

#[test]
fn both_orders_find_the_hole_and_breadth_first_the_nearest_way() {
    let dfs = search(Order::Dfs, 1005);
    assert_eq!(dfs.verdict, Verdict::Violation);
    let way: u32 = dfs.violations[0].steps.iter().map(length).sum();
    assert_eq!(way, 1005, "the steps lead to the hole");
    assert_eq!(dfs.violations[0].steps.len(), dfs.violations[0].depth);
    let bfs = search(Order::Bfs, 1005);
    assert_eq!((bfs.verdict, bfs.violations[0].depth), (Verdict::Violation, 105));
}

/// Two roads from one place. The first has no end, and one that follows it never
/// comes to the hole at the end of the other, which is rough from some place on.
struct Fork {
    end: u32,
    rough_from: u32,
}

impl Model for Fork {
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow {
        sink.successor(&[0; 24], &[])
    }

    fn expand(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let at = u32::from_le_bytes([state[0], state[1], state[2], state[3]]);
        for road in [1, 2] {
            if at > 0 && state[4] != road {
                continue;
            }
            let steps = [Step { process: 0, action: ActionIdx(road.into()) }];
            if road == 2 && at + 1 == self.end {
                return sink.fault(Fault::assertion("fell into the hole"), &steps);
            }
            let mut next = state.to_vec();
            next[..4].copy_from_slice(&(at + 1).to_le_bytes());
            next[4] = road;
            if road == 2 && at >= self.rough_from {
                let ground = |i: usize| (at.wrapping_mul(0x9E37_79B9) >> (i % 24)) as u8;
                next[5..].iter_mut().enumerate().for_each(|(i, byte)| *byte = ground(i));
            }
            if sink.successor(&next, &steps) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }
}

/// Initial states from which nothing leads on.
struct Puddles(u32);

impl Model for Puddles {
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow {
        for number in 0..self.0 {
            let mut state = [7; 60];
            state[..4].copy_from_slice(&number.to_le_bytes());
            if sink.successor(&state, &[]) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }

    fn expand(&mut self, _state: &[u8], _sink: &mut dyn Sink) -> Flow {
        Flow::Continue
    }
}

#[test]
fn a_way_is_whole_whatever_was_kept_of_it() {
    let interrupt = AtomicBool::new(false);
    let compress = Compress::Auto;
    // States are packed from 10 on, and ways are kept again from 5,120 on.
    let mut n_packed = 0;
    for (end, rough_from, depth) in [
        (4, u32::MAX, None),
        (500, u32::MAX, None),
        (500, 200, None),
        (20_000, u32::MAX, None),
        (20_000, 12_000, None),
        (20_000, u32::MAX, Some(30_000)),
    ] {
        let options =
            Options { compress, fold_after: 40, depth, ..options(Order::Dfs, &interrupt) };
        let fork = || Box::new(Fork { end, rough_from }) as Box<dyn Model>;
        let outcome = check::check(&fork, &options).expect("no files are in use");
        n_packed += outcome.compressed as usize;
        assert_eq!(outcome.verdict, Verdict::Violation, "{end} {rough_from}");
        let Found { steps, depth, .. } = &outcome.violations[0];
        assert_eq!((steps.len(), *depth), (end as usize, end as usize));
        assert!(steps.iter().all(|step| step.action.0 == 2), "the way to the hole");
    }
    assert_eq!(n_packed, 3);
}

#[test]
fn counts_agree_when_the_hole_is_ignored() {
    let interrupt = AtomicBool::new(false);
    for order in [Order::Dfs, Order::Bfs] {
        let ignore = vec![FaultKind::Assertion];
        let options = Options { ignore, ..options(order, &interrupt) };
        let outcome = check(1000, 0, &options);
        assert_eq!(outcome.verdict, Verdict::Holds);
        // 0 to 999; all but the last few have two ways on.
        assert_eq!((outcome.states, outcome.transitions), (1000, 1 + 999 + 990));
    }
}

#[test]
fn limits_stop_the_search_with_a_result() {
    let interrupt = AtomicBool::new(false);
    for order in [Order::Dfs, Order::Bfs] {
        let depth = Options { depth: Some(50), ..options(order, &interrupt) };
        let outcome = check(100_000, 0, &depth);
        assert_eq!((outcome.verdict, outcome.stop), (Verdict::Incomplete, Some(Stop::Depth)));
        assert_eq!(outcome.depth, 50);
        let memory = Options { memory: 8 << 20, ..options(order, &interrupt) };
        let outcome = check(100_000, 200, &memory);
        assert_eq!((outcome.verdict, outcome.stop), (Verdict::Incomplete, Some(Stop::Memory)));
        assert!(outcome.memory <= 8 << 20, "{order:?} {}", outcome.memory);
    }
    let set = AtomicBool::new(true);
    let outcome = check(100_000, 0, &options(Order::Dfs, &set));
    assert_eq!((outcome.verdict, outcome.stop), (Verdict::Incomplete, Some(Stop::Interrupt)));
}

#[test]
fn a_bitstate_search_sets_bits_when_there_are_many_states() {
    let interrupt = AtomicBool::new(false);
    let storage = Storage::Bitstate { bits: 1 << 27, hashes: 3, layout: Layout::Blocked };
    let set = |outcome: &Outcome| match outcome.lossy {
        Some(Lossy::Bitstate { set, .. }) => set,
        _ => panic!("another store"),
    };
    for (order, threads) in [(Order::Dfs, 1), (Order::Dfs, 2), (Order::Bfs, 1), (Order::Bfs, 2)] {
        let options = Options { storage, threads, ..options(order, &interrupt) };
        let goes_on = Options { ignore: vec![FaultKind::Assertion], ..options };
        let few = check(1000, 0, &goes_on);
        assert_eq!((few.verdict, few.states), (Verdict::NoViolationFound, 1000));
        assert_eq!(set(&few), None, "fingerprints will do");
        let many = check(300_000, 0, &goes_on);
        assert_eq!(many.verdict, Verdict::NoViolationFound);
        assert!((299_900..300_100).contains(&many.states), "{}", many.states);
        assert!(
            set(&many).is_some_and(|set| (890_000..900_300).contains(&set)),
            "{:?}",
            set(&many)
        );
    }
    // The way leads through states from before and after.
    let options = Options { storage, ..options(Order::Dfs, &interrupt) };
    let found = check(300_000, 0, &options).violations.remove(0);
    assert_eq!(found.steps.iter().map(length).sum::<u32>(), 300_000);
}

#[test]
fn a_bitstate_search_loses_nothing_while_states_can_be_packed() {
    let interrupt = AtomicBool::new(false);
    let storage = Storage::Bitstate { bits: 1 << 27, hashes: 3, layout: Layout::Blocked };
    // Two states a step. Fingerprints end at 262,144 of them, packed states at 699,050.
    for (end, rough_from, sets_bits) in [
        (4, u32::MAX, false),
        (200_000, u32::MAX, false),
        (355_000, u32::MAX, true),
        (100_000, 0, false),
        (100_000, 50_000, false),
        (200_000, 150_000, true),
    ] {
        let compress = Compress::Auto;
        let options = Options { storage, compress, ..options(Order::Dfs, &interrupt) };
        let fork = || Box::new(Fork { end, rough_from }) as Box<dyn Model>;
        let outcome = check::check(&fork, &options).expect("no files are in use");
        let name = format!("{end} {rough_from}");
        assert_eq!(outcome.verdict, Verdict::Violation, "{name}");
        let Some(Lossy::Bitstate { set, .. }) = outcome.lossy else { panic!("{name}") };
        assert_eq!((set.is_some(), outcome.compressed), (sets_bits, false), "{name}");
        let Found { steps, depth, .. } = &outcome.violations[0];
        assert_eq!((steps.len(), *depth), (end as usize, end as usize), "{name}");
        assert!(steps.iter().all(|step| step.action.0 == 2), "{name}");
    }
    // Initial states that are too many to be packed later.
    let many = Options { storage, compress: Compress::Auto, ..options(Order::Dfs, &interrupt) };
    let outcome = check::check(&|| Box::new(Puddles(20_000)), &many).expect("no files are in use");
    assert_eq!((outcome.verdict, outcome.states), (Verdict::NoViolationFound, 20_000));
    assert!(outcome.store_memory < 20_000 * 100, "{}", outcome.store_memory);
    for threads in [1, 2] {
        let compress = Compress::Auto;
        let options = Options { storage, threads, compress, ..options(Order::Dfs, &interrupt) };
        let goes_on = Options { ignore: vec![FaultKind::Assertion], ..options };
        let outcome = check(600_000, 0, &goes_on);
        assert_eq!((outcome.verdict, outcome.states), (Verdict::NoViolationFound, 600_000));
        // The second search, for the way, keeps states in full, and is within the memory.
        let options = Options { ignore: Vec::new(), memory: 200 << 20, ..goes_on };
        let mut outcome = check(800_000, 0, &options);
        assert!((40 << 20..=200 << 20).contains(&outcome.memory), "{}", outcome.memory);
        let found = outcome.violations.remove(0);
        assert_eq!(found.steps.iter().map(length).sum::<u32>(), 800_000);
    }
}

#[test]
fn shortening_is_exact_with_memory_and_takes_shortcuts_without() {
    let interrupt = AtomicBool::new(false);
    let step = |by| Step { process: 0, action: ActionIdx(by) };
    let fault = search(Order::Bfs, 5005).violations.remove(0).fault;
    let found = Found { fault, depth: 5005, steps: vec![step(0); 5005] };
    let road = road(5005, 0);
    let target = Target { kind: FaultKind::Assertion, span: Some(Span::NONE) };
    let shorten = |memory| check::shorten(&road, &found, target, None, memory, 1, &interrupt);
    let best = shorten(1 << 30).expect("shorter");
    assert_eq!(best.depth, 505);
    // Too little memory for a breadth-first search of all states.
    let shorter = shorten(1 << 10).expect("shorter");
    assert!(shorter.depth <= 600, "{}", shorter.depth);
    assert_eq!(shorter.steps.len(), shorter.depth);
    let way: u32 = shorter.steps.iter().map(length).sum();
    assert_eq!(way, 5005, "the steps lead to the hole");
}

fn length(step: &Step) -> u32 {
    if step.action.0 == 0 { 1 } else { 10 }
}
