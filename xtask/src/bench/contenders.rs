//! Who takes part: a tool with its flags, and the graph that it searches.
//!
//! A contender is one value of the list below. Another setting of a tool is
//! another value; another tool is a variant of `Tool` with a module that
//! prepares it and reads its report, as `spin.rs` and `ours.rs` do.

use super::{Prepared, machine, models::Model, options::Options, ours, rumur, spin};
use std::path::Path;

// Names, by which the report finds what it compares.
pub const SPIN: &str = "spin";
pub const SPIN_POR: &str = "spin-por";
pub const SPIN_COLLAPSE: &str = "spin-collapse";
pub const OURS: &str = "ours";
pub const OURS_CORE: &str = "ours-core";
pub const OURS_ALL: &str = "ours-all";
pub const OURS_COMPRESS: &str = "ours-compress";
pub const OURS_DEFAULT: &str = "ours-default";
pub const SPIN_BITSTATE: &str = "spin-bitstate";
pub const OURS_BITSTATE: &str = "ours-bitstate";
pub const OURS_BITSTATE_CORE: &str = "ours-bitstate-core";
pub const OURS_BITSTATE_ALL: &str = "ours-bitstate-all";

/// Three bits of 2^30 for each state.
const OURS_ARENA: &str = "--reduce none --store bitstate --hashes 3 --arena 128MiB";
const SPIN_ARENA: &str = "-k3 -w30";

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Tool {
    Spin,
    Rumur,
    Supertrace,
}

/// Contenders of the same graph must count the same states and transitions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Graph {
    /// All interleavings, no reduction.
    Full,
    /// What Spin's partial-order reduction and statement merging leave.
    SpinReduced,
    /// What our `--reduce default` leaves.
    OursReduced,
    /// All interleavings, but some states are missed, each tool's own.
    Sampled,
    /// One state of all that differ only in the names of scalarset values.
    Canonical,
    /// One or more of them: what sorting in Rumur leaves.
    RumurHeuristic,
    /// One or more of them: what ours leaves.
    OursHeuristic,
}

#[derive(Clone, Debug)]
pub struct Contender {
    pub name: &'static str,
    pub about: &'static str,
    pub tool: Tool,
    pub graph: Graph,
    /// Flags of the step from model to code; none if the tool has no such step.
    pub generate: Vec<String>,
    /// Flags of the C compiler; none if the tool needs none.
    pub compile: Vec<String>,
    /// Flags of the search, without those chosen for each model.
    pub search: Vec<String>,
    /// All of it on one core: a search by one thread has others make code and provide
    /// memory meanwhile.
    pub one_core: bool,
    /// Seconds after which the search is ended and does not count.
    pub limit: Option<u32>,
}

pub fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(String::from).collect()
}

fn spin(
    name: &'static str,
    about: &'static str,
    graph: Graph,
    generate: &str,
    compile: &str,
) -> Contender {
    let compile = format!("-O3 -DSAFETY {compile} -DNOFAIR -DVECTORSZ=2048 -DMEMLIM=8000");
    Contender {
        name,
        about,
        tool: Tool::Spin,
        graph,
        generate: words(generate),
        compile: words(&compile),
        search: words("-A -E"),
        one_core: false,
        limit: None,
    }
}

fn supertrace(
    name: &'static str,
    about: &'static str,
    graph: Graph,
    search: impl AsRef<str>,
) -> Contender {
    Contender {
        name,
        about,
        tool: Tool::Supertrace,
        graph,
        generate: Vec::new(),
        compile: Vec::new(),
        search: words(&format!("{} --ignore assert,deadlock --json", search.as_ref())),
        one_core: false,
        limit: None,
    }
}

fn on_one_core(name: &'static str, about: &'static str, contender: &Contender) -> Contender {
    Contender { name, about, one_core: true, ..contender.clone() }
}

/// All contenders, in the order of their turns, on a machine of `cores` cores.
pub fn all(cores: usize) -> Vec<Contender> {
    use Graph::{Full, OursReduced, Sampled, SpinReduced};
    let one_thread = supertrace(OURS, "ours, one thread", Full, "--reduce none --threads 1");
    let one_thread_bitstate = supertrace(
        OURS_BITSTATE,
        "ours, bitstate, one thread",
        Sampled,
        format!("{OURS_ARENA} --threads 1"),
    );
    vec![
        spin(SPIN, "Spin, same graph", Full, "-o1 -o2 -o3 -a", "-DNOREDUCE"),
        one_thread.clone(),
        on_one_core(OURS_CORE, "ours, one thread on one core", &one_thread),
        supertrace(OURS_ALL, "ours, all cores", Full, format!("--reduce none --threads {cores}")),
        spin(
            SPIN_COLLAPSE,
            "Spin with COLLAPSE compression",
            Full,
            "-o1 -o2 -o3 -a",
            "-DNOREDUCE -DCOLLAPSE",
        ),
        supertrace(
            OURS_COMPRESS,
            "ours, compressed, one thread",
            Full,
            "--reduce none --threads 1 --compress on",
        ),
        Contender {
            search: words(&format!("-A -E {SPIN_ARENA}")),
            ..spin(
                SPIN_BITSTATE,
                "Spin with bitstate hashing",
                Sampled,
                "-o1 -o2 -o3 -a",
                "-DNOREDUCE -DBITSTATE",
            )
        },
        one_thread_bitstate.clone(),
        on_one_core(
            OURS_BITSTATE_CORE,
            "ours, bitstate, one thread on one core",
            &one_thread_bitstate,
        ),
        supertrace(
            OURS_BITSTATE_ALL,
            "ours, bitstate, all cores",
            Sampled,
            format!("{OURS_ARENA} --threads {cores}"),
        ),
        spin(SPIN_POR, "Spin with partial-order reduction", SpinReduced, "-a", ""),
        supertrace(OURS_DEFAULT, "ours by default", OursReduced, "--reduce default"),
    ]
}

/// The contenders that were asked for and can run, and why others cannot.
pub fn select(
    options: &Options,
    supertrace: &Path,
    scratch: &Path,
) -> Result<(Vec<Contender>, Vec<String>), String> {
    let all = all(machine::cores());
    if let Some(unknown) = options.only.iter().find(|n| all.iter().all(|c| c.name != n.as_str())) {
        let names: Vec<&str> = all.iter().map(|c| c.name).collect();
        return Err(format!("no contender '{unknown}'; there are {}", names.join(", ")));
    }
    let wanted =
        |c: &Contender| options.only.is_empty() || options.only.iter().any(|n| n == c.name);
    Ok(able(all.into_iter().filter(wanted), supertrace, scratch))
}

/// Those that can run, and why others cannot.
pub fn able(
    contenders: impl Iterator<Item = Contender>,
    supertrace: &Path,
    scratch: &Path,
) -> (Vec<Contender>, Vec<String>) {
    let (mut able, mut skipped) = (Vec::new(), Vec::new());
    for contender in contenders {
        match contender.obstacle(supertrace, scratch) {
            None => able.push(contender),
            Some(obstacle) => skipped.push(format!("contender '{}': {obstacle}", contender.name)),
        }
    }
    (able, skipped)
}

impl Contender {
    /// Why it cannot take part: not installed, or an option it does not know.
    fn obstacle(&self, supertrace: &Path, scratch: &Path) -> Option<String> {
        match self.tool {
            Tool::Spin => spin::obstacle(),
            Tool::Rumur => rumur::obstacle(self),
            Tool::Supertrace => ours::obstacle(supertrace, self, scratch),
        }
    }

    /// Makes what can be run again and again; `dir` is its own directory.
    pub fn prepare(
        &self,
        model: &Model,
        pan: Option<&str>,
        supertrace: &Path,
        dir: &Path,
    ) -> Result<Prepared, String> {
        std::fs::create_dir_all(dir)
            .map_err(|e| format!("cannot make '{}': {e}", dir.display()))?;
        match self.tool {
            Tool::Spin => spin::prepare(self, model, pan, dir),
            Tool::Rumur => rumur::prepare(self, model, dir),
            Tool::Supertrace => Ok(ours::prepare(self, model, supertrace, dir)),
        }
    }

    /// The commands that it stands for, as one would type them.
    pub fn commands(&self) -> Vec<String> {
        match self.tool {
            Tool::Spin => vec![
                format!("spin {} MODEL", self.generate.join(" ")),
                format!("gcc {} -o pan pan.c", self.compile.join(" ")),
                format!("./pan {} {}", self.search.join(" "), spin::sizes_shown(self)),
            ],
            Tool::Rumur => rumur::commands(self),
            Tool::Supertrace => {
                vec![ours::command("supertrace".as_ref(), self, "MODEL".as_ref()).join(" ")]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = all(2).iter().map(|c| c.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all(2).len());
    }

    #[test]
    fn commands_show_every_flag() {
        let all = all(2);
        let shown = |name| all.iter().find(|c| c.name == name).map(Contender::commands).unwrap();
        assert_eq!(
            shown(OURS_ALL),
            ["supertrace check MODEL --reduce none --threads 2 --ignore assert,deadlock --json"]
        );
        assert!(shown(OURS_CORE)[0].starts_with("taskset -c 0 supertrace check MODEL --reduce"));
        assert_eq!(
            shown(SPIN_COLLAPSE)[1],
            "gcc -O3 -DSAFETY -DNOREDUCE -DCOLLAPSE -DNOFAIR -DVECTORSZ=2048 -DMEMLIM=8000 \
             -o pan pan.c"
        );
        assert_eq!(shown(SPIN_COLLAPSE)[2], "./pan -A -E -mN -wN");
        assert_eq!(shown(SPIN_BITSTATE)[2], "./pan -A -E -k3 -w30 -mN");
    }
}
