//! Statements and sequences.

use super::{Failed, Parse, Parser};
use crate::diagnostic::Diagnostic;
use crate::promela::ast::*;
use crate::promela::token::TokenKind;
use ir::source::Span;

impl Parser<'_> {
    /// `{ sequence }`
    pub(super) fn block(&mut self) -> Parse<Body> {
        self.expect("{")?;
        self.block_rest()
    }

    /// A block behind its opening brace.
    pub(super) fn block_rest(&mut self) -> Parse<Body> {
        let steps = self.nested(|p| p.sequence())?;
        let end = self.span();
        self.expect("}")?;
        Ok(Body { steps, end })
    }

    /// Statements up to `}`, `::`, `fi` or `od`. At least one.
    fn sequence(&mut self) -> Parse<Vec<Stmt>> {
        let start = self.span();
        let mut steps = Vec::new();
        let mut failed = false;
        loop {
            self.separators();
            if self.at_sequence_end() {
                break;
            }
            let before = self.cursor.pos();
            match self.step() {
                Ok(step) => {
                    steps.push(step);
                    self.check_separator();
                }
                Err(Failed) => {
                    failed = true;
                    self.skip_statement(before);
                }
            }
        }
        if steps.is_empty() && !failed {
            self.error(
                Diagnostic::error(start, "empty sequence")
                    .help("a sequence needs at least one statement; 'skip' does nothing"),
            );
        }
        Ok(steps)
    }

    fn separators(&mut self) {
        while self.at(";") || self.at("->") {
            self.bump();
        }
    }

    fn at_sequence_end(&self) -> bool {
        match self.peek() {
            TokenKind::Punct("}" | "::") | TokenKind::End => true,
            TokenKind::Name(n) => matches!(&**n, "fi" | "od"),
            _ => false,
        }
    }

    /// After a statement comes a separator, except after `}` and `else`.
    fn check_separator(&mut self) {
        if self.at(";") || self.at("->") || self.at_sequence_end() {
            return;
        }
        let optional = match self.cursor.previous().map(|t| &t.kind) {
            Some(TokenKind::Punct("}")) => true,
            Some(TokenKind::Name(n)) => matches!(&**n, "else" | "fi" | "od"),
            _ => false,
        };
        if !optional {
            let _ = self.unexpected::<()>("';' or '->'");
        }
    }

    /// After an error: to the next separator or end of sequence on this level.
    fn skip_statement(&mut self, before: usize) {
        self.parens = 0;
        let mut braces = 0usize;
        let mut moved = self.cursor.pos() > before;
        while !self.at_end() {
            match self.peek() {
                TokenKind::Punct("{") => braces += 1,
                TokenKind::Punct("}") if braces == 0 => return,
                TokenKind::Punct("}") => braces -= 1,
                TokenKind::Punct(";" | "->" | "::") if braces == 0 && moved => return,
                TokenKind::Name(n) if braces == 0 && matches!(&**n, "fi" | "od") => return,
                _ => {}
            }
            self.bump();
            self.parens = 0;
            moved = true;
        }
    }

    fn step(&mut self) -> Parse<Stmt> {
        let start = self.span();
        if self.at_decl() {
            let decl = self.decl()?;
            return Ok(Stmt { kind: StmtKind::Decl(decl), span: start.to(self.prev_span()) });
        }
        if self.at_name("xr") || self.at_name("xs") {
            let receive = self.at_name("xr");
            self.bump();
            let mut chans = vec![self.var_ref()?];
            while self.eat(",") {
                chans.push(self.var_ref()?);
            }
            let kind = StmtKind::Exclusive { receive, chans };
            return Ok(Stmt { kind, span: start.to(self.prev_span()) });
        }
        let stmt = self.stmt()?;
        // On a new line `unless` still belongs to the statement.
        if !matches!(self.peek_at(0), TokenKind::Name(n) if &**n == "unless") {
            return Ok(stmt);
        }
        self.semicolon_taken = Some(self.cursor.pos());
        self.bump();
        let escape = self.stmt()?;
        let span = stmt.span;
        Ok(Stmt { kind: StmtKind::Unless(Box::new(stmt), Box::new(escape)), span })
    }

    pub(super) fn stmt(&mut self) -> Parse<Stmt> {
        self.nested(|p| p.stmt_inner())
    }

    fn stmt_inner(&mut self) -> Parse<Stmt> {
        let start = self.span();
        let kind = self.stmt_kind(start)?;
        Ok(Stmt { kind, span: start.to(self.prev_span()) })
    }

    fn stmt_kind(&mut self, start: Span) -> Parse<StmtKind> {
        if self.at("{") {
            return Ok(StmtKind::Block(self.block()?));
        }
        let TokenKind::Name(word) = self.peek().clone() else {
            return self.expr_stmt();
        };
        match &*word {
            "if" => Ok(StmtKind::If(self.options("fi", start)?)),
            "do" => {
                self.loops += 1;
                let options = self.options("od", start);
                self.loops = self.loops.saturating_sub(1);
                Ok(StmtKind::Do(options?))
            }
            "for" => self.for_stmt(),
            "select" => self.select_stmt(),
            "atomic" | "d_step" => {
                self.bump();
                let body = self.block()?;
                Ok(if &*word == "atomic" { StmtKind::Atomic(body) } else { StmtKind::Dstep(body) })
            }
            "break" => {
                self.bump();
                if self.loops == 0 {
                    return self.fail(start, "'break' outside a loop");
                }
                Ok(StmtKind::Break)
            }
            "goto" => {
                self.bump();
                Ok(StmtKind::Goto(self.name("a label")?))
            }
            "else" => {
                self.bump();
                Ok(StmtKind::Else)
            }
            "assert" => {
                self.bump();
                Ok(StmtKind::Assert(self.expr()?))
            }
            "printf" | "printm" | "set_priority" => self.call_stmt(&word),
            "return" => self.return_stmt(start),
            "c_code" | "c_expr" | "c_decl" => self.embedded_c(&word),
            _ if self.at_label() => self.label_stmt(),
            _ if self.at_inline_call() => {
                self.expand_inline(None)?;
                self.stmt_kind(start)
            }
            _ => self.variable_stmt(),
        }
    }

    fn at_label(&self) -> bool {
        matches!(self.peek(), TokenKind::Name(n) if !super::is_keyword(n) && !self.procs.contains_key(n))
            && matches!(self.peek_at(1), TokenKind::Punct(":"))
    }

    fn label_stmt(&mut self) -> Parse<StmtKind> {
        let name = self.name("a label")?;
        self.expect(":")?;
        if self.at_decl() || self.at_name("xr") || self.at_name("xs") {
            self.error(
                Diagnostic::error(name.span, format!("label '{}' before a declaration", name.node))
                    .help("put the label on the first statement behind it"),
            );
            let decl = self.step()?;
            return Ok(decl.kind);
        }
        let stmt = if self.at_sequence_end() || self.at(";") {
            let one = Expr { kind: ExprKind::Const(1), span: name.span };
            Stmt { kind: StmtKind::Expr(one), span: name.span }
        } else {
            self.stmt()?
        };
        Ok(StmtKind::Label(name, Box::new(stmt)))
    }

    fn options(&mut self, close: &str, start: Span) -> Parse<Vec<Body>> {
        self.bump();
        let mut options = Vec::new();
        self.separators();
        while self.at("::") {
            self.bump();
            let steps = self.nested(|p| p.sequence())?;
            options.push(Body { steps, end: self.span() });
            self.separators();
        }
        if !self.eat_name(close) {
            return self.unexpected(&format!("'::' or '{close}'"));
        }
        if options.is_empty() {
            return self.fail(start, "no options");
        }
        Ok(options)
    }

    fn for_stmt(&mut self) -> Parse<StmtKind> {
        self.bump();
        self.expect("(")?;
        let var = self.var_ref()?;
        let range = if self.eat_name("in") {
            ForRange::In(self.var_ref()?)
        } else {
            self.expect(":")?;
            let low = self.expr()?;
            self.expect("..")?;
            ForRange::Numbers(low, self.expr()?)
        };
        self.expect(")")?;
        while self.eat(";") {}
        self.loops += 1;
        let body = self.block();
        self.loops = self.loops.saturating_sub(1);
        Ok(StmtKind::For { var, range, body: body? })
    }

    fn select_stmt(&mut self) -> Parse<StmtKind> {
        self.bump();
        let plain = self.at_plain_range();
        self.expect("(")?;
        let var = self.var_ref()?;
        self.expect(":")?;
        let low = self.expr()?;
        self.expect("..")?;
        let high = self.expr()?;
        self.expect(")")?;
        Ok(StmtKind::Select { var, low, high, plain })
    }

    /// `(name : 1 .. 9)`, not pasted by an inline: Spin's lexer expands this.
    fn at_plain_range(&mut self) -> bool {
        let plain_name =
            |n: &str| !super::is_keyword(n) && n.chars().all(|c| c.is_ascii_alphanumeric());
        self.current_inline().is_none()
            && matches!(self.peek_at(1), TokenKind::Name(n) if plain_name(n))
            && matches!(self.peek_at(2), TokenKind::Punct(":"))
            && matches!(self.peek_at(3), TokenKind::Number(_))
            && matches!(self.peek_at(4), TokenKind::Punct(".."))
            && matches!(self.peek_at(5), TokenKind::Number(_))
            && matches!(self.peek_at(6), TokenKind::Punct(")"))
    }

    fn call_stmt(&mut self, word: &str) -> Parse<StmtKind> {
        self.bump();
        self.expect("(")?;
        let kind = match word {
            "printf" => {
                let TokenKind::Text(format) = self.peek().clone() else {
                    return self.unexpected("a string");
                };
                self.bump();
                let mut args = Vec::new();
                while self.eat(",") {
                    args.push(self.expr()?);
                }
                StmtKind::Print { format, args }
            }
            "printm" => StmtKind::Printm(self.expr()?),
            _ => {
                let pid = self.expr()?;
                self.expect(",")?;
                StmtKind::SetPriority(pid, self.expr()?)
            }
        };
        self.expect(")")?;
        Ok(kind)
    }

    /// `return e` in an inline that was called as `x = f()`.
    fn return_stmt(&mut self, start: Span) -> Parse<StmtKind> {
        self.bump();
        let value = self.expr()?;
        match self.current_inline().map(|i| i.result.clone()) {
            Some(Some(var)) => Ok(StmtKind::Assign(var, value)),
            Some(None) => Ok(StmtKind::Expr(value)),
            None => self.fail(start, "'return' outside an inline"),
        }
    }

    /// Statements that start with a variable; if none fits, an expression.
    fn variable_stmt(&mut self) -> Parse<StmtKind> {
        let pos = self.cursor.pos();
        let checkpoint = (self.parens, self.semicolon_taken);
        let n_diagnostics = self.diagnostics.len();
        if let Ok(var) = self.var_ref() {
            let op = match self.peek() {
                TokenKind::Punct(p) => *p,
                _ => "",
            };
            match op {
                "=" => return self.assignment(var),
                "++" | "--" => {
                    self.bump();
                    return Ok(StmtKind::Step(var, if op == "++" { 1 } else { -1 }));
                }
                "!" | "!!" => {
                    self.bump();
                    let args = self.message_args()?;
                    return Ok(StmtKind::Send { chan: var, sorted: op == "!!", args });
                }
                "?" | "??" if !matches!(self.peek_at(1), TokenKind::Punct("[")) => {
                    self.bump();
                    return self.receive(var, op == "??");
                }
                _ => {}
            }
        }
        self.cursor.back_to(pos);
        (self.parens, self.semicolon_taken) = checkpoint;
        self.diagnostics.truncate(n_diagnostics);
        self.expr_stmt()
    }

    fn assignment(&mut self, var: VarRef) -> Parse<StmtKind> {
        self.bump();
        if self.at_inline_call() {
            self.expand_inline(Some(var))?;
            let start = self.span();
            return self.stmt_kind(start);
        }
        Ok(StmtKind::Assign(var, self.expr()?))
    }

    fn expr_stmt(&mut self) -> Parse<StmtKind> {
        Ok(StmtKind::Expr(self.expr()?))
    }

    /// `a, b, c` or `a(b, c)`
    fn message_args(&mut self) -> Parse<Vec<Expr>> {
        let mut args = vec![self.expr()?];
        if self.at("(") {
            self.bump();
            args.push(self.expr()?);
            while self.eat(",") {
                args.push(self.expr()?);
            }
            self.expect(")")?;
            return Ok(args);
        }
        while self.eat(",") {
            args.push(self.expr()?);
        }
        Ok(args)
    }

    fn receive(&mut self, chan: VarRef, random: bool) -> Parse<StmtKind> {
        let keep = self.eat("<");
        let args = self.receive_args()?;
        if keep {
            self.expect(">")?;
        }
        Ok(StmtKind::Receive { chan, random, keep, args })
    }

    /// `a, eval(b), 3` or `a(b, c)` or `(a, b)`
    pub(super) fn receive_args(&mut self) -> Parse<Vec<RecvArg>> {
        if self.at("(") {
            self.bump();
            let args = self.nested(|p| p.receive_args())?;
            self.expect(")")?;
            return Ok(args);
        }
        let mut args = vec![self.receive_arg()?];
        if self.at("(") {
            self.bump();
            args.extend(self.nested(|p| p.receive_args())?);
            self.expect(")")?;
            return Ok(args);
        }
        while self.eat(",") {
            args.push(self.receive_arg()?);
        }
        Ok(args)
    }

    fn receive_arg(&mut self) -> Parse<RecvArg> {
        let start = self.span();
        let kind = match self.peek().clone() {
            TokenKind::Number(value) => {
                self.bump();
                RecvArgKind::Const(value)
            }
            TokenKind::Punct("-") => {
                self.bump();
                match self.bump() {
                    TokenKind::Number(value) => RecvArgKind::Const(value.wrapping_neg()),
                    _ => return self.fail(start, "expected a number behind '-'"),
                }
            }
            TokenKind::Name(n) => match &*n {
                "eval" => {
                    self.bump();
                    self.expect("(")?;
                    let value = self.expr()?;
                    self.expect(")")?;
                    RecvArgKind::Eval(value)
                }
                "true" | "skip" | "false" => {
                    self.bump();
                    RecvArgKind::Const((&*n != "false") as i32)
                }
                _ => match self.mtypes.get(&n) {
                    Some(&value) => {
                        self.bump();
                        RecvArgKind::Const(value)
                    }
                    None => RecvArgKind::Var(self.var_ref()?),
                },
            },
            _ => {
                return self.unexpected("a variable, a constant or 'eval(...)'");
            }
        };
        Ok(RecvArg { kind, span: start.to(self.prev_span()) })
    }
}
