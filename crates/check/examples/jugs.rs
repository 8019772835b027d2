//! A model of your own, in Rust: two jugs of 3 and 5 litres, and the claim
//! that nobody can measure 4 litres with them.
//!
//! A model hands its successors, as bytes, to a sink; what should not happen
//! is a fault. Everything else (threads, stores, limits, shortest ways) is the
//! same as for Promela: `cargo run --release --example jugs`.

use check::{Options, Order, check};
use ir::fault::Fault;
use ir::model::{Flow, Model, Sink, Step};

struct Jugs;

impl Model for Jugs {
    fn initial(&mut self, sink: &mut dyn Sink) -> Flow {
        sink.successor(&[0, 0], &[])
    }

    fn expand(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let (small, large) = (state[0], state[1]);
        if large == 4 {
            return sink.fault(Fault::assertion("4 litres"), &[]);
        }
        let (left, right) = (small.min(5 - large), large.min(3 - small));
        let moves = [
            [3, large],
            [small, 5],
            [0, large],
            [small, 0],
            [small - left, large + left],
            [small + right, large - right],
        ];
        for (number, next) in moves.iter().enumerate() {
            if sink.successor(next, &[Step::of(number)]) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }
}

const MOVES: [&str; 6] = [
    "fill the small jug",
    "fill the large jug",
    "empty the small jug",
    "empty the large jug",
    "pour the small jug into the large",
    "pour the large jug into the small",
];

fn main() -> Result<(), check::Error> {
    let options = Options { order: Order::Bfs, ..Options::default() };
    let outcome = check(&|| Box::new(Jugs), &options)?;
    println!("{:?} after {} states", outcome.verdict, outcome.states);
    for found in &outcome.violations {
        println!("{} in {} moves:", found.fault.message, found.steps.len());
        found.steps.iter().for_each(|step| println!("  {}", MOVES[step.action.idx()]));
    }
    Ok(())
}
