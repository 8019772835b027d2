//! Whole-preprocessor tests: text in, tokens out, one line of output for each
//! line break the parser would see.

use super::*;
use crate::promela::token::TokenKind;

/// Include files by name.
struct Files(Vec<(&'static str, String)>);

impl Loader for Files {
    fn load(&self, name: &str, _from: &str) -> Result<(String, String), String> {
        let found = self.0.iter().find(|(known, _)| *known == name).ok_or("no such file")?;
        Ok((name.into(), found.1.clone()))
    }
}

struct Outcome {
    tokens: Vec<Token>,
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
}

fn run_with(text: &str, defines: &[(&str, &str)], files: Files) -> Outcome {
    let mut sources = Sources::default();
    let main = sources.add("m.pml", text);
    let defines: Vec<_> = defines.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    let mut diagnostics = Vec::new();
    let tokens = tokenize(main, &defines, &files, &mut sources, &mut diagnostics);
    Outcome { tokens, sources, diagnostics }
}

fn run(text: &str) -> Outcome {
    run_with(text, &[], Files(vec![]))
}

/// The tokens as text, with the line breaks that the parser sees.
fn show(tokens: &[Token]) -> String {
    let mut out = String::new();
    for token in tokens {
        let text = match &token.kind {
            TokenKind::Name(name) => name.to_string(),
            TokenKind::Number(value) => value.to_string(),
            TokenKind::Text(text) => format!("\"{text}\""),
            TokenKind::Punct(punct) => punct.to_string(),
            TokenKind::End => return out,
        };
        if !out.is_empty() {
            out.push(if token.after_newline { '\n' } else { ' ' });
        }
        out.push_str(&text);
    }
    panic!("no end token");
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let outcome = run(text);
    assert_eq!(show(&outcome.tokens), expected, "preprocessing {text:?}");
    assert_eq!(outcome.diagnostics, [], "preprocessing {text:?}");
}

/// Expects diagnostics, each as `line:column: message` (`~` marks a warning),
/// and checks the tokens that are left.
#[track_caller]
fn check_reports(text: &str, reports: &[&str], expected: &str) {
    let outcome = run(text);
    assert_eq!(describe(&outcome), reports, "preprocessing {text:?}");
    assert_eq!(show(&outcome.tokens), expected, "preprocessing {text:?}");
}

fn describe(outcome: &Outcome) -> Vec<String> {
    let describe = |diagnostic: &Diagnostic| {
        let at = outcome.sources.position(diagnostic.span);
        let mark = if diagnostic.is_error() { "" } else { "~" };
        format!("{mark}{}:{}: {}", at.line, at.column, diagnostic.message)
    };
    outcome.diagnostics.iter().map(describe).collect()
}

#[test]
fn promela_tokens_have_their_values() {
    check("a->b :: c!!d,1 ?? [x]", "a -> b :: c !! d , 1 ?? [ x ]");
    check("0 007 2147483647 'a' '\\n' '\\\\' '\\''", "0 7 2147483647 97 10 92 39");
    check(r#"printf("a\n%d\"", x)"#, r#"printf ( "a\n%d\"" , x )"#);
    check("<> <-> /\\ \\/ a..b", "< > < -> /\\ \\/ a .. b");
    check("3x", "3 x");
    check("", "");
}

#[test]
fn line_breaks_are_those_of_the_preprocessed_text() {
    check("a b\nc\n\n\nd", "a b\nc\nd");
    check("a /* x\ny */ b", "a\nb");
    check("a /* x */ b // c\nd", "a b\nd");
    check("a \\\n b", "a b");
    check("a\n#define X 1\n#undef X\nb c", "a\nb c");
    check("#define M x /*\n*/ y\na M\nM", "a x y\nx y");
    check("#define E\na\nE b\nE\nc", "a\nb\nc");
    // A call is on one line, what follows it on the next, as in gcc's output.
    check("#define f(x, y) x y\na f(1\n,\n2) b c\nd", "a 1 2\nb c\nd");
    check("#define f(x) <x>\nf\n(1)\nf\ng", "< 1 >\nf\ng");
    assert!(run("a").tokens[0].after_newline);
}

#[test]
fn tokens_of_an_expansion_stand_where_the_macro_is_used() {
    let outcome = run("#define N 3\n#define f(x) x + N\n  f(y) z");
    let places: Vec<_> = outcome.tokens.iter().map(|t| outcome.sources.text(t.span)).collect();
    assert_eq!(places, ["f(y)", "f(y)", "f(y)", "z", ""]);
    assert_eq!(outcome.sources.position(outcome.tokens[2].span).column, 3);
}

#[test]
fn macros_expand_as_in_c() {
    check("#define N 3\nN+N NN", "3 + 3 NN");
    check("#define f(a, b) b a\nf(1, 2) f((1,2), [3]) f(,) f (1,2) f", "2 1 [ 3 ] ( 1 , 2 ) 2 1 f");
    check("#define N 4\n#define f(x) x*N\nf(f(N))", "4 * 4 * 4");
    check("#define f() x\nf() f( )", "x x");
    check("#define f(x) [x]\nf()", "[ ]");
    check("#define F (1)\nF", "( 1 )");
    check("#define N 5\n1..N", "1 .. 5");
    check("#define f(x) g\n#define g(x) <x>\nf(1)(2)", "< 2 >");
    check("#define f(x) <x>\nf\n#define g\n(1)", "f\n( 1 )");
    check("#define N 1\n#undef N\nN\n#undef N", "N");
    check("#define N 1\n#define N 1\nN", "1");
    check("__LINE__\n__LINE__ __FILE__", "1\n2 \"m.pml\"");
    check("#define L __LINE__\n\nL", "3");
    check("#define \\\n  N \\\n  7\nN", "7");
}

#[test]
fn macros_do_not_expand_themselves() {
    check("#define x x + 1\nx", "x + 1");
    check("#define a b\n#define b a\na b", "a b");
    check("#define f(x) f(x) g\nf(f(1))", "f ( f ( 1 ) g ) g");
    check("#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)", "2 * 9 * g");
    // The examples of the C standard, 6.10.3.5.
    check(
        "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n\
         #define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n\
         #define q(x) x\n#define r(x,y) x ## y\n#define str(x) # x\n\
         f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\n\
         g(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n\
         p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\n\
         str(hello) str( a  \"b\\n\" 'c' + d )",
        "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ;\n\
         f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) )\n\
         ^ m ( 0 , 1 ) ;\n\
         int i [ ] = { 1 , 23 , 4 , 5 , } ;\n\
         \"hello\" \"a \\\"b\\\\n\\\" 'c' + d\"",
    );
}

#[test]
fn arguments_are_quoted_and_pasted() {
    check("#define s(x) #x\ns( a  +\n b ) s() s(\"\\\\\")", "\"a + b\"\n\"\" \"\\\"\\\\\\\\\\\"\"");
    check(
        "#define cat(a, b) a##b\ncat(p_, 1) cat(1, 2) cat(-, >) cat(, x) cat(y, ) cat(,)",
        "p_1 12 -> x y",
    );
    check(
        "#define N 1\n#define cat(a, b) a##b\n#define c(a, b) cat(a, b)\ncat(N, N) c(N, N)",
        "NN 11",
    );
    check("#define f(a) x##a##y a\n#define e\nf(e) f()", "xey xy");
    check("#define hash #\nc_code { hash }", "c_code { }");
    check("#define cat(a, b) a##b\n#define xy cat(x, y)\nxy", "xy");
}

#[test]
fn variadic_macros_take_the_rest() {
    check(
        "#define f(...) g(__VA_ARGS__)\nf(1, 2) f() f((1, 2), 3)",
        "g ( 1 , 2 ) g ( ) g ( ( 1 , 2 ) , 3 )",
    );
    check("#define f(a, ...) g(a, __VA_ARGS__)\nf(1, 2, 3) f(1)", "g ( 1 , 2 , 3 ) g ( 1 , )");
    check(
        "#define f(a, ...) g(a, ##__VA_ARGS__)\nf(1, 2) f(1,) f(1)",
        "g ( 1 , 2 ) g ( 1 , ) g ( 1 )",
    );
    check("#define b f(2,)\n#define f(a, ...) a , ##__VA_ARGS__\nf(1, b)", "1 , f ( 2 , )");
    check("#define f(r...) g(r)\nf(1, 2)", "g ( 1 , 2 )");
    check("#define f(...) #__VA_ARGS__\nf(a, b)", "\"a, b\"");
}

#[test]
fn conditions_choose_lines() {
    check("#if 1\na\n#else\nb\n#endif\nc", "a\nc");
    check("#if 0\na\n#elif 1\nb\n#elif 1/0\nc\n#else\nd\n#endif", "b");
    check("#ifdef X\na\n#else\nb\n#endif\n#ifndef X\nc\n#endif", "b\nc");
    check("#if 0\n#if 1\na\n#else\nb\n#endif\n#elif 0\n#else\nc\n#endif", "c");
    check("#define X\n#if defined X && defined(X) && !defined Y\na\n#endif", "a");
    check("#define X 2\n#define P defined(X) && X > 1\n#if P\na\n#endif", "a");
    check("#define f(x) (x) + 1\n#if f(1) == 2 && /*\n*/ __LINE__ == 3\na\n#endif", "a");
    check("#if 0\ndon't \"\n#bogus\n#error no\n#include <x>\n0x1 “\n#endif\na", "a");
    check("f(\n#define x 1\n#ifdef x\nx\n#endif\n)", "f (\n1\n)");
    check("#define f(x) <x>\nf(\n#if 1\n1\n#else\n2\n#endif\n)", "< 1 >");
    check("# 12 \"f\"\n#line 3\n#pragma x\n#ident \"x\"\n#\na", "a");
}

#[test]
fn command_line_macros_are_defined_first() {
    let outcome = run_with(
        "N f(2)\n#ifdef D\nd\n#endif",
        &[("N", "7"), ("f(x)", "x+1"), ("D", "1")],
        Files(vec![]),
    );
    assert_eq!(show(&outcome.tokens), "7 2 + 1\nd");
    assert_eq!(outcome.diagnostics, []);
    let outcome = run_with("#define N 8\nN", &[("N", "7"), ("3", "")], Files(vec![]));
    let messages: Vec<_> = outcome.diagnostics.iter().map(|d| &*d.message).collect();
    assert_eq!(messages, ["'3' is not a macro name", "macro 'N' is redefined"]);
    assert_eq!(show(&outcome.tokens), "8");
}

#[test]
fn includes_are_read_in_place() {
    let files = vec![
        ("a.h", "#define N 1\nx".into()),
        ("b.h", "#pragma once\n#include \"a.h\"\ny f".into()),
        ("d.h", "#ifdef N\n".into()),
    ];
    let text = "#define f(x) <x>\n#define B \"b.h\"\np\n#include \"b.h\"\n(N) \n#include B\n\
                #include \"c.h\"\n#include <c.h>\n#include\n#include \"d.h\"\nq";
    let outcome = run_with(text, &[], Files(files));
    assert_eq!(show(&outcome.tokens), "p\nx\ny f\n( 1 )\nq");
    assert_eq!(
        describe(&outcome),
        [
            "7:10: cannot read 'c.h': no such file",
            "8:10: there is no header '<c.h>'",
            "9:1: '#include' without a file name",
            "1:1: this condition has no '#endif'",
        ]
    );
    assert_eq!(outcome.sources.files.len(), 4);
    assert_eq!(outcome.sources.position(outcome.tokens[1].span).file, "a.h");
    assert_eq!(outcome.sources.position(outcome.diagnostics[3].span).file, "d.h");
}

#[test]
fn malformed_text_is_reported_where_it_stands() {
    check_reports("a\n /* b", &["2:2: the comment is not closed"], "a");
    check_reports("a \"b\nc", &["1:3: the string is not closed on its line"], "a \"b\"\nc");
    check_reports("a 'b\nc", &["1:3: the character constant is not closed on its line"], "a\nc");
    check_reports(
        "'' 'ab'",
        &[
            "1:1: a character constant holds one character",
            "1:4: a character constant holds one character",
        ],
        "0 0",
    );
    check_reports("'é'", &["1:1: 'é' is not an ASCII character"], "0");
    check_reports("'\\0'", &["~1:1: '\\0' is read as '0', which is 48"], "48");
    check_reports("0x10", &["1:1: hexadecimal numbers are not part of Promela"], "0");
    check_reports(
        "4294967295",
        &["~1:1: '4294967295' does not fit into 32 bits and is read as -1"],
        "-1",
    );
    check_reports(
        "99999999999999999999",
        &["~1:1: '99999999999999999999' does not fit into 32 bits and is read as -1"],
        "-1",
    );
    check_reports(
        "a “”x ` \\ #",
        &[
            "1:3: '“”' is not part of Promela",
            "1:7: '`' is not part of Promela",
            "1:9: '\\' is not part of Promela",
            "1:11: stray '#'",
        ],
        "a x",
    );
    check_reports("a\u{a0}b", &["1:2: 'U+00A0' is not part of Promela"], "a b");
    check_reports(
        "// a \\\nb\nc",
        &["~1:1: the comment goes on in the next line, because it ends with '\\'"],
        "c",
    );
    check_reports(
        "a /\\\n b",
        &["~1:3: '/\\' at the end of a line is read as '/' and a line continuation"],
        "a / b",
    );
}

#[test]
fn malformed_directives_are_reported_where_they_stand() {
    check_reports("#if 1\n#if 0\n#endif", &["1:1: this condition has no '#endif'"], "");
    check_reports(
        "#else\n#elif\n#endif",
        &[
            "1:1: '#else' without '#if'",
            "2:1: '#elif' without '#if'",
            "3:1: '#endif' without '#if'",
        ],
        "",
    );
    check_reports(
        "#if 0\n#else\na\n#elif 1\nb\n#else\nc\n#endif",
        &["4:1: '#elif' after '#else'", "6:1: '#else' after '#else'"],
        "a",
    );
    check_reports(
        "#if\na\n#else X\nb\n#endif",
        &["1:1: the condition is missing", "~3:7: the text after '#else' is ignored"],
        "b",
    );
    check_reports(
        "#if 1/0\n#endif\n#if defined(\n#endif\n#ifdef\n#endif\n#ifdef 1\n#endif",
        &[
            "1:6: division by zero in the condition",
            "3:5: 'defined' is not followed by a macro name",
            "5:1: '#ifdef' without a macro name",
            "7:8: '1' is not a macro name",
        ],
        "",
    );
    check_reports(
        "#error a 'b\n#warning\n#bogus\n#+",
        &[
            "1:1: #error a 'b",
            "~2:1: #warning",
            "3:1: unknown directive '#bogus'",
            "4:1: '#+' is not a directive",
        ],
        "",
    );
}

#[test]
fn malformed_definitions_are_reported_where_they_stand() {
    check_reports(
        "#define\n#define 1\n#define defined 1\n#define f(\n#define f(a,a)\n#define f(a b)",
        &[
            "1:1: '#define' without a macro name",
            "2:9: '1' is not a macro name",
            "3:9: 'defined' cannot be the name of a macro",
            "4:10: the parameter list is not closed",
            "5:13: parameter 'a' occurs twice",
            "6:13: unexpected 'b' in the parameter list",
        ],
        "",
    );
    check_reports(
        "#define f(x) #y\n#define g ## 1\n#define h 1 ##\nf",
        &[
            "1:14: '#' is not followed by a parameter of the macro",
            "2:11: '##' stands at an end of the macro's body",
            "3:13: '##' stands at an end of the macro's body",
        ],
        "f",
    );
}

#[test]
fn malformed_calls_are_reported_where_they_stand() {
    check_reports("#define N 1\n#define N 2\nN", &["~2:9: macro 'N' is redefined"], "2");
    check_reports(
        "#define f(x) x\nf(1, 2) f",
        &["2:1: macro 'f' takes 1 argument but is given 2"],
        "f f",
    );
    check_reports(
        "#define f(x, y, ...) x\nf(1)",
        &["2:1: macro 'f' takes at least 2 arguments but is given 1"],
        "f",
    );
    check_reports("#define f() x\nf(1)", &["2:1: macro 'f' takes 0 arguments but is given 1"], "f");
    check_reports(
        "#define f(x) x\na f(1, (2)",
        &["2:3: the call of macro 'f' is not closed"],
        "a f",
    );
    check_reports(
        "#define c(a, b) a##b\nc(+, x)",
        &["2:1: '##' makes no token of '+' and 'x'"],
        "+ x",
    );
    check_reports(
        "#define c(a, b) a##b\nc(/, /)",
        &["2:1: '##' makes no token of '/' and '/'"],
        "/ /",
    );
    check_reports(
        "#define Q 0x1\na\n Q",
        &["3:2: hexadecimal numbers are not part of Promela"],
        "a\n0",
    );
}

#[test]
fn embedded_c_is_skipped() {
    check("c_code { int x = 0x10; { '' } \"}\" \\# ` /* } */ } a", "c_code { } a");
    check("c_expr [x[0]->y ` ] { 1 }\nb", "c_expr { }\nb");
    check("c_decl {\n\\#include <stdio.h>\n#if 0\n}\n#endif\n}\nc", "c_decl {\n}\nc");
    check("c_state \"int x\" \"Global\" c_track", "c_state \"int x\" \"Global\" c_track");
    check_reports("c_code { {", &["1:8: the embedded C code is not closed"], "c_code {\n}");
    check_reports("c_code [ {", &["1:8: the embedded C code is not closed"], "c_code");
}

#[test]
fn growth_without_bound_is_stopped() {
    let last = |text: &str| run(text).diagnostics.last().map(|d| d.message.clone());
    let too_much = Some("macros and includes expand to too much text".to_string());
    let chain = |body: &dyn Fn(usize) -> String| (1..64).map(body).collect::<String>();
    let doubling = chain(&|i| format!("#define a{i} a{} a{}\n", i - 1, i - 1));
    assert_eq!(last(&format!("{doubling}a63")), too_much);
    assert_eq!(last(&format!("#define a0\n{doubling}a63")), too_much);
    assert_eq!(last(&format!("{doubling}#if a63\n#endif")), too_much);
    let paste = chain(&|i| format!("#define p{i}(x) p{}(x##x)\n", i - 1));
    assert_eq!(last(&format!("{paste}p63(y)")), too_much);
    let quote = chain(&|i| format!("#define q{i}(x) q{}(#x #x)\n", i - 1));
    assert_eq!(last(&format!("{quote}q63(y)")), too_much);
    let nested = format!("#define f(x) x\n{}{}", "f(".repeat(1000), ")".repeat(1000));
    assert_eq!(last(&nested), Some("macro calls are nested too deeply".into()));
}

#[test]
fn endless_includes_are_stopped() {
    let own = Files(vec![("a", "#include \"a\"\n#include \"a\"\n".into())]);
    let outcome = run_with("#include \"a\"\n#include \"a\"", &[], own);
    assert_eq!(describe(&outcome), ["1:10: includes are nested too deeply"]);
    let names =
        ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q"];
    let twice = |name: &str| format!("#include \"{name}\"\n").repeat(8);
    let mut files: Vec<_> = names.windows(2).map(|w| (w[0], twice(w[1]))).collect();
    files.push(("q", String::new()));
    let outcome = run_with("#include \"a\"", &[], Files(files));
    assert_eq!(describe(&outcome), ["7:10: macros and includes expand to too much text"]);
}

#[test]
fn a_missing_main_file_has_no_tokens() {
    let tokens = tokenize(3, &[], &FileLoader, &mut Sources::default(), &mut Vec::new());
    assert_eq!(tokens.len(), 1);
    assert!(FileLoader.load("no/such/file", "m.pml").is_err());
    assert!(FileLoader.load(".", "m.pml").is_err());
}

/// A linear congruential generator: the tests must not differ between runs.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

/// Pieces that make the interesting places likely.
const PIECES: &[&str] = &[
    "#",
    "##",
    "\n#define ",
    "\n#define f(x, ...) ",
    "\n#define g(x) ",
    "\n#if ",
    "\n#ifdef f",
    "\n#elif ",
    "\n#else",
    "\n#endif\n",
    "\n#undef f\n",
    "\n#include \"a.h\"\n",
    "\n#include <",
    "\n#error ",
    "f",
    "g",
    "x",
    "f(",
    "g(x",
    "(",
    ")",
    ",",
    "defined",
    "__VA_ARGS__",
    "__LINE__",
    "__FILE__",
    "0",
    "1",
    "0x1",
    "99999999999",
    "\"",
    "'",
    "\\",
    "\\\n",
    "\n",
    "\r\n",
    " ",
    "/*",
    "*/",
    "//",
    "+",
    "/",
    "?",
    ":",
    "!",
    "<<",
    "-",
    "&&",
    "c_code",
    "{",
    "}",
    "[",
    "]",
    "...",
    "..",
    "é",
    "“",
    "\u{feff}",
    "\0",
    "'a'",
    "\"s\"",
];

#[test]
fn random_text_never_panics() {
    let mut random = Random(1);
    for round in 0..6000 {
        let text: String = if round % 3 == 0 {
            let bytes: Vec<u8> = (0..random.below(60)).map(|_| random.below(256) as u8).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        } else {
            (0..random.below(60)).map(|_| PIECES[random.below(PIECES.len())]).collect()
        };
        let included = "#ifdef f\nf(x\n#else\n#define f(x) x f\n#include \"a.h\"\n".to_string();
        let outcome = run_with(&text, &[("f", "g g")], Files(vec![("a.h", included)]));
        let ends = outcome.tokens.iter().filter(|token| token.kind == TokenKind::End).count();
        assert_eq!(ends, 1, "preprocessing {text:?}");
        assert_eq!(outcome.tokens.last().map(|token| &token.kind), Some(&TokenKind::End));
        for diagnostic in &outcome.diagnostics {
            assert!(!diagnostic.render(&outcome.sources).is_empty());
        }
    }
}
