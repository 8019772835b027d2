//! What is said about Murphi models that are wrong: place, message, remedy.

use lang::murphi::read;

/// `line:column: message [help]` of each error or warning.
fn diagnose(text: &str) -> Vec<String> {
    let loaded = read("m.m", text.to_string());
    let rejected = loaded.model.is_none();
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
fn expressions_and_statements() {
    check("var x : boolean; rule x := ; end;", &["1:28: expected an expression, found ';'"]);
    check(
        "var x : boolean; rule begin x := true; endif;",
        &["1:40: expected 'end' or 'endrule', found 'endif'"],
    );
    check(
        "var x : boolean; rule \"r\" x begin x := true; end;",
        &["1:29: expected '==>', found 'begin'"],
    );
    check(
        "var x : boolean; rule begin x := true x := false; end;",
        &["1:38: expected ';' before 'x'"],
    );
    check("var x : 0..3; rule begin x = 1; end;", &["1:28: '=' compares [write ':=' to assign]"]);
    check(
        "var x : boolean; rule begin x := true;",
        &["1:39: expected 'end' or 'endrule', found the end of the file"],
    );
    check("var x : boolean; rule if x x := true; end; end;", &["1:28: expected 'then', found 'x'"]);
    check(
        "var x : boolean; rule var y : boolean; x := true; end;",
        &["1:40: expected 'begin' or a declaration, found 'x'"],
    );
    check(
        "var true : boolean; startstate begin end;",
        &["1:5: expected a name, found the keyword 'true'"],
    );
    check(
        "var x : array [0..1, 0..1] of boolean; startstate begin end;",
        &["1:20: an array has one index [write 'array [A] of array [B] of ...']"],
    );
    check(
        "var a : array [0..1] of boolean; startstate begin a[0, 1] := true; end;",
        &["1:54: an array has one index [write 'a[i][j]']"],
    );
    check(
        "var x : boolean; invariant forall i : 0..1; j : 0..1 do x end;",
        &["1:43: 'forall' has one variable [write 'forall x : A do forall y : B do ... end end']"],
    );
    check(
        "var x : boolean; invariant x = x = x;",
        &[
            "1:34: '=' cannot follow another one without parentheses [put one of them into parentheses]",
        ],
    );
}

#[test]
fn structure_of_models() {
    check(
        "procedure p(a : boolean, b : boolean); begin end;",
        &["1:24: parameters are separated by ';'"],
    );
    check(
        "type r : record f : boolean end; function g() : r; begin end; invariant g().f;",
        &["1:76: '.' behind a call [assign the result to a variable first]"],
    );
    check(
        "var x : boolean; ruleset i : 0..1 do function f() : boolean; begin end; rule begin x := true; end; end;",
        &["1:38: 'function' inside a block of rules [declare it outside, or inside of a rule]"],
    );
    check("begin end", &["1:1: expected a declaration, a function or a rule, found 'begin'"]);
    check("startstate begin error 3; end;", &["1:24: expected a string, found '3'"]);
    check(
        "startstate begin put \"a; end;",
        &[
            "1:22: the string is not closed [end it with '\"']",
            "1:30: expected 'end' or 'endstartstate', found the end of the file",
        ],
    );
    check(
        "var x : boolean; /* not closed",
        &["1:18: the comment is not closed [end it with '*/']"],
    );
    check("var §x : boolean; startstate begin end;", &["1:5: Murphi has no use for '§'"]);
    check(
        "var _x : boolean; startstate begin end;",
        &["1:5: a name cannot begin with '_' [let it begin with a letter]"],
    );
}

#[test]
fn names() {
    check(
        "var counter : 0..3; startstate begin countr := 1; end;",
        &["1:38: undeclared name 'countr' [did you mean 'counter'?]"],
    );
    check(
        "var Flag : boolean; startstate begin flag := true; flag := false; end;",
        &["1:38: undeclared name 'flag' [did you mean 'Flag'?]"],
    );
    check(
        "var x : boolean; x : boolean; startstate begin end;",
        &["1:18: 'x' is declared twice [give one of them another name]"],
    );
    check(
        "type e : enum {A, B, A}; startstate begin end;",
        &["1:22: 'A' is declared twice [give one of them another name]"],
    );
    check(
        "type r : record f : boolean; f : 0..1 end; startstate begin end;",
        &["1:30: field 'f' appears twice"],
    );
    check(
        "procedure p(a : boolean; a : boolean); begin end;",
        &["1:26: 'a' is declared twice [give one of them another name]"],
    );
    check(
        "rule f(); end; procedure f(); begin end;",
        &[
            "1:6: 'f' is used before its declaration [move the declaration in front of what uses it]",
        ],
    );
    check(
        "type r : record next : r end; startstate begin end;",
        &["1:24: 'r' is used in its own declaration"],
    );
}

#[test]
fn kinds_of_names() {
    check("var x : T; startstate begin x := true; end;", &["1:9: undeclared type 'T'"]);
    check(
        "type T : 0..3; var x : T; startstate begin x := T; end;",
        &["1:49: 'T' is a type, no value"],
    );
    check("var x : boolean; y : x; startstate begin end;", &["1:22: 'x' is a variable, no type"]);
    check(
        "const N : 3; var y : N; startstate begin end;",
        &["1:22: 'N' is a constant, no type [a range is written 'low..high']"],
    );
    check(
        "var x : boolean; function f() : boolean; begin return true; end; startstate begin x := f; end;",
        &["1:88: 'f' is a function [call it: 'f()']"],
    );
    check(
        "var x : boolean; startstate begin x(1); end;",
        &["1:35: 'x' is no function [an array is indexed by 'a[i]']"],
    );
    check("startstate begin g(); end;", &["1:18: undeclared function 'g'"]);
    check(
        "type r : record f : boolean; g : boolean end; var x : r; startstate begin x.h := true; end;",
        &["1:77: 'x' has no field 'h' [its fields are 'f', 'g']"],
    );
}

#[test]
fn conditions_and_operands() {
    check(
        "var x : boolean; startstate begin x := 1; end;",
        &["1:40: 'x' has type 'boolean', this is a number"],
    );
    check(
        "var x : 0..3; startstate begin if x then end; end;",
        &["1:35: a condition is a boolean, not a number [compare it, as in 'x != 0']"],
    );
    check(
        "var x : 0..3; rule x ==> begin end;",
        &["1:20: a guard is a boolean, not a number [compare it, as in 'x != 0']"],
    );
    check(
        "var x : 0..3; invariant x;",
        &["1:25: a property is a boolean, not a number [compare it, as in 'x != 0']"],
    );
    check(
        "var x : boolean; y : 0..1; startstate begin x := x & y; end;",
        &["1:54: '&' takes booleans, not a number [compare it, as in 'x != 0']"],
    );
    check(
        "var x : boolean; startstate begin x := x ^ x; end;",
        &["1:40: '^' takes numbers, not a boolean [write '!=' for 'either one or the other']"],
    );
    check(
        "var x : boolean; y : 0..1; startstate begin x := !y; end;",
        &["1:51: '!' takes booleans, not a number [compare it, as in 'x != 0']"],
    );
    check(
        "var x : boolean; e : enum {A, B}; startstate begin x := e = 1; end;",
        &["1:57: '=' cannot compare a value of the enumeration 'enum {A, B}' with a number"],
    );
    check(
        "var x : boolean; startstate begin x := x ? 1 : true; end;",
        &["1:44: one side of ':' is a number, the other a boolean"],
    );
}

#[test]
fn parts_and_indices() {
    check(
        "var x : boolean; startstate begin x.f := true; end;",
        &["1:37: 'x' is a boolean, it has no fields"],
    );
    check(
        "var a : array [0..1] of record f : boolean end; startstate begin a.f := true; end;",
        &[
            "1:68: 'a' is an array of type 'array [0..1] of record f : boolean; end', it has no fields [index it first: 'a[i].f']",
        ],
    );
    check(
        "var x : boolean; startstate begin x[0] := true; end;",
        &["1:35: 'x' is a boolean, no array"],
    );
    check(
        "type e : enum {A, B}; var a : array [e] of boolean; startstate begin a[0] := true; end;",
        &["1:72: 'a' is indexed by 'e', not by a number"],
    );
    check(
        "var a : array [0..1] of 0..1; b : array [0..1] of 0..2; startstate begin a := b; end;",
        &[
            "1:79: 'a' has type 'array [0..1] of 0..1', this is an array of type 'array [0..1] of 0..2' [the types of all their parts must be the same]",
        ],
    );
    check(
        "type r : record f : boolean end; var a : array [r] of boolean; startstate begin end;",
        &[
            "1:49: an array cannot be indexed by a record of type 'r' [index it by a range, an enumeration, a scalarset, a union or a boolean]",
        ],
    );
}

#[test]
fn simple_values() {
    check(
        "type r : record f : boolean end; var x : r; startstate begin switch x end; end;",
        &[
            "1:69: 'switch' takes a simple value, not a record of type 'r' [switch on one of its parts]",
        ],
    );
    check(
        "var x : 0..3; startstate begin switch x case true: end; end;",
        &["1:46: the switch is on '0..3', this is a boolean"],
    );
    check(
        "type r : record f : boolean end; var x : r; invariant isundefined(x);",
        &[
            "1:67: 'x' is a record of type 'r', only its parts can be undefined [ask for one of its parts]",
        ],
    );
    check("invariant isundefined(3);", &["1:23: 'isundefined' is for variables, and this is none"]);
    check(
        "var t : real(3, 2); startstate begin end;",
        &[
            "1:9: the type 'real' is not supported [use a range of whole numbers, for example in a smaller unit]",
        ],
    );
    check(
        "var x : 0..3; startstate begin x := 1.5; end;",
        &[
            "1:37: real numbers are not supported [use whole numbers, for example in a smaller unit]",
        ],
    );
}

#[test]
fn scalarsets() {
    check(
        "type P : scalarset(3); var x : P; startstate begin x := 1; end;",
        &[
            "1:57: 'x' has type 'P', this is a number [values of a scalarset have no names: let a ruleset choose one]",
        ],
    );
    check(
        "type P : scalarset(3); var x : P; startstate begin x := x + 1; end;",
        &[
            "1:57: '+' takes numbers, not a value of the scalarset 'P' [values of a scalarset are not numbers: use a range to count or order]",
        ],
    );
    check(
        "type P : scalarset(3); var x : P; invariant x < x;",
        &[
            "1:45: '<' takes numbers, not a value of the scalarset 'P' [values of a scalarset are not numbers: use a range to count or order]",
        ],
    );
    check(
        "type P : scalarset(3); Q : scalarset(3); var x : P; y : Q; startstate begin x := y; end;",
        &[
            "1:82: 'x' has type 'P', this is a value of the scalarset 'Q' [each 'scalarset(...)' is a type of its own: use the same name for both]",
        ],
    );
    check(
        "type P : scalarset(0); startstate begin end;",
        &["1:20: a scalarset cannot have size 0 [sizes are 1 to 1048576]"],
    );
}

#[test]
fn places() {
    check(
        "const N : 3; startstate begin N := 4; end;",
        &["1:31: 'N' cannot be assigned to: it is a constant"],
    );
    check(
        "var x : 0..3; ruleset i : 0..3 do rule begin i := 1; end; end;",
        &["1:46: 'i' cannot be assigned to: it is bound by a quantifier [copy it to a variable]"],
    );
    check(
        "var x : 0..3; startstate begin for i : 0..3 do undefine i; end; end;",
        &[
            "1:57: 'i' cannot be made undefined: it is bound by a quantifier [copy it to a variable]",
        ],
    );
    check(
        "procedure p(a : boolean); begin a := true; end;",
        &[
            "1:33: 'a' cannot be assigned to: it is a parameter without 'var' [declare it with 'var', or copy it to a variable]",
        ],
    );
    check(
        "type r : record f : boolean end; procedure p(a : r); begin a.f := true; end;",
        &[
            "1:60: 'a.f' cannot be assigned to: 'a' is a parameter without 'var' [declare it with 'var', or copy it to a variable]",
        ],
    );
    check(
        "var x : boolean; startstate begin alias a : !x do a := true; end; end;",
        &["1:51: 'a' cannot be assigned to: it is no variable"],
    );
    check(
        "procedure p(a : boolean); begin alias b : a do b := true; end; end;",
        &[
            "1:48: 'b' cannot be assigned to: it is an alias of what cannot be written [copy it to a variable]",
        ],
    );
}

#[test]
fn functions() {
    check(
        "procedure p(a : boolean); begin end; startstate begin p(); end;",
        &["1:55: 'p' takes 1 argument, not 0"],
    );
    check(
        "procedure p(a : boolean); begin end; startstate begin p(1); end;",
        &["1:57: the parameter has type 'boolean', this is a number"],
    );
    check(
        "procedure p(var a : boolean); begin end; startstate begin p(true); end;",
        &[
            "1:61: a 'var' parameter takes a variable, and this is none [pass a variable, or drop the 'var']",
        ],
    );
    check(
        "procedure p(var a : 0..3); begin end; startstate begin for i : 0..3 do p(i); end; end;",
        &[
            "1:74: a 'var' parameter takes what can be written: 'i' is bound by a quantifier [pass a copy of it in a variable]",
        ],
    );
    check(
        "var x : 0..3; procedure p(var a : 0..4); begin end; startstate begin p(x); end;",
        &[
            "1:72: the 'var' parameter has type '0..4', the variable type '0..3' [give both the same type]",
        ],
    );
    check(
        "var x : boolean; procedure p(); begin end; startstate begin x := p(); end;",
        &["1:66: procedure 'p' returns no value [give it a return type: '... ) : T;']"],
    );
    check(
        "function f() : boolean; begin return 1; end;",
        &["1:38: the function returns 'boolean', this is a number"],
    );
    check("function f() : boolean; begin return; end;", &["1:31: a function returns a value"]);
    check(
        "procedure p(); begin return true; end;",
        &["1:22: a procedure returns no value [write 'return;', or give it a return type]"],
    );
    check("rule begin return true; end;", &["1:12: a rule returns no value [write 'return;']"]);
}

#[test]
fn constants_and_ranges() {
    let wide = "the range does not fit into 64 bits together with 'undefined'";
    check("var x : 0..0xffffffffffffffff; startstate begin end;", &[&format!("1:9: {wide}")]);
    check("var x : -1..0xfffffffffffffff0; startstate begin end;", &[&format!("1:9: {wide}")]);
    check("var x : 0..0xfffffffffffffffe; startstate begin end;", &[]);
    check("var x : 3..1; startstate begin end;", &["1:9: the range is empty: 1 is less than 3"]);
    check(
        "var x : 0..3; y : 0..x; startstate begin end;",
        &["1:22: 'x' is a variable, but a constant is needed here"],
    );
    check(
        "var x : false..true; startstate begin end;",
        &[
            "1:9: the lower bound of a range is a number, not a boolean",
            "1:16: the upper bound of a range is a number, not a boolean",
        ],
    );
    check("const N : 1 / 0; startstate begin end;", &["1:11: division by zero"]);
    check(
        "const N : 18446744073709551615 + 1; startstate begin end;",
        &["1:11: the result does not fit into 64 bits"],
    );
    check(
        "const N : 99999999999999999999; startstate begin end;",
        &["1:11: the number is larger than 18446744073709551615"],
    );
    check(
        "function f() : 0..1; begin return 0; end; var x : 0..f(); startstate begin end;",
        &["1:54: a call is no constant"],
    );
}

#[test]
fn quantifiers() {
    check("startstate begin for i := 0 to 3 by 0 do end; end;", &["1:37: steps of 0 lead nowhere"]);
    check(
        "startstate begin for i := 3 to 0 do end; end;",
        &["1:22: steps of 1 do not lead from 3 to 0 [write 'by -1']"],
    );
    check(
        "type e : enum {A, B}; startstate begin for i := A to B do end; end;",
        &[
            "1:49: a bound is a number, not a value of the enumeration 'e' [write 'x : T' to go through all values of a type]",
            "1:54: a bound is a number, not a value of the enumeration 'e' [write 'x : T' to go through all values of a type]",
        ],
    );
    check(
        "type r : record f : boolean end; ruleset x : r do rule begin end; end;",
        &[
            "1:46: there is no going through all values of 'r' [use a range, an enumeration, a scalarset, a union or boolean]",
        ],
    );
    check(
        "var x : 0..3; ruleset i := 0 to x do rule begin end; end;",
        &["1:33: 'x' is a variable, but a constant is needed here"],
    );
    check(
        "var a : array [0..100000000] of boolean; startstate begin end;",
        &["1:5: 'a' has more than 16777216 parts [make the arrays in its type smaller]"],
    );
}

#[test]
fn unions() {
    check(
        "type P : scalarset(2); U : union {P, 0..3}; startstate begin end;",
        &["1:38: a union cannot have a number in it [a union is of scalarsets and enumerations]"],
    );
    check(
        "type P : scalarset(2); e : enum {A}; U : union {P, P, e}; startstate begin end;",
        &["1:52: 'P' is in this union twice"],
    );
    check(
        "type P : scalarset(2); Q : scalarset(2); U : union {P, enum {A}}; var u : U; q : Q; startstate begin u := q; end;",
        &["1:107: 'u' has type 'U', this is a value of the scalarset 'Q'"],
    );
    check(
        "type P : scalarset(2); Q : scalarset(2); U : union {P, enum {A}}; var u : U; invariant ismember(u, Q);",
        &["1:100: 'Q' is no member of 'U'"],
    );
    check(
        "var x : boolean; invariant ismember(x, boolean);",
        &["1:37: 'ismember' is for values of unions, not a boolean"],
    );
}

#[test]
fn multisets() {
    check(
        "var m : multiset [2] of boolean; startstate begin m[0] := true; end;",
        &[
            "1:53: the multiset 'm' cannot be indexed by a number [choose an element: 'choose i : m do ... m[i] ... end']",
        ],
    );
    check(
        "var m : multiset [2] of boolean; startstate begin multisetadd(1, m); end;",
        &["1:63: the multiset is of 'boolean', this is a number"],
    );
    check(
        "var m : multiset [2] of boolean; startstate begin multisetremove(1, m); end;",
        &[
            "1:66: an index of 'm' is needed, not a number [choose an element: 'choose i : m do ... multisetremove(i, m) ...']",
        ],
    );
    check(
        "var x : boolean; choose i : x do rule begin end; end;",
        &["1:29: 'x' is a boolean, no multiset"],
    );
    check(
        "var m : multiset [2] of boolean; n : multiset [2] of boolean; invariant m = n;",
        &[
            "1:73: a multiset of type 'multiset [2] of boolean' cannot be compared [compare how many elements there are: 'multisetcount(i : m, ...)']",
        ],
    );
    check(
        "var x : boolean; invariant x = undefined;",
        &["1:32: 'undefined' cannot be compared [write 'isundefined(x)']"],
    );
    check(
        "var m : multiset [2] of boolean; invariant multisetcount(i : m, i) = 1;",
        &["1:65: the second argument is a boolean, not an index of a multiset"],
    );
}

#[test]
fn statements() {
    check(
        "var x : boolean; rule begin liveness x; end;",
        &["1:29: 'liveness' is a property of the model, no statement [put it between the rules]"],
    );
    check(
        "var a : array [0..3] of boolean; startstate begin a[4] := true; end;",
        &["1:53: 'a' has no element 4 [its indices are 0..3]"],
    );
    check(
        "var x : boolean; startstate begin x := true; end; liveness x;",
        &["1:51: liveness properties are not checked yet"],
    );
    check(
        "var x : boolean;",
        &[
            "1:1: there is no start state, so there is nothing to check [write 'startstate begin ... end;']",
        ],
    );
}

#[test]
fn all_errors_are_reported_not_the_first() {
    check(
        "var x : boolean;\nrule\n  a := 1;\n  x := ;\n  x := 1;\nend;\ninvariant y;\nvar z : ;\ninvariant z;\n",
        &[
            "3:3: undeclared name 'a'",
            "4:8: expected an expression, found ';'",
            "5:8: 'x' has type 'boolean', this is a number",
            "7:11: undeclared name 'y'",
            "8:9: expected a type, found ';'",
        ],
    );
}

/// What follows from an error that was reported is not reported.
#[test]
fn one_mistake_is_one_error() {
    check(
        "var x : Mistake; y : array [Other] of 0..3; startstate begin x.f[1] := y[x] + 1; end;",
        &["1:9: undeclared type 'Mistake'", "1:29: undeclared type 'Other'"],
    );
    check(
        "const N : M + 1; var a : array [0..N] of 0..N; ruleset i : 0..N do rule a[i] := N; end; end;",
        &["1:11: undeclared name 'M'"],
    );
    check(
        "var x : 0..3; procedure p(a : 0..); begin a := 1; end; startstate begin p(1); x := 9 + ; end;",
        &["1:34: expected an expression, found ')'", "1:88: expected an expression, found ';'"],
    );
}

#[test]
fn errors_have_an_upper_limit() {
    let text = format!("var x : boolean; rule {} end;", "x := 1; ".repeat(500));
    assert_eq!(diagnose(&text).len(), 50);
    let text = format!("rule {} end;", "x := ; ".repeat(500));
    assert_eq!(diagnose(&text).len(), 50);
}

#[test]
fn an_error_is_shown_with_its_line() {
    let text = "var counter: 0..3;\nstartstate begin\n\tcountr := 1;\nend;\n";
    let loaded = read("m.m", text.to_string());
    let shown: String = loaded.diagnostics.iter().map(|d| d.render(&loaded.sources)).collect();
    let expected = "m.m:3:2: error: undeclared name 'countr'\n  3 |  countr := 1;\n    |  ^^^^^^\n  \
                    help: did you mean 'counter'?\n";
    assert_eq!(shown, expected);
}

#[test]
fn broken_symmetry_is_warned_of() {
    let warned = |body: &str| -> Vec<String> {
        let text = format!(
            "type t : scalarset(3); var x, y : t; n : 0..3; a : array [t] of t;\n\
             startstate begin\n{body}\nend;\n"
        );
        let checked = read("m.m", text);
        assert!(checked.model.is_some());
        checked.diagnostics.iter().map(|d| d.message.clone()).collect()
    };
    let cleared = "'clear' gives a scalarset its first value, which breaks its symmetry";
    let last = "the last value wins of a loop over a scalarset, which breaks its symmetry";
    assert_eq!(warned("clear x;"), [cleared]);
    assert_eq!(warned("clear a;"), [cleared]);
    assert_eq!(warned("for i : t do if a[i] = y then x := i; end; end;"), [last]);
    assert_eq!(warned("for i : t do for j : t do x := a[j]; end; end;"), [last]);
    let harmless = [
        "clear n;",
        "undefine x;",
        "for i : t do a[i] := i; end;",
        "for i : t do a[i] := y; x := y; end;",
        "for i : t do n := n + (a[i] = y ? 1 : 0); end;",
    ];
    for body in harmless {
        assert!(warned(body).is_empty(), "{body}");
    }
}
