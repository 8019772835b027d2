//! Rules, start states, properties and what encloses them.

use super::{Failed, Parse, Parser};
use crate::diagnostic::Diagnostic;
use crate::murphi::ast::*;
use crate::murphi::token::TokenKind;

impl Parser<'_> {
    /// A rule begins here.
    pub(super) fn at_rule(&self) -> bool {
        match self.peek() {
            TokenKind::Keyword(word) => {
                matches!(*word, "rule" | "startstate" | "ruleset" | "alias")
                    || property_kind(word).is_some()
            }
            // A name in front of another name can be nothing else.
            TokenKind::Name(name) => {
                name.eq_ignore_ascii_case("choose") && matches!(self.peek_at(1), TokenKind::Name(_))
            }
            _ => false,
        }
    }

    pub(super) fn rule(&mut self) -> Parse<Rule> {
        self.nested(Self::rule_here)
    }

    fn rule_here(&mut self) -> Parse<Rule> {
        match *self.peek() {
            TokenKind::Keyword("rule") => Ok(Rule::Simple(self.simple_rule()?)),
            TokenKind::Keyword("startstate") => self.start_state(),
            TokenKind::Keyword("ruleset") => {
                self.bump();
                let quantifiers = self.head("do", Self::quantifiers);
                let rules = self.rules(&["endruleset"])?;
                let Some(quantifiers) = quantifiers else { return Err(Failed) };
                Ok(Rule::Ruleset { quantifiers, rules })
            }
            TokenKind::Keyword("alias") => {
                self.bump();
                let aliases = self.head("do", Self::aliases);
                let rules = self.rules(&["endalias"])?;
                let Some(aliases) = aliases else { return Err(Failed) };
                Ok(Rule::Alias { aliases, rules })
            }
            TokenKind::Name(_) => {
                self.bump();
                let choice = self.head("do", Self::choice);
                let rules = self.rules(&["endchoose"])?;
                let Some(choice) = choice else { return Err(Failed) };
                Ok(Rule::Choose { choice, rules })
            }
            _ => Ok(Rule::Property(self.property()?)),
        }
    }

    fn quantifiers(&mut self) -> Parse<Vec<Quantifier>> {
        let mut quantifiers = vec![self.quantifier()?];
        while self.at(";") || self.at(",") {
            if self.at(",") {
                let message = "parameters are separated by ';'";
                self.error(Diagnostic::error(self.span(), message));
            }
            self.bump();
            self.skip_semicolons();
            quantifiers.push(self.quantifier()?);
        }
        Ok(quantifiers)
    }

    /// Rules up to the word that closes them.
    fn rules(&mut self, close: &[&str]) -> Parse<Vec<Rule>> {
        let mut rules = Vec::new();
        self.skip_semicolons();
        loop {
            let (start, nesting) = (self.pos, self.nesting);
            if self.at_words(&["const", "type", "var", "function", "procedure"]) {
                let message = format!("{} inside a block of rules", self.found());
                let help = "declare it outside, or inside of a rule";
                self.error(Diagnostic::error(self.span(), message).help(help));
                self.lost_names = true;
                self.bump();
                self.skip_to_rule();
            } else if !self.at_rule() {
                break;
            } else {
                match self.rule() {
                    Ok(rule) => rules.push(rule),
                    Err(_) => {
                        self.nesting = nesting;
                        if self.pos == start {
                            self.bump();
                        }
                        self.skip_to_rule();
                    }
                }
            }
            self.skip_semicolons();
        }
        self.close(close)?;
        Ok(rules)
    }

    /// Skips to the next rule or the end of one that could not be read.
    fn skip_to_rule(&mut self) {
        let words = ["rule", "startstate", "ruleset", "invariant", "liveness", "function"];
        while !self.at_end() && !self.at_words(&words) && !self.at_words(&["procedure"]) {
            let ends = self.at_words(&["endrule", "endstartstate"]);
            self.bump();
            if ends {
                return;
            }
        }
    }

    fn simple_rule(&mut self) -> Parse<SimpleRule> {
        let start = self.span();
        self.bump();
        let name = self.text();
        let span = start.to(self.prev_span());
        let guard = match self.guard_ahead() {
            false => None,
            true => {
                let guard = self.expr();
                if guard.is_err() {
                    self.skip_to_arrow();
                }
                self.expect("==>")?;
                guard.ok()
            }
        };
        let decls = self.local_decls()?;
        let body = self.stmts();
        self.close(&["endrule"])?;
        Ok(SimpleRule { name, guard, decls, body, span })
    }

    /// An expression that is a guard comes next, and no statement: `==>` or
    /// `begin` stands behind it.
    fn guard_ahead(&self) -> bool {
        // Quantifiers that are open: their ends are not the rule's.
        let mut quantifiers = 0;
        for offset in 0.. {
            match self.peek_at(offset) {
                TokenKind::Keyword("forall" | "exists") => quantifiers += 1,
                TokenKind::Keyword("end" | "endforall" | "endexists") if quantifiers > 0 => {
                    quantifiers -= 1;
                }
                TokenKind::Punct("==>") => return true,
                TokenKind::Keyword("begin" | "var" | "const" | "type") => return offset > 0,
                TokenKind::Punct(";") | TokenKind::End => return false,
                TokenKind::Keyword(
                    "if" | "for" | "while" | "switch" | "put" | "error" | "return" | "clear"
                    | "undefine" | "alias" | "rule" | "ruleset" | "startstate" | "invariant"
                    | "liveness" | "cover" | "assert" | "assume" | "function" | "procedure" | "end"
                    | "endrule",
                ) => return false,
                _ => {}
            }
        }
        false
    }

    fn skip_to_arrow(&mut self) {
        while !self.at_end()
            && !self.at("==>")
            && !self.at(";")
            && !self.at_words(&["begin", "rule", "endrule"])
        {
            self.bump();
        }
    }

    fn start_state(&mut self) -> Parse<Rule> {
        let start = self.span();
        self.bump();
        let name = self.text();
        let span = start.to(self.prev_span());
        let decls = self.local_decls()?;
        let body = self.stmts();
        self.close(&["endstartstate"])?;
        Ok(Rule::Start { name, decls, body, span })
    }

    /// `invariant "name" e` or `invariant e "name"`
    pub(super) fn property(&mut self) -> Parse<Property> {
        let start = self.span();
        let kind = match self.peek() {
            TokenKind::Keyword(word) => property_kind(word),
            _ => None,
        };
        let Some(kind) = kind else { return self.unexpected("a property") };
        self.bump();
        let before = self.text();
        let condition = self.expr()?;
        let message = if before.is_some() { before } else { self.text() };
        Ok(Property { kind, condition, message, span: start.to(self.prev_span()) })
    }

    /// `x : T` or `x := a to b by c`
    pub(super) fn quantifier(&mut self) -> Parse<Quantifier> {
        let name = self.name("the name of a parameter")?;
        let domain = if self.eat(":=") {
            let from = self.expr()?;
            self.expect_word("to")?;
            let to = self.expr()?;
            let by = if self.eat_word("by") { Some(self.expr()?) } else { None };
            Domain::Steps { from, to, by }
        } else {
            if !self.eat(":") {
                return self.unexpected("':' or ':='");
            }
            Domain::Type(self.type_expr()?)
        };
        let span = name.span.to(self.prev_span());
        Ok(Quantifier { name, domain, span })
    }

    /// `a : e; b : f`, up to `do`
    pub(super) fn aliases(&mut self) -> Parse<Vec<Alias>> {
        let mut aliases = Vec::new();
        while !self.at_word("do") {
            let names = self.names()?;
            self.expect(":")?;
            aliases.push(Alias { names, target: self.expr()? });
            self.skip_semicolons();
        }
        Ok(aliases)
    }

    /// `i : multiset`
    pub(super) fn choice(&mut self) -> Parse<Choice> {
        let name = self.name("the name of an index")?;
        self.expect(":")?;
        Ok(Choice { name, multiset: Box::new(self.designator()?) })
    }
}

fn property_kind(word: &str) -> Option<PropertyKind> {
    match word {
        "assert" | "invariant" => Some(PropertyKind::Assert),
        "assume" => Some(PropertyKind::Assume),
        "cover" => Some(PropertyKind::Cover),
        "liveness" => Some(PropertyKind::Liveness),
        _ => None,
    }
}
