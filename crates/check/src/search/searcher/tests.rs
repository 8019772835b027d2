use super::*;
use crate::store::{Collector, Layout};
use crate::{Turns, Verdict, check};
use ir::fault::{Fault, FaultKind};
use ir::model::{Flow, Model, Sink, Step};
use ir::source::Span;

/// Four counters, each raised up to `MOST` by a process of its own. The sum
/// must not reach `wrong`.
struct Counters {
    wrong: u8,
}

const MOST: u8 = 9;

impl Model for Counters {
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow {
        sink.successor(&[0; 4], &[])
    }

    fn expand(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        for process in 0..4 {
            if state[process] == MOST {
                continue;
            }
            let mut next = state.to_vec();
            next[process] += 1;
            let step = Step { process: process as u8, ..Step::of(process) };
            if next.iter().sum::<u8>() == self.wrong {
                let message = "too much".to_string();
                let fault = Fault { kind: FaultKind::Assertion, message, span: Span::NONE };
                if sink.fault(fault, &[step]) == Flow::Stop {
                    return Flow::Stop;
                }
            }
            if sink.successor(&next, &[step]) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }
}

fn make() -> Box<dyn Model> {
    Box::new(Counters { wrong: 255 })
}

fn make_wrong() -> Box<dyn Model> {
    Box::new(Counters { wrong: 20 })
}

fn options(bits: u64, seed: u64) -> Options<'static> {
    let storage = Storage::Bitstate { bits, hashes: 3, layout: Layout::Blocked };
    Options { storage, seed, turns: Turns::Random, ..Options::default() }
}

#[test]
fn a_search_does_not_depend_on_those_before_it() {
    let disciplines =
        [Discipline::Dfs, Discipline::Bfs, Discipline::Switches(5), Discipline::Walk(2000)];
    let run = |searcher: &mut Searcher, discipline, bits| {
        let outcome = searcher.search(discipline, &options(bits, 7));
        (outcome.states, outcome.transitions, outcome.depth, outcome.lossy)
    };
    let mut used = Searcher::new(&make, 64 << 20);
    for (bits, discipline) in
        [1 << 12, 1 << 20, 1 << 14].into_iter().zip(disciplines.iter().cycle())
    {
        run(&mut used, *discipline, bits);
        for discipline in disciplines {
            let mut fresh = Searcher::new(&make, 64 << 20);
            let (a, b) = (run(&mut used, discipline, bits), run(&mut fresh, discipline, bits));
            assert_eq!(a, b, "{discipline:?} {bits}");
            assert!(a.0 > 0);
        }
    }
}

#[test]
fn it_finds_what_a_check_finds() {
    let mut searcher = Searcher::new(&make, 64 << 20);
    for discipline in [Discipline::Dfs, Discipline::Bfs, Discipline::Switches(u32::MAX >> 10)] {
        let outcome = searcher.search(discipline, &options(1 << 24, 1));
        assert_eq!((outcome.states, outcome.transitions), (10_000, 36_001), "{discipline:?}");
        assert_eq!(outcome.verdict, Verdict::NoViolationFound);
    }
    let checked = check(&make, &Options { threads: 1, ..options(1 << 12, 5) }).expect("no files");
    let searched = searcher.search(Discipline::Dfs, &options(1 << 12, 5));
    assert_eq!(checked.states, searched.states);
    assert!(searched.states < 10_000);
}

#[test]
fn states_on_a_pile_are_searched_like_others() {
    let makers: [&Maker; 2] = [&make, &make_wrong];
    let turns = [Turns::Forward, Turns::Reverse, Turns::Rotated, Turns::Random];
    for (make, turns, bits, max_violations) in makers.into_iter().flat_map(|make| {
        turns.into_iter().flat_map(move |turns| {
            let sizes = [9, 12, 15].into_iter();
            sizes.flat_map(move |bits| [1, usize::MAX].map(|most| (make, turns, 1 << bits, most)))
        })
    }) {
        let mut searcher = Searcher::new(make, 64 << 20);
        let mut search = |depth| {
            let collector = Collector::new(1 << 20);
            let options = options(bits, 11);
            let options = Options { collector: Some(&collector), max_violations, ..options };
            let outcome = searcher.search(Discipline::Dfs, &Options { depth, turns, ..options });
            let Outcome { states, transitions, depth, lossy, violations, .. } = outcome;
            let ways: Vec<_> = violations.into_iter().map(|found| found.steps).collect();
            let told = (outcome.verdict, outcome.stop, outcome.n_violations);
            (states, transitions, depth, lossy, ways, told, collector.n_states())
        };
        // With a limit on the depth there is no pile.
        assert_eq!(search(None), search(Some(1000)), "{turns:?} {bits}");
    }
}

#[test]
fn what_fits_without_a_pile_is_searched() {
    let mut n_fit = 0;
    for kib in [32, 64, 96, 128, 256, 512, 1024, 2048] {
        let searched = |depth| {
            let options = Options { depth, ..options(1 << 14, 2) };
            let outcome = Searcher::new(&make, kib << 10).search(Discipline::Dfs, &options);
            (outcome.states, outcome.transitions, outcome.stop)
        };
        let without = searched(Some(1000));
        if without.2.is_none() {
            n_fit += 1;
            assert_eq!(searched(None), without, "{kib} KiB");
        }
    }
    assert!((1..8).contains(&n_fit), "{n_fit}");
}

#[test]
fn fewer_switches_reach_fewer_states() {
    let mut searcher = Searcher::new(&make, 64 << 20);
    let mut states =
        |limit| searcher.search(Discipline::Switches(limit), &options(1 << 24, 1)).states;
    // Without a switch only one counter is ever raised.
    assert_eq!(states(0), 1 + 4 * MOST as u64);
    assert!(states(1) > states(0) && states(3) > states(1));
}

#[test]
fn walks_end_and_count_each_state_once() {
    let collector = Collector::new(1 << 20);
    let mut searcher = Searcher::new(&make, 64 << 20);
    let options = Options { collector: Some(&collector), ..options(1 << 24, 1) };
    let outcome = searcher.search(Discipline::Walk(50_000), &options);
    assert_eq!(outcome.states, collector.n_states());
    assert!(outcome.states > 1_000 && outcome.depth == 36, "{outcome:?}");
}

#[test]
fn all_disciplines_find_the_way_to_a_violation() {
    let mut searcher = Searcher::new(&make_wrong, 64 << 20);
    for discipline in
        [Discipline::Dfs, Discipline::Bfs, Discipline::Switches(9), Discipline::Walk(1000)]
    {
        let outcome = searcher.search(discipline, &options(1 << 16, 3));
        assert_eq!(outcome.verdict, Verdict::Violation, "{discipline:?}");
        assert_eq!(outcome.violations[0].steps.len(), 20, "{discipline:?}");
    }
}
