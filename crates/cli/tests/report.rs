//! Pages that `--report` writes: what is in them, that nothing is loaded from
//! elsewhere, and, in a real browser if there is one, that they work.

mod common;

use common::{skipped, stderr, supertrace};
use std::path::{Path, PathBuf};
use std::process::Command;

const HOLDS: &str = "models/promela/peterson_filter.pml";
const BUG: &str = "models/promela/needham_schroeder.pml";

fn temp(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("report");
    std::fs::create_dir_all(&dir).expect("a temporary directory");
    dir.join(name)
}

/// Runs a command that writes a page; returns where it is, and its text.
fn report(args: &[&str], name: &str, code: i32) -> (PathBuf, String) {
    let path = temp(name);
    let file = path.display().to_string();
    let output = supertrace(&[args, &["--quiet", "--report", &file]].concat());
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stderr(&output));
    let text = std::fs::read_to_string(&path).expect("a page");
    check_page(&text);
    (path, text)
}

/// What every page must be.
fn check_page(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    let elsewhere = ["src=", "href=", "url(", "@import", "<link", "<iframe", "<img", " onclick"];
    for part in elsewhere {
        assert!(!page.contains(part), "a page has '{part}'");
    }
    let addresses = page.matches("://").count();
    assert_eq!(addresses, page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count());
    assert!(page.contains("default-src 'none'"));
    for tag in ["section", "table", "article", "details", "figure", "svg", "script", "style", "ol"]
    {
        let opened =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

fn assert_has(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "no '{part}' in the page");
    }
}

#[test]
fn a_search_is_reported_with_figures_and_the_way_to_a_violation() {
    let (_, holds) = report(&["check", HOLDS], "holds.html", 0);
    assert_has(&holds, &["<p class=\"verdict holds\">", "<dd>11,044</dd>", "id=\"unreached\""]);
    assert_has(&holds, &["the end of the process", "<td>search</td><td>dfs</td>"]);
    assert!(!holds.contains("id=\"violations\"") && !holds.contains("id=\"coverage\""));

    let (_, bug) = report(&["check", BUG, "-D", "X='</script>'"], "bug.html", 1);
    assert_has(&bug, &["verdict violation", "id=\"violation-1\"", "needham_schroeder.pml:72:9"]);
    assert_has(&bug, &["class=\"msc\"", "data-go=\"previous\"", "<dt>seed</dt><dd>0</dd>"]);
    assert_has(&bug, &["supertrace check models/promela/needham_schroeder.pml -D "]);

    let lossy = ["check", HOLDS, "--store", "bitstate", "--arena", "2^17"];
    let (_, lossy) = report(&lossy, "lossy.html", 0);
    assert_has(&lossy, &["verdict no-violation-found", "id=\"coverage\"", "coverage by bits-set"]);
    assert!(!lossy.contains("id=\"unreached\""));
    let several = ["check", HOLDS, "--store", "bitstate", "--arena", "2^17", "--runs", "2"];
    assert_has(&report(&several, "runs.html", 0).1, &["id=\"runs\""]);
}

const SWARM: [&str; 7] = ["swarm", HOLDS, "--tasks", "12", "--arena", "2^14", "--portfolio"];

#[test]
fn a_swarm_is_reported_with_its_curve_sizes_and_tasks() {
    let args = [&SWARM[..], &["halving", "--collector", "exact"]].concat();
    let (_, page) = report(&args, "swarm.html", 0);
    assert_has(&page, &["coverage against tasks", "coverage against time", "states against tasks"]);
    assert_has(&page, &[">counted</text>", "states by size of the arena", "id=\"unreached\""]);
    assert_eq!(page.matches("<tr><td class=\"n\">").count(), 12, "a row for each task");
    assert_has(
        &page,
        &["<dt>different states, counted</dt>", "<td>portfolio</td><td>halving</td>"],
    );

    let record = temp("record.json").display().to_string();
    let again = supertrace(&[&SWARM[..], &["halving", "--record", &record, "--quiet"]].concat());
    assert!(again.status.success(), "{}", stderr(&again));
    let (path, merged) = report(&["swarm", "merge", &record], "merged.html", 0);
    assert_has(&merged, &["coverage against tasks"]);
    assert!(!merged.contains("coverage against time") && !merged.contains(">counted</text>"));
    report(&["swarm", "merge", &record], "merged.html", 0);
    assert_eq!(std::fs::read_to_string(path).expect("a page"), merged, "the same every time");

    let swarm = ["swarm", BUG, "--tasks", "4", "--arena", "2^16", "--until", "all"];
    let (_, bug) = report(&swarm, "swarm_bug.html", 1);
    assert_has(&bug, &["--only ", "class=\"msc\"", "found by "]);
}

#[test]
fn a_page_that_cannot_be_written_is_an_error_after_the_verdict() {
    let file = temp("no/such/directory.html").display().to_string();
    let output = supertrace(&["check", HOLDS, "--quiet", "--report", &file]);
    assert_eq!(output.status.code(), Some(2));
    assert!(common::stdout(&output).contains("holds"));
    assert!(stderr(&output).contains("cannot write"), "{}", stderr(&output));
}

/// A browser without a window, if one is installed.
fn browser() -> Option<&'static str> {
    let runs = |name: &&str| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs)
}

/// Loads a page; returns the document as it is then.
fn loaded(browser: &str, page: &Path, fragment: &str) -> String {
    let profile = temp(&format!("profile-{}", page.file_stem().expect("a name").display()));
    let output = Command::new(browser)
        .args(["--headless", "--disable-gpu", "--no-sandbox", "--disable-dev-shm-usage"])
        .args(["--enable-logging=stderr", "--v=0", "--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}{fragment}", page.display()))
        .output()
        .expect("the browser runs");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(!log.contains("CONSOLE"), "{}: {log}", page.display());
    let document = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(document.contains("data-ready=\"yes\""), "{}: {log}", page.display());
    document
}

/// The text between two others.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("no {from}"));
    rest.split_once(to).unwrap_or_else(|| panic!("no {to}")).0
}

/// The step that is lit up in list and chart, and what is told of it.
fn current(document: &str) -> (String, String) {
    assert_eq!(document.matches("class=\"row current\"").count(), 1, "a row of the chart");
    let item = between(document, " current\" aria-selected=\"true\">", "</li>");
    let pane = between(document, "<div class=\"step\">", "<script");
    (between(item, "class=\"i\">", "<").to_string(), pane.to_string())
}

/// A page with one script more, which does what a user does.
fn used(page: &str, name: &str, script: &str) -> PathBuf {
    let policy = between(page, "script-src '", "'");
    let page = page.replace(&format!("'{policy}'"), "'unsafe-inline'");
    let path = temp(name);
    let text = page.replace("</body>", &format!("<script>{script}</script></body>"));
    std::fs::write(&path, text).expect("a writable file");
    path
}

#[test]
fn buttons_keys_and_headers_do_what_they_say() {
    let Some(browser) = browser() else {
        return skipped("pages in a browser", "chromium is not installed");
    };
    let (_, bug) = report(&["check", BUG], "used_bug.html", 1);
    let click = |what: &str| format!("document.querySelector('[data-go={what}]').click();");
    let key = |name: &str| {
        format!(
            "document.body.dispatchEvent(new KeyboardEvent('keydown', {{key: '{name}', bubbles: true}}));"
        )
    };
    let at = |script: &str| {
        let path = used(&bug, "used.html", script);
        current(&loaded(browser, &path, "#step=10")).0
    };
    assert_eq!(at(&click("next")), "11");
    assert_eq!(at(&click("first")), "1");
    assert_eq!(at(&(click("last") + &click("next") + &click("previous"))), "47");
    assert_eq!(at(&(key("ArrowRight") + &key("ArrowRight") + &key("ArrowLeft"))), "11");
    assert_eq!(at("document.querySelector('#v1s20 code').click();"), "20");
    let row = "const row = document.querySelectorAll('.row')[3].getBoundingClientRect(); \
               document.querySelector('svg.msc').dispatchEvent(new MouseEvent('click', \
               {clientY: row.top + 1, bubbles: true}));";
    assert_eq!(at(row), "12");

    let (_, swarm) = report(&[&SWARM[..], &["halving"]].concat(), "used_swarm.html", 0);
    let sort = "const head = document.querySelectorAll('#tasks th button')[0]; \
                head.click(); head.click();";
    let document = loaded(browser, &used(&swarm, "used.html", sort), "");
    assert!(document.contains("aria-sort=\"descending\""));
    let rows = between(between(&document, "id=\"tasks\"", "</table>"), "<tbody>", "</tbody>");
    let numbers = rows.split("<tr>").skip(1).map(|row| between(row, ">", "<").to_string());
    let expected: Vec<String> = (0..12).rev().map(|n| n.to_string()).collect();
    assert_eq!(numbers.collect::<Vec<_>>(), expected);
}

#[test]
fn a_model_cannot_put_anything_into_its_page() {
    let Some(browser) = browser() else {
        return skipped("pages in a browser", "chromium is not installed");
    };
    let model = temp("<b>&'x.pml");
    let nasty = "</script><img src=x onerror=document.title=1><!--<script>";
    let text = format!("active proctype p() {{ printf(\"{nasty}\\n\"); assert(2 < 1 && 1 > 0) }}");
    std::fs::write(&model, text).expect("a writable file");
    let page = temp("nasty.html");
    let (model, file) = (model.display().to_string(), page.display().to_string());
    let output = supertrace(&["check", &model, "--quiet", "--report", &file]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let document = loaded(browser, &page, "#step=1");
    assert!(!document.contains("<img") && !document.contains("<b>"), "{document}");
    assert_eq!(document.matches("<script").count(), 2);
    assert!(document.contains("&lt;/script&gt;&lt;img src=x"), "{document}");
}

#[test]
fn a_browser_loads_pages_without_errors_and_steps_through_violations() {
    let Some(browser) = browser() else {
        return skipped("pages in a browser", "chromium is not installed");
    };
    let (holds, _) = report(&["check", HOLDS], "browser_holds.html", 0);
    loaded(browser, &holds, "");
    let swarm = [&SWARM[..], &["halving", "--collector", "exact"]].concat();
    loaded(browser, &report(&swarm, "browser_swarm.html", 0).0, "");

    let (bug, _) = report(&["check", BUG], "browser_bug.html", 1);
    let (first, pane) = current(&loaded(browser, &bug, ""));
    assert_eq!(first, "1");
    assert!(pane.contains("partner_of_alice: none → intruder"), "{pane}");
    let document = loaded(browser, &bug, "#step=5");
    let (fifth, pane) = current(&document);
    assert_eq!(fifth, "5");
    assert!(document.contains("step 5 of 48"), "{pane}");
    assert!(pane.contains("Intruder(2):knows_a: false → true"), "{pane}");
    // The value of a variable that an earlier step has changed.
    assert!(pane.contains("<td>partner_of_alice</td><td>intruder</td>"), "{pane}");
    let (last, pane) = current(&loaded(browser, &bug, "#step=9999"));
    assert_eq!(last, "48");
    assert!(pane.contains("assertion does not hold"), "{pane}");
}
