//! The checked tree: what lowering can rely on.

use lang::murphi::model::*;
use lang::murphi::read;

fn model(text: &str) -> Model {
    let loaded = read("m.m", text.to_string());
    let shown: String = loaded.diagnostics.iter().map(|d| d.render(&loaded.sources)).collect();
    loaded.model.unwrap_or_else(|| panic!("{text}\n{shown}"))
}

/// The value that is assigned by the only statement of the first rule.
fn assigned(text: &str) -> Expr {
    let mut model = model(text);
    match model.rules.remove(0).body.remove(0).kind {
        StmtKind::Assign { value, .. } => value,
        other => panic!("{other:?}"),
    }
}

#[test]
fn constants_are_values() {
    let value =
        |expr: &str| assigned(&format!("const N : 5; var x : -9..9; rule x := {expr} end")).value();
    assert_eq!(value("(N + 1) * 2 - 7 / 2 % 2"), Some(11));
    assert_eq!(value("-N"), Some(-5));
    assert_eq!(value("~0 & 6 | 1 ^ 8 << 1"), Some(23));
    assert_eq!(value("N > 4 & !(N = 5) ? 1 : 2"), Some(2));
    // What would fail when it runs is left to fail there.
    assert_eq!(value("1 / 0"), None);
    assert_eq!(value("0 * x"), None);
    let model = model("const A, B : 3; T : true; startstate begin end");
    let constants: Vec<_> = model.constants.iter().map(|c| (&*c.name, c.ty, c.value)).collect();
    assert_eq!(constants, [("A", TypeId::INT, 3), ("B", TypeId::INT, 3), ("T", TypeId::BOOL, 1)]);
}

/// Where a constant is needed, nothing is executed that could fail.
#[test]
fn zero_times_anything_is_a_constant_bound() {
    let model = model("var x : 0..3; y : 0 * x..(false & x = 1 ? x : 7); startstate begin end");
    assert_eq!(*model.types.get(model.globals[1].ty), Type::Range { low: 0, high: 7 });
}

#[test]
fn operators_are_resolved_by_type() {
    let operator = |declared: &str, expr: &str| match assigned(&format!(
        "var x, y : {declared}; rule x := {expr} end"
    ))
    .kind
    {
        ExprKind::Binary(operator, ..) => operator,
        other => panic!("{other:?}"),
    };
    assert_eq!(operator("boolean", "x & y"), Binary::And);
    assert_eq!(operator("0..3", "x & y"), Binary::BitAnd);
    assert_eq!(operator("boolean", "x | y"), Binary::Or);
    assert_eq!(operator("0..3", "x | y"), Binary::BitOr);
}

#[test]
fn types_are_equal_by_structure_but_for_scalarsets() {
    let model = model(
        "type a : record f : 0..3 end; b : record f : 0..3 end; p : scalarset(2); \
         q : scalarset(2); r : p; var va : a; vb : b; vp : p; vq : q; vr : r; \
         startstate begin va := vb; vp := vr; end",
    );
    let ty = |name: &str| model.globals.iter().find(|g| &*g.name == name).expect(name).ty;
    assert_eq!(ty("va"), ty("vb"));
    assert_ne!(ty("vp"), ty("vq"));
    assert_eq!(ty("vp"), ty("vr"));
    assert_eq!(model.types.name(ty("vq")).map(|n| &**n), Some("q"));
}

#[test]
fn rules_carry_what_encloses_them() {
    let model = model(
        "type p : scalarset(2); var a : array [p] of 0..3; m : multiset [2] of p; \
         ruleset i : p; n := 0 to 3 by 2 do \
           startstate begin a[i] := n; end; \
           alias here : a[i]; two : 2 do \
             rule \"inner\" here = two ==> var v : boolean; begin v := true; end; \
             choose e : m do invariant m[e] = i end; \
           end; \
         end;",
    );
    assert_eq!((model.start_states.len(), model.rules.len(), model.properties.len()), (1, 1, 1));
    let kinds = |binders: &[std::rc::Rc<Binder>]| -> Vec<&str> {
        let kind = |binder: &std::rc::Rc<Binder>| match **binder {
            Binder::Quantifier(_) => "quantifier",
            Binder::Alias(_) => "alias",
            Binder::Choose(_) => "choose",
        };
        binders.iter().map(kind).collect()
    };
    let rule = &model.rules[0];
    assert_eq!(kinds(&rule.binders), ["quantifier", "quantifier", "alias"]);
    let names: Vec<&str> = rule.locals.iter().map(|l| &*l.name).collect();
    assert_eq!(names, ["i", "n", "here", "v"]);
    assert_eq!(rule.locals[2].kind, LocalKind::AliasPlace { writable: true });
    let property = &model.properties[0];
    assert_eq!(kinds(&property.binders), ["quantifier", "quantifier", "alias", "choose"]);
    assert_eq!(model.start_states[0].locals.len(), 2);
}

#[test]
fn names_mean_the_innermost_declaration_above() {
    // The parameter `y` hides nothing: the constant comes later.
    model(
        "var x : boolean; function f(y : boolean) : boolean; begin return y; end; const y : 5; \
         startstate begin x := f(y = 5); end;",
    );
    // Members of an enumeration are as local as its declaration.
    model(
        "var x : 0..1; procedure f(e : enum {A, B}); begin f(A); end; \
         startstate var l : enum {A, C}; begin l := A; end; rule var A : 0..1; begin x := A; end;",
    );
    // Recursion, and a field, a parameter and a variable of the same name.
    model(
        "type r : record x : 0..9 end; var x : r; function f(x : r) : 0..9; begin \
         return x.x = 0 ? 0 : f(x); end; startstate begin x.x := f(x); end;",
    );
}

#[test]
fn unions_take_their_members() {
    model(
        "type p : scalarset(2); e : enum {A, B}; u : union {p, e}; w : union {u, boolean}; \
         var x : u; y : w; a : array [u] of p; b : array [p] of boolean; \
         startstate begin x := A; y := x; y := true; x := undefined; end; \
         ruleset i : u; j : p do rule ismember(i, p) & x = j ==> begin a[i] := x; b[x] := a[A] = i; \
         switch x case A: clear x; case j: undefine x; end; end; end;",
    );
}

#[test]
fn multisets_have_aliases_and_places() {
    model(
        "type p : scalarset(2); h : enum {Home}; n : union {p, h}; \
         m : record dest : n; seen : boolean end; \
         var net : array [n] of multiset [3] of m; done : array [p] of boolean; \
         procedure get(x : m; who : p); begin done[who] := x.seen; end; \
         startstate begin undefine net; multisetremovepred(i : net[Home], true); clear done; end; \
         ruleset who : n do choose i : net[who] do alias box : net[who]; x : box[i] do \
         rule ismember(who, p) & multisetcount(j : box, box[j].seen) < 2 ==> \
           get(x, who); x.dest := Home; multisetadd(x, net[x.dest]); multisetremove(i, box); \
         endrule endalias endchoose endruleset",
    );
}

/// The deepest tree there can be is checked and freed on a small stack.
#[test]
fn deep_trees_fit_on_the_stack() {
    let chain = format!("x{}", " & x".repeat(990));
    let blocks = 240;
    let (open, close) = ("if x then ".repeat(blocks), "end; ".repeat(blocks));
    model(&format!("var x : boolean; rule {chain} ==> {open} x := {chain}; {close} end"));
    let mut deep = String::from("x");
    for _ in 0..20 {
        deep = format!("forall i : 0..({deep}{} ? 1 : 0) do x end", " & x".repeat(900));
    }
    let loaded = read("m.m", format!("var x : boolean; invariant {deep};"));
    assert_eq!(loaded.diagnostics[0].message, "the expression has too many levels");
}

#[test]
fn spellings_of_both_tools_are_read() {
    model(
        "CONST n : 0x2 TYPE t : 0 .. n VAR x : t y : Array[t] Of Boolean \
         STARTSTATE “begin” BEGIN x ≔ 0; Clear y END \
         Rule “go” ∀ i : t Do ¬y[i] ∨ x ≥ 1 EndForall ⇒ Begin \
           For i := n To 0 By −1 Do y[i] := i % 2 == 1 EndFor; \
           Put \"x = \"; Put x; Error \"done\" EndRule \
         Assert x <= n \"small\" Invariant \"small\" x ≤ n × 1 ÷ 1; Assume x != 3; Cover x = 2",
    );
}
