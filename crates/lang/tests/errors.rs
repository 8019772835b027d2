//! What is said about models that are wrong: place, message, remedy.

use lang::promela::{load, preprocess::FileLoader};

/// `line:column: message [help]` of each error or warning.
fn diagnose(text: &str) -> Vec<String> {
    let loaded = load("m.pml", text.to_string(), &[], &FileLoader);
    let rejected = loaded.system.is_none();
    assert_eq!(rejected, loaded.diagnostics.iter().any(|d| d.is_error()), "{text}");
    loaded
        .diagnostics
        .iter()
        .map(|d| {
            let at = loaded.sources.position(d.span);
            let help = d.help.as_ref().map_or(String::new(), |h| format!(" [{h}]"));
            format!("{}:{}: {}{help}", at.line, at.column, d.message)
        })
        .collect()
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(diagnose(text), expected, "{text}");
}

#[test]
fn syntax() {
    check("byte x; init { x = ; }", &["1:20: expected an expression, found ';'"]);
    check("init { skip", &["1:12: expected '}', found the end of the file"]);
    check("init skip", &["1:6: expected '{', found 'skip'"]);
    check(
        "init { }",
        &["1:8: empty sequence [a sequence needs at least one statement; 'skip' does nothing]"],
    );
    check("init { if fi }", &["1:8: no options"]);
    check("init { do :: skip }", &["1:19: expected '::' or 'od', found '}'"]);
    check("init { break }", &["1:8: 'break' outside a loop"]);
    check("init { assert(1 == 1 }", &["1:22: expected ')', found '}'"]);
    check("byte byte; init { skip }", &["1:6: expected a name, found 'byte'"]);
    check("foo x; init { skip }", &["1:1: unknown type 'foo'"]);
    check("init { return 3 }", &["1:8: 'return' outside an inline"]);
}

#[test]
fn habits_of_other_languages_have_a_remedy() {
    let said = |text: &str| diagnose(text).join("\n");
    for (text, expected) in [
        ("init { int i; for (i = 0; i < 3; i++) { skip } }", "'for (i : 0 .. 9) { ... }'"),
        ("byte c; init { if (c == 1) { c = 2 } }", "'if :: condition -> "),
        ("byte c; init { c += 2 }", "write 'x = x + 1'"),
        ("byte c[2][3]; init { skip }", "arrays have one dimension"),
        ("chan c = [2] of byte; init { c!1 }", "in braces"),
        ("byte c; init { while (c < 1) { c++ } }", "'do :: condition -> "),
        ("proctype P() { skip } init { P() }", "'run P()'"),
        ("init { (P@there) } proctype P() { there: skip }", "declared before"),
    ] {
        assert!(said(text).contains(expected), "{text}: {}", said(text));
    }
}

#[test]
fn no_process_starts_in_an_initial_value() {
    let text = |body: &str| format!("proctype R() {{ skip }} init {{ {body} }}");
    check(&text("byte z = run R()"), &["1:39: 'run' in an initial value"]);
    check(&text("skip; byte z = run R()"), &["1:45: 'run' in an initial value"]);
}

#[test]
fn all_errors_are_reported_not_the_first() {
    check(
        "init {\n  a = 1;\n  b = 2;\n  c = ;\n  run P()\n}",
        &[
            "2:3: undeclared variable 'a'",
            "3:3: undeclared variable 'b'",
            "4:7: expected an expression, found ';'",
            "5:7: there is no process type 'P'",
        ],
    );
}

#[test]
fn names() {
    for name in ["_", "_pid", "_nr_pr", "_last", "_priority"] {
        let said = format!("'{name}' is a name that the language has defined [take another name]");
        check(&format!("byte {name}; init {{ skip }}"), &[&format!("1:6: {said}")]);
        check(&format!("init {{ byte {name}; skip }}"), &[&format!("1:13: {said}")]);
        check(&format!("proctype P(byte {name}) {{ skip }}"), &[&format!("1:17: {said}")]);
    }
    check(
        "byte counter; init { countr = 1 }",
        &["1:22: undeclared variable 'countr' [did you mean 'counter'?]"],
    );
    check(
        "byte x; byte x; init { skip }",
        &["1:14: 'x' is declared twice [give one of them another name]"],
    );
    check(
        "proctype P() { skip } proctype P() { skip } init { skip }",
        &["1:32: process type 'P' is declared twice"],
    );
    check("init { skip } init { skip }", &["1:15: 'init' is declared twice"]);
    check("init { goto out }", &["1:8: there is no label 'out' in this process type"]);
    check("init { L: skip; L: skip }", &["1:17: label 'L' appears twice"]);
    check(
        "mtype = { a }; byte a; init { skip }",
        &["1:21: 'a' is already the name of an mtype constant"],
    );
    check(
        "byte x; proctype P() { skip }",
        &[
            "1:1: no process runs in this model [write 'init { ... }' or put 'active' before a process type]",
        ],
    );
    check(
        "active proctype A() { skip } active proctype B() { A[0]@L }",
        &["1:57: process type 'A' has no label 'L'"],
    );
}

#[test]
fn types() {
    check("byte a[3]; init { a = 1 }", &["1:19: 'a' is an array [write 'a[index]']"]);
    check("byte a; init { a[2] = 1 }", &["1:16: 'a' is no array"]);
    check("byte a[0]; init { skip }", &["1:8: an array cannot have 0 elements"]);
    check(
        "typedef T { byte f }; T t; init { t.g = 1 }",
        &["1:37: type 'T' has no field 'g' [its fields are 'f']"],
    );
    check(
        "typedef T { byte f }; T t; init { t = 1 }",
        &["1:35: 't' is a record of type 'T' [write 't.field']"],
    );
    check("byte x; init { x!1 }", &["1:16: 'x' is no channel"]);
    check(
        "unsigned x; init { skip }",
        &["1:10: 'unsigned' without a width [write the number of bits, as in 'unsigned x : 5']"],
    );
    check("unsigned x : 40; init { skip }", &["1:10: width 40 is not in 1..31"]);
    check("byte x = [2] of { byte }; init { skip }", &["1:6: 'x' is no channel"]);
    check("init { _pid = 3 }", &["1:8: '_pid' cannot be assigned to"]);
    check("byte x; init { x = _ }", &["1:20: '_' can be assigned to, but not read"]);
    check("proctype P(byte x) { skip } init { run P() }", &["1:40: 'P' takes 1 argument, not 0"]);
    check(
        "inline f(a, b) { a = b } byte x; init { f(x) }",
        &["1:41: inline 'f' takes 2 arguments, not 1"],
    );
}

#[test]
fn sizes_that_explode_are_refused_at_once() {
    let text = "typedef A { int x[1000] }; typedef B { A a[1000] }; typedef C { B b[1000] }; \
                C c; chan q = [2] of { C }; init { c.b[1].a[2].x[3] = 1 }";
    let said = diagnose(text);
    assert!(said[0].ends_with("type 'B' is too large"), "{said:?}");
    assert!(said.iter().any(|s| s.ends_with("this message is too large")), "{said:?}");
}

#[test]
fn structure() {
    check("init { if :: skip :: else :: else fi }", &["1:30: more than one 'else'"]);
    check(
        "init { atomic { L: skip } }",
        &["1:17: label 'L' at the start of a block [put it before the block: 'L: atomic { ... }']"],
    );
    check(
        "init { d_step { goto L }; L: skip }",
        &["1:17: jump out of a d_step [use 'atomic', or put the goto behind the d_step]"],
    );
    check(
        "byte x; init { goto L; d_step { x = 1; L: x = 2 } }",
        &["1:16: jump into a d_step [put the label in front of the d_step]"],
    );
    check("init { L: goto L }", &["1:11: this jump leads in a circle"]);
    check(
        "proctype P() { skip } init { d_step { run P() } }",
        &["1:39: 'run' inside a d_step [use 'atomic']"],
    );
    check("inline f() { f() } init { f() }", &["1:14: inline 'f' calls itself"]);
    check(
        "byte x; init { x = 1; chan c = [1] of { byte } }",
        &[
            "1:28: a channel can be created in front of all statements only [move the declaration to the start of the process type]",
        ],
    );
    check(
        "chan c = [0] of { byte }; active proctype P() priority 3 { c!1 }",
        &[
            "1:43: priorities cannot be combined with rendezvous channels [give the channels a slot]",
        ],
    );
    check(
        "init { (run P()) + 1 } proctype P() { skip }",
        &["1:8: 'run' inside an expression [start the process in a statement of its own]"],
    );
}

#[test]
fn embedded_c_is_named() {
    let help = "[express it in Promela, or check this model with Spin]";
    let expected = format!("1:8: embedded C ('c_code') is not supported {help}");
    check("init { c_code { x++; } }", &[&expected]);
    let expected = format!("1:1: embedded C ('c_decl') is not supported {help}");
    check("c_decl { int x; } init { skip }", &[&expected]);
}

#[test]
fn claims_and_formulas_are_checked_for_names() {
    check("ltl p { [] (y == 1) } init { skip }", &["1:13: undeclared variable 'y'"]);
    check("never { do :: y od } init { skip }", &["1:15: undeclared variable 'y'"]);
    check("byte y; ltl { <> (y == 1) U (y -> X y) } init { skip }", &[]);
    // Formulas may stand in front of what they name.
    check("ltl { [] (x < 3 && !P@L) } byte x; active proctype P() { L: x = 1 }", &[]);
    check("chan c = [1] of { byte }; trace { do :: c!_ ; c?_ od } init { c!1 }", &[]);
    check("byte t; proctype P(byte i) provided (t == i) { t = 1 } init { run P(0) }", &[]);
    check("init { [] (1 == 1) }", &["1:8: expected an expression, found '['"]);
}

#[test]
fn places_in_included_files_and_macros() {
    check("#define BAD zz + 1\nbyte x;\ninit { x = BAD }", &["3:12: undeclared variable 'zz'"]);
    check("#if 1\ninit { skip }", &["1:1: this condition has no '#endif'"]);
}
