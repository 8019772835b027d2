//! The report: for the terminal, and as `benchmarks-murphi.md` and `.json` in docs/.

use super::contenders::EXHAUSTIVE_SECONDS;
use super::options::Options;
use super::sections;
use crate::bench::report::{bullets, contender, platform, put, version};
use crate::bench::table::Section;
use crate::bench::{Results, machine, process, raw};
use serde_json::json;

pub fn text(results: &Results, options: &Options) -> String {
    let parts: Vec<String> = sections::all(results).iter().map(Section::text).collect();
    parts.join("\n") + "\n" + &method(results, options)
}

/// No date: the history of the file has it.
fn markdown(results: &Results, options: &Options) -> String {
    let mut out = String::from("# Benchmarks: Supertrace and Rumur on Murphi models\n\n");
    out += "Written by `cargo xtask bench murphi --write`; do not edit. In every ratio, more than \
            1 means that Supertrace is better. Method, machine and every flag are at the end; \
            [every run](benchmarks-murphi.json).\n\n";
    for section in sections::all(results) {
        out += &section.markdown();
        out.push('\n');
    }
    out + "## Method\n\n" + &method(results, options)
}

fn method(results: &Results, options: &Options) -> String {
    let mut points = vec![
        platform(results),
        format!(
            "{}; {}; supertrace {}, commit {}, release build.",
            version("rumur", "--version"),
            version("cc", "--version"),
            env!("CARGO_PKG_VERSION"),
            results.commit.as_deref().unwrap_or("unknown"),
        ),
        "Contenders, all with their flags:".into(),
    ];
    points.extend(results.contenders.iter().map(contender));
    points.extend(rules(options));
    if !results.skipped.is_empty() {
        points.push(format!("Skipped: {}.", results.skipped.join("; ")));
    }
    points.push(format!("Repeat: `{}`; `--help` lists the options.", options.command()));
    bullets(&points)
}

fn rules(options: &Options) -> [String; 6] {
    [
        "Rumur's other settings are its defaults, as none made it faster: `--pack-state off`, \
         `--set-capacity 1073741824`, both of them, `--reorder-fields off` and `cc -flto \
         -fwhole-program` took 0.98 to 1.05 times the CPU time on mux-mcslock1, mux-mcslock2, \
         mux-n_peterson (with symmetry) and german-4, and two runs of the same verifier differ as \
         much."
            .into(),
        format!(
            "All contenders take turns on every model, each after 512 MiB of memory were used \
             once and freed; medians of {}. Verifiers are generated and \
             compiled once. Rumur's exhaustive reduction is ended after {EXHAUSTIVE_SECONDS} s, \
             and then has no more turns on that model.",
            options.repeat
        ),
        "Every search comes to its end and finds no error; none looks for deadlocks. Without \
         symmetry all contenders count the same states and rules fired, with symmetry our \
         canonical form, by one thread and by two, and Rumur's exhaustive one do, and they are \
         those that the list of models gives; else the bench fails."
            .into(),
        "States per second are the states divided by the wall clock of the whole process, the \
         verifier or `supertrace`, starting included; ours includes reading and compiling the \
         model. Time to verdict adds `rumur` and `cc` to Rumur's."
            .into(),
        "Means are of models of more than 100,000 states where they say so; smaller ones are in \
         the tables, as Rumur's exhaustive reduction ends on them and confirms our counts."
            .into(),
        format!(
            "Peak memory is the resident memory of the process, by {}.",
            process::memory_source()
        ),
    ]
}

/// Writes the files that were asked for.
pub fn write(results: &Results, options: &Options) -> Result<(), String> {
    let json = || {
        let versions = json!({
            "rumur": machine::first_line("rumur", "--version"),
            "cc": machine::first_line("cc", "--version"),
            "supertrace": env!("CARGO_PKG_VERSION"),
            "commit": results.commit,
        });
        raw::json(results, &options.command(), versions)
    };
    if let Some(path) = &options.json {
        put(path, json())?;
    }
    if options.write {
        if !results.failures.is_empty() {
            let message = "docs/benchmarks-murphi.md is not written, because something failed";
            return Err(message.into());
        }
        let docs = machine::root().join("docs");
        put(&docs.join("benchmarks-murphi.md"), markdown(results, options))?;
        put(&docs.join("benchmarks-murphi.json"), json())?;
    }
    Ok(())
}
