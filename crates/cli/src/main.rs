use std::sync::atomic::AtomicBool;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let loaded = lang::promela::load(&args[1], text, &[], &lang::promela::preprocess::FileLoader);
    for d in &loaded.diagnostics {
        print!("{}", d.render(&loaded.sources));
    }
    let Some(system) = loaded.system else { std::process::exit(2) };
    let layout = ir::layout::Layout::new(&system);
    let mut m = ir::interpret::Interpreter::new(&system, &layout);
    let full = args.get(2).is_some_and(|a| a == "full" || a == "bfs");
    let int = AtomicBool::new(false);
    let o = check::check(
        &mut m,
        &check::Options {
            order: if args.get(2).is_some_and(|a| a == "bfs") {
                check::Order::Bfs
            } else {
                check::Order::Dfs
            },
            depth: None,
            ignore: if full {
                vec![ir::fault::FaultKind::Assertion, ir::fault::FaultKind::Deadlock]
            } else {
                vec![]
            },
            target: None,
            max_violations: 1,
            memory: 16 << 30,
            time: None,
            interrupt: &int,
            progress: None,
        },
    );
    println!(
        "{} {} {:?} {:?} {:?} depth={} t={:.2}",
        o.states,
        o.transitions,
        o.verdict,
        o.stop,
        o.violations.first().map(|v| (&v.fault.kind, &v.fault.message, v.depth)),
        o.depth,
        o.elapsed.as_secs_f64()
    );
}
