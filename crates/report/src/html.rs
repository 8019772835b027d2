//! Results as one HTML page that needs nothing from outside.
//!
//! Invariant: text of a model reaches the page by `escape`, and data for the
//! script by `data`, so that no model can break out of either. Should one do it
//! nevertheless, the page's policy lets no other script run than its own, and
//! nothing be loaded.

mod check;
mod swarm;
mod table;
mod trace;
mod unreached;

pub use check::check_page;
pub use swarm::swarm_page;

use crate::trace::xml::escape;
use serde::Serialize;
use std::fmt::Write;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");
/// Of the script, for the policy; a test tells what it has to be.
const SCRIPT_HASH: &str = "sha256-5NbZY5nJyyo2rwYmezTpiqJN6fl1CfnI5WS5WMy2xQQ=";

/// What the head of a page says.
struct Head<'a> {
    command: &'a str,
    model: &'a str,
    version: &'a str,
    verdict: &'a str,
    /// What the verdict means, a sentence each.
    meaning: &'a [String],
    /// The key figures, with their names.
    figures: &'a [(&'a str, String)],
}

/// The whole page; `sections` are HTML.
fn page(head: &Head, sections: &str) -> String {
    let Head { command, model, version, verdict, .. } = head;
    let (model, command) = (escape(model), escape(command));
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src '{SCRIPT_HASH}'; base-uri 'none'; \
         form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{model}: {verdict}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<p class=\"tool\">Supertrace {version}</p>\n<h1>{model}</h1>\n\
         <p class=\"verdict {verdict}\">{verdict}</p>\n"
    );
    for sentence in head.meaning {
        let _ = writeln!(out, "<p>{}</p>", escape(sentence));
    }
    out.push_str("<dl class=\"figures\">\n");
    for (name, figure) in head.figures {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(figure));
    }
    let _ = writeln!(
        out,
        "</dl>\n<p class=\"command\"><code>{command}</code></p>\n</header>\n<main>\n{sections}\
         </main>\n<script>{SCRIPT}</script>\n</body>\n</html>"
    );
    out
}

/// A part of the page with its heading; nothing if there is nothing in it.
fn section(id: &str, heading: &str, content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-heading\">\n<h2 id=\"{id}-heading\">{}</h2>\n\
         {content}</section>\n",
        escape(heading)
    )
}

/// Data for the script, as JSON in which nothing looks like HTML.
fn data(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("a report holds nothing that JSON cannot");
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            // All of these stand in strings only.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    format!("<script type=\"application/json\">{out}</script>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use sha2::Digest;

    #[test]
    fn the_policy_names_the_script() {
        let hash = sha2::Sha256::digest(SCRIPT.as_bytes());
        let hash = base64::engine::general_purpose::STANDARD.encode(hash);
        assert_eq!(SCRIPT_HASH, format!("sha256-{hash}"));
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("innerHTML"));
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import") && !STYLE.contains("</"));
    }

    #[test]
    fn data_holds_no_html_and_reads_as_what_it_was() {
        let nasty = "</script><!--<script>'\"&\u{2028}\\ü";
        let data = data(&vec![nasty]);
        let inner = data.strip_prefix("<script type=\"application/json\">").expect("a script");
        let inner = inner.strip_suffix("</script>\n").expect("an end");
        assert!(!inner.contains(['<', '>', '&', '\u{2028}']), "{inner}");
        assert_eq!(serde_json::from_str::<Vec<String>>(inner).expect("JSON"), [nasty]);
    }

    #[test]
    fn a_head_escapes_what_it_shows() {
        let head = Head {
            command: "supertrace check '<b>'",
            model: "<i>&",
            version: "1",
            verdict: "holds",
            meaning: &["a < b".into()],
            figures: &[("states", "<1>".into())],
        };
        let page = page(&head, &section("x", "<x>", ""));
        assert!(page.contains("<h1>&lt;i&gt;&amp;</h1>") && page.contains("&apos;&lt;b&gt;&apos;"));
        assert!(page.contains("<p>a &lt; b</p>") && page.contains("<dd>&lt;1&gt;</dd>"));
        assert!(!page.contains("id=\"x\"") && !page.contains("<i>"));
    }
}
