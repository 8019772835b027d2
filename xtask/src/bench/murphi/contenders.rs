//! Who takes part: Rumur with the flags that are best for it, and ours.

use crate::bench::contenders::{Contender, Graph, Tool, words};

// Names, by which the report finds what it compares.
pub const RUMUR: &str = "rumur";
pub const OURS: &str = "ours";
pub const OURS_TWO: &str = "ours-two";
pub const RUMUR_HEURISTIC: &str = "rumur-heuristic";
pub const RUMUR_EXHAUSTIVE: &str = "rumur-exhaustive";
pub const OURS_CANONICAL: &str = "ours-canonical";
pub const OURS_CANONICAL_TWO: &str = "ours-canonical-two";
pub const OURS_HEURISTIC: &str = "ours-heuristic";

/// Rumur's exhaustive reduction tries all permutations of a state, so it does
/// not end within minutes where scalarsets have many values.
pub const EXHAUSTIVE_SECONDS: u32 = 60;

fn rumur(name: &'static str, about: &'static str, graph: Graph, symmetry: &str) -> Contender {
    let generate = format!(
        "--symmetry-reduction {symmetry} --threads 1 --counterexample-trace off \
         --scalarset-schedules off --deadlock-detection off"
    );
    Contender {
        name,
        about,
        tool: Tool::Rumur,
        graph,
        generate: words(&generate),
        compile: words("-O3 -march=native"),
        search: Vec::new(),
        one_core: false,
        limit: (graph == Graph::Canonical).then_some(EXHAUSTIVE_SECONDS),
    }
}

fn ours(
    name: &'static str,
    about: &'static str,
    graph: Graph,
    symmetry: &str,
    threads: usize,
) -> Contender {
    let search = format!("--symmetry {symmetry} --deadlock off --threads {threads} --json --quiet");
    Contender {
        name,
        about,
        tool: Tool::Supertrace,
        graph,
        generate: Vec::new(),
        compile: Vec::new(),
        search: words(&search),
        one_core: false,
        limit: None,
    }
}

/// All contenders, in the order of their turns.
pub fn all() -> Vec<Contender> {
    use Graph::{Canonical, Full, OursHeuristic, RumurHeuristic};
    vec![
        rumur(RUMUR, "Rumur without symmetry", Full, "off"),
        ours(OURS, "ours without symmetry, one thread", Full, "off", 1),
        ours(OURS_TWO, "ours without symmetry, two threads", Full, "off", 2),
        rumur(RUMUR_HEURISTIC, "Rumur with heuristic symmetry", RumurHeuristic, "heuristic"),
        ours(OURS_CANONICAL, "ours with symmetry, one thread", Canonical, "canonical", 1),
        ours(OURS_CANONICAL_TWO, "ours with symmetry, two threads", Canonical, "canonical", 2),
        ours(
            OURS_HEURISTIC,
            "ours with heuristic symmetry, one thread",
            OursHeuristic,
            "heuristic",
            1,
        ),
        rumur(RUMUR_EXHAUSTIVE, "Rumur with exhaustive symmetry", Canonical, "exhaustive"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_show_every_flag() {
        let all = all();
        let shown = |name| all.iter().find(|c| c.name == name).map(Contender::commands).unwrap();
        assert_eq!(
            shown(RUMUR_EXHAUSTIVE),
            [
                "rumur --symmetry-reduction exhaustive --threads 1 --counterexample-trace off \
                 --scalarset-schedules off --deadlock-detection off --output verifier.c MODEL",
                "cc -O3 -march=native -o verifier verifier.c -lpthread",
                "timeout 60 ./verifier"
            ]
        );
        assert_eq!(
            shown(OURS_TWO),
            ["supertrace check MODEL --symmetry off --deadlock off --threads 2 --json --quiet"]
        );
    }
}
