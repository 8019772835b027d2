//! `inline`: bodies kept as tokens, pasted where they are called.

use super::{Failed, Parse, Parser};
use crate::diagnostic::Diagnostic;
use crate::promela::ast::{Name, VarRef};
use crate::promela::token::{Token, TokenKind};
use std::rc::Rc;

/// Pasted tokens in all: stops inlines that multiply.
const MAX_EXPANDED: usize = 4_000_000;

pub(super) struct Inline {
    name: Name,
    params: Vec<Name>,
    /// With its braces.
    body: Vec<Token>,
}

/// An inline whose pasted body is being parsed.
pub(super) struct ActiveInline {
    name: Name,
    /// Tokens behind the body.
    rest: usize,
    /// Where `return` puts its value.
    pub(super) result: Option<VarRef>,
}

impl Parser<'_> {
    pub(super) fn inline_definition(&mut self) -> Parse<()> {
        self.bump();
        let name = self.name("the name of the inline")?;
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.at(")") {
            params.push(self.name("a parameter")?.node);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        if !self.at("{") {
            return self.unexpected("'{'");
        }
        let start = self.cursor.pos();
        let mut depth = 0usize;
        loop {
            match self.bump() {
                TokenKind::Punct("{") => depth += 1,
                TokenKind::Punct("}") => depth -= 1,
                TokenKind::End => {
                    let message = format!("the body of inline '{}' does not end", name.node);
                    return self.fail(name.span, message);
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
            if self.at_end() {
                let message = format!("the body of inline '{}' does not end", name.node);
                return self.fail(name.span, message);
            }
        }
        self.parens = 0;
        let mut body = self.cursor.since(start).to_vec();
        body[0].after_newline = false;
        let inline = Inline { name: name.node.clone(), params, body };
        if self.inlines.insert(name.node.clone(), Rc::new(inline)).is_some() {
            let message = format!("inline '{}' is defined twice", name.node);
            self.error(Diagnostic::error(name.span, message));
        }
        Ok(())
    }

    /// An inline call starts here.
    pub(super) fn at_inline_call(&self) -> bool {
        matches!(self.peek(), TokenKind::Name(n) if self.inlines.contains_key(n))
            && matches!(self.peek_at(1), TokenKind::Punct("("))
    }

    /// Replaces the call at the current place by the inline's body.
    pub(super) fn expand_inline(&mut self, result: Option<VarRef>) -> Parse<()> {
        let span = self.span();
        let TokenKind::Name(name) = self.bump() else { return Err(Failed) };
        let Some(inline) = self.inlines.get(&name).cloned() else { return Err(Failed) };
        let args = self.inline_args()?;
        if args.len() != inline.params.len() {
            let (n, expected) = (args.len(), inline.params.len());
            let message = format!("inline '{name}' takes {expected} arguments, not {n}");
            return self.fail(span, message);
        }
        let rest = self.cursor.left();
        self.active_inlines.retain(|a| a.rest < rest);
        if self.active_inlines.iter().any(|a| a.name == inline.name) {
            let message = format!("inline '{name}' calls itself");
            return self.fail(span, message);
        }
        let body = substitute(&inline, &args);
        self.expanded += body.len();
        if self.expanded > MAX_EXPANDED {
            return self.fail(span, "inline calls expand to too much text");
        }
        self.cursor.paste(body);
        self.active_inlines.push(ActiveInline { name: inline.name.clone(), rest, result });
        Ok(())
    }

    /// The innermost inline whose body is being parsed.
    pub(super) fn current_inline(&mut self) -> Option<&ActiveInline> {
        let left = self.cursor.left();
        self.active_inlines.retain(|a| a.rest < left);
        self.active_inlines.last()
    }

    pub(super) fn in_inline(&self) -> bool {
        let left = self.cursor.left();
        self.active_inlines.iter().any(|a| a.rest < left)
    }

    fn inline_args(&mut self) -> Parse<Vec<Vec<Token>>> {
        self.expect("(")?;
        let mut args = vec![Vec::new()];
        let mut depth = 1;
        loop {
            let token = self.cursor.token().clone();
            match token.kind {
                TokenKind::Punct("(" | "[") => depth += 1,
                TokenKind::Punct(")" | "]") => depth -= 1,
                TokenKind::End => return self.unexpected("')'"),
                _ => {}
            }
            self.bump();
            if depth == 0 {
                break;
            }
            match token.kind {
                TokenKind::Punct(",") if depth == 1 => args.push(Vec::new()),
                _ => args.last_mut().expect("args is never empty").push(token),
            }
        }
        if args.len() == 1 && args[0].is_empty() {
            args.clear();
        }
        Ok(args)
    }
}

/// The body with arguments in the place of parameters: also where they are
/// written, as a statement must not begin here and end at the call.
fn substitute(inline: &Inline, args: &[Vec<Token>]) -> Vec<Token> {
    let mut out = Vec::with_capacity(inline.body.len());
    for token in &inline.body {
        let param = match &token.kind {
            TokenKind::Name(n) => inline.params.iter().position(|p| p == n),
            _ => None,
        };
        match param {
            Some(i) => {
                let first = out.len();
                let span = token.span;
                let here = |t: &Token| Token { kind: t.kind.clone(), span, after_newline: false };
                out.extend(args[i].iter().map(here));
                if let Some(t) = out.get_mut(first) {
                    t.after_newline = token.after_newline;
                }
            }
            None => out.push(token.clone()),
        }
    }
    out
}
