//! Shapes of syntax trees, written with all their parentheses.

use super::*;
use crate::murphi::lex::lex;

fn parse_text(text: &str) -> (Program, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let tokens = lex(text, 0, &mut diagnostics);
    let program = parse(tokens, &mut diagnostics);
    (program, diagnostics)
}

fn show(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Number(value) => value.to_string(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Name(name) => name.to_string(),
        ExprKind::Field(base, field) => format!("{}.{}", show(base), field.node),
        ExprKind::Index(base, index) => format!("{}[{}]", show(base), show(index)),
        ExprKind::Call(call) => {
            let args: Vec<String> = call.args.iter().map(show).collect();
            format!("{}({})", call.function.node, args.join(", "))
        }
        ExprKind::Unary(operator, operand) => {
            let text = match operator {
                Unary::Not => "!",
                Unary::Neg => "-",
                Unary::BitNot => "~",
            };
            format!("({text}{})", show(operand))
        }
        ExprKind::Binary(operator, left, right) => {
            format!("({} {} {})", show(left), operator.node.text(), show(right))
        }
        ExprKind::Cond(c, a, b) => format!("({} ? {} : {})", show(c), show(a), show(b)),
        ExprKind::Quantified { forall, quantifier, body } => {
            let word = if *forall { "forall" } else { "exists" };
            format!("{word} {} do {} end", quantifier.name.node, show(body))
        }
        ExprKind::IsUndefined(place) => format!("isundefined({})", show(place)),
        ExprKind::IsMember(value, _) => format!("ismember({}, ...)", show(value)),
        ExprKind::MultisetCount { choice, condition } => {
            format!("count({} : {}, {})", choice.name.node, show(&choice.multiset), show(condition))
        }
        ExprKind::Wrong => "wrong".into(),
    }
}

fn check(text: &str, expected: &str) {
    let (program, diagnostics) = parse_text(&format!("invariant {text};"));
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    let [Item::Rule(Rule::Property(property))] = &program.items[..] else {
        panic!("{text}: {program:?}")
    };
    assert_eq!(show(&property.condition), expected, "{text}");
}

fn check_wrong(text: &str, expected: &[&str]) {
    let (_, diagnostics) = parse_text(text);
    let said: Vec<String> =
        diagnostics.iter().map(|d| format!("{}: {}", d.span.start, d.message)).collect();
    assert_eq!(said, expected, "{text}");
}

#[test]
fn precedences() {
    check("a | b & c = d + e * f", "(a | (b & (c = (d + (e * f)))))");
    check("a -> b || c && d", "(a -> (b || (c && d)))");
    check("a && b | c", "(a && (b | c))");
    check("a ^ b & c << 1 = d", "(a ^ (b & ((c << 1) = d)))");
    check("a - b - c", "((a - b) - c)");
    check("-a * b + ~c", "(((-a) * b) + (~c))");
    check("a == b", "(a = b)");
}

#[test]
fn not_is_weaker_than_comparisons() {
    check("!a = b & c", "((!(a = b)) & c)");
    check("a = !b = c", "(a = (!(b = c)))");
    check("1 + !a < b", "(1 + (!(a < b)))");
    check("!!a", "(!(!a))");
}

#[test]
fn conditionals() {
    check("a -> b ? c : d -> e", "((a -> b) ? c : (d -> e))");
    check("a ? b ? c : d : e", "(a ? (b ? c : d) : e)");
    check("a ? b : (c ? d : e)", "(a ? b : (c ? d : e))");
}

#[test]
fn designators_and_calls() {
    check("a[i + 1].b[c.d]", "a[(i + 1)].b[c.d]");
    check("f(a, g(), ) & +h", "(f(a, g()) & h)");
    check(
        "forall i : 0..3 do exists j := a to b by 2 do x end endforall",
        "forall i do exists j do x end end",
    );
    check(
        "MultisetCount(i : net[n], net[n][i] = x) < 3",
        "(count(i : net[n], (net[n][i] = x)) < 3)",
    );
    check("IsMember(x, T) | isundefined(y.z)", "(ismember(x, ...) | isundefined(y.z))");
}

#[test]
fn what_does_not_associate() {
    let message = "cannot follow another one without parentheses";
    check_wrong("invariant a = b = c;", &[&format!("16: '=' {message}")]);
    check_wrong("invariant a -> b -> c;", &[&format!("17: '->' {message}")]);
    check_wrong("invariant a ? b : c ? d : e;", &[&format!("20: '?' {message}")]);
}

#[test]
fn sections_in_any_order() {
    let text = "const a, b : 1 c : 2; var x, y, : 0..1 rule x := 1 end type t : enum {A, B,} \
                var z : record f : t g : boolean end; procedure p(var q : t r : t) begin end";
    let (program, diagnostics) = parse_text(text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let kinds: Vec<&str> = program
        .items
        .iter()
        .map(|item| match item {
            Item::Decl(Decl::Const { .. }) => "const",
            Item::Decl(Decl::Type { .. }) => "type",
            Item::Decl(Decl::Var(_)) => "var",
            Item::Function(_) => "function",
            Item::Rule(_) => "rule",
        })
        .collect();
    assert_eq!(kinds, ["const", "const", "var", "rule", "type", "var", "function"]);
}

#[test]
fn guards_are_told_from_statements() {
    let guarded = |text: &str| {
        let (program, diagnostics) = parse_text(text);
        assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
        let [Item::Rule(Rule::Simple(rule))] = &program.items[..] else { panic!("{program:?}") };
        (rule.guard.is_some(), rule.body.len())
    };
    assert_eq!(guarded("rule \"r\" x = 1 ==> x := 2; y := 3 endrule"), (true, 2));
    assert_eq!(guarded("rule x[i].f := 2 end"), (false, 1));
    assert_eq!(guarded("rule begin x := 2 end"), (false, 1));
    assert_eq!(guarded("rule f(x) ==> end"), (true, 0));
    assert_eq!(guarded("rule f(x) end"), (false, 1));
    assert_eq!(
        guarded("rule forall i := 0 to 2 do a[i] end ==> var v : t; begin v := 1; end"),
        (true, 1)
    );
}

#[test]
fn soft_keywords_are_names_elsewhere() {
    let text = "var choose, multiset : boolean; rule choose := multiset end; \
                choose i : m do rule multisetremove(i, m) end endchoose;";
    let (program, diagnostics) = parse_text(text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert!(matches!(program.items.last(), Some(Item::Rule(Rule::Choose { .. }))));
}

#[test]
fn goes_on_after_errors() {
    check_wrong(
        "rule if x y then a := ; end; b := 2 c := 3; while d do endif; e = 4; end; var f : ; g : t;",
        &[
            "10: expected 'then', found 'y'",
            "22: expected an expression, found ';'",
            "35: expected ';' before 'c'",
            "55: expected 'end' or 'endwhile', found 'endif'",
            "64: '=' compares",
            "82: expected a type, found ';'",
        ],
    );
    check_wrong("end; rule end end", &["0: 'end' closes nothing", "14: 'end' closes nothing"]);
}

#[test]
fn depth_is_limited() {
    let nested = format!("invariant {}x{};", "(".repeat(5000), ")".repeat(5000));
    let (_, diagnostics) = parse_text(&nested);
    assert_eq!(diagnostics[0].message, "nested too deeply");
    let chain = format!("invariant x{};", " & x".repeat(50_000));
    let (_, diagnostics) = parse_text(&chain);
    assert_eq!(diagnostics[0].message, "the expression has too many levels");
    let statements = format!("rule {} end", "if x then ".repeat(10_000));
    assert_eq!(parse_text(&statements).1[0].message, "nested too deeply");
    let types = format!("var x : {} t;", "array [t] of ".repeat(10_000));
    assert_eq!(parse_text(&types).1[0].message, "nested too deeply");
    let indices = format!("rule x{} := 1 end", "[1]".repeat(10_000));
    assert_eq!(parse_text(&indices).1[0].message, "the expression has too many levels");
}
