//! Declarations: variables, channels, types, constants.

use super::{Parse, Parser, Unit, is_keyword};
use crate::diagnostic::Diagnostic;
use crate::promela::ast::*;
use crate::promela::token::TokenKind;

impl Parser<'_> {
    /// A declaration starts here.
    pub(super) fn at_decl(&self) -> bool {
        match self.peek() {
            TokenKind::Name(n) => match &**n {
                "hidden" | "show" | "local" | "bit" | "bool" | "byte" | "pid" | "short" | "int"
                | "unsigned" | "chan" | "mtype" => true,
                _ => self.types.contains_key(n) && matches!(self.peek_at(1), TokenKind::Name(_)),
            },
            _ => false,
        }
    }

    pub(super) fn declaration_unit(&mut self) -> Parse<Unit> {
        if !self.at_decl() {
            if let (TokenKind::Name(n), TokenKind::Name(_)) = (self.peek(), self.peek_at(1))
                && !is_keyword(n)
            {
                let message = format!("unknown type '{n}'");
                return self.fail(self.span(), message);
            }
            return self.unexpected("a declaration or a process type");
        }
        if self.at_name("mtype") && self.at_mtype_names() {
            return self.mtype_names();
        }
        Ok(Unit::Decl(self.decl()?))
    }

    /// `mtype = {`, `mtype {`, `mtype : kind = {`
    fn at_mtype_names(&self) -> bool {
        match self.peek_at(1) {
            TokenKind::Punct("=" | "{") => true,
            TokenKind::Punct(":") => matches!(self.peek_at(3), TokenKind::Punct("=" | "{")),
            _ => false,
        }
    }

    /// Spin numbers the names of a declaration from its last, and those of a
    /// later declaration behind them.
    fn mtype_names(&mut self) -> Parse<Unit> {
        self.bump();
        let kind = if self.eat(":") { Some(self.name("the name of an mtype")?.node) } else { None };
        self.eat("=");
        self.expect("{")?;
        let mut names = Vec::new();
        while !self.at("}") {
            if self.eat(",") {
                continue;
            }
            names.push(self.name("a name")?);
            if self.at(";") {
                break;
            }
        }
        self.end_of_list()?;
        let count = self.mtype_counts.entry(kind.clone()).or_default();
        let first = *count;
        *count += names.len() as i32;
        if *count > 255 {
            let span = self.prev_span();
            self.error(Diagnostic::error(span, "more than 255 names in an mtype"));
        }
        for (i, name) in names.iter().rev().enumerate() {
            let value = first + 1 + i as i32;
            if self.mtypes.insert(name.node.clone(), value).is_some_and(|old| old != value) {
                let message = format!("'{}' appears twice in an mtype", name.node);
                self.error(Diagnostic::error(name.span, message));
            }
        }
        Ok(Unit::Mtype { kind, names })
    }

    pub(super) fn typedef(&mut self) -> Parse<Unit> {
        self.bump();
        let name = self.name("the name of the type")?;
        self.expect("{")?;
        self.in_body = true;
        let fields = self.decl_list("}");
        self.in_body = false;
        let fields = fields?;
        self.expect("}")?;
        if fields.is_empty() {
            let message = format!("type '{}' has no fields", name.node);
            self.error(Diagnostic::error(name.span, message));
        }
        self.types.insert(name.node.clone(), ());
        Ok(Unit::Typedef { name, fields })
    }

    /// Declarations separated by semicolons, up to `close`.
    fn decl_list(&mut self, close: &str) -> Parse<Vec<Decl>> {
        let mut decls = Vec::new();
        loop {
            while self.eat(";") {}
            if self.at(close) || self.at_end() {
                return Ok(decls);
            }
            if !self.at_decl() {
                return self.unexpected("a declaration");
            }
            decls.push(self.decl()?);
        }
    }

    /// Parameters: as declarations, but a comma may also start another type.
    pub(super) fn parameters(&mut self) -> Parse<Vec<Decl>> {
        let mut decls = Vec::new();
        loop {
            while self.eat(";") || (!decls.is_empty() && self.eat(",")) {}
            if self.at(")") || self.at_end() {
                return Ok(decls);
            }
            if !self.at_decl() {
                return self.unexpected("a parameter");
            }
            decls.push(self.decl()?);
        }
    }

    pub(super) fn decl(&mut self) -> Parse<Decl> {
        let visibility = match self.peek() {
            TokenKind::Name(n) => match &**n {
                "hidden" => Some(Visibility::Hidden),
                "show" => Some(Visibility::Show),
                "local" => Some(Visibility::Local),
                _ => None,
            },
            _ => None,
        };
        if visibility.is_some() {
            self.bump();
        }
        let ty = self.type_name()?;
        let mut vars = vec![self.var_decl()?];
        // In a parameter list, `byte a, chan b` starts another declaration.
        while self.at(",")
            && matches!(self.peek_at(1), TokenKind::Name(n) if !is_keyword(n) && !self.types.contains_key(n))
        {
            self.bump();
            vars.push(self.var_decl()?);
        }
        Ok(Decl { visibility, ty, vars })
    }

    fn type_name(&mut self) -> Parse<Spanned<Type>> {
        let span = self.span();
        let TokenKind::Name(word) = self.peek().clone() else {
            return self.unexpected("a type");
        };
        let node = match &*word {
            "bit" => Type::Bit,
            "bool" => Type::Bool,
            "byte" => Type::Byte,
            "pid" => Type::Pid,
            "short" => Type::Short,
            "int" => Type::Int,
            "unsigned" => Type::Unsigned,
            "chan" => Type::Chan,
            "mtype" => {
                self.bump();
                let kind = if self.eat(":") {
                    Some(self.name("the name of an mtype")?.node)
                } else {
                    None
                };
                return Ok(Spanned { node: Type::Mtype(kind), span: span.to(self.prev_span()) });
            }
            _ if self.types.contains_key(&word) => Type::Named(word.clone()),
            _ => {
                let message = format!("unknown type '{word}'");
                return self.fail(span, message);
            }
        };
        self.bump();
        Ok(Spanned { node, span })
    }

    fn var_decl(&mut self) -> Parse<VarDecl> {
        let name = match self.peek() {
            TokenKind::Name(n) if self.mtypes.contains_key(n) => {
                let message = format!("'{n}' is already the name of an mtype constant");
                return self.fail(self.span(), message);
            }
            _ => self.name("a name")?,
        };
        let bits = if self.eat(":") { Some(self.const_expr()?.node) } else { None };
        let bound = if self.eat("[") {
            let bound = match self.peek() {
                TokenKind::Name(n) if !self.mtypes.contains_key(n) => {
                    Bound::Variable(self.name("a number")?)
                }
                _ => Bound::Number(self.const_expr()?),
            };
            self.expect("]")?;
            Some(bound)
        } else {
            None
        };
        let init = if self.eat("=") { Some(self.var_init()?) } else { None };
        Ok(VarDecl { name, bits, bound, init })
    }

    fn var_init(&mut self) -> Parse<VarInit> {
        if self.eat("[") {
            let slots = self.const_expr()?;
            self.expect("]")?;
            if !self.eat_name("of") {
                return self.unexpected("'of'");
            }
            self.expect("{")?;
            let mut fields = vec![self.type_name()?];
            while self.eat(",") {
                fields.push(self.type_name()?);
            }
            self.end_of_list()?;
            return Ok(VarInit::Chan { slots, fields });
        }
        if self.eat("{") {
            let mut values = vec![self.const_expr()?];
            while self.eat(",") {
                values.push(self.const_expr()?);
            }
            self.expect("}")?;
            return Ok(VarInit::List(values));
        }
        Ok(VarInit::Expr(self.expr()?))
    }

    /// A `}`; Spin does not mind a `;` before it.
    fn end_of_list(&mut self) -> Parse<()> {
        self.eat(";");
        self.expect("}")
    }

    /// An expression whose value is known now.
    pub(super) fn const_expr(&mut self) -> Parse<Spanned<i32>> {
        let span = self.span();
        let expr = self.expr()?;
        match self.const_value(&expr) {
            Some(node) => Ok(Spanned { node, span: expr.span }),
            None => self.fail(span, "expected a constant"),
        }
    }
}
