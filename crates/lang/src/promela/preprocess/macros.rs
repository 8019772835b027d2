//! Macro definitions, and the two operators of their bodies: `#` and `##`.
//!
//! A body is cut into [`Part`]s when it is defined, so that a malformed
//! definition is an error even if it is never used, and so that a call only
//! fills in arguments.

use crate::diagnostic::Diagnostic;
use crate::promela::lex::{Gap, Lexeme, LexemeKind, Spellings, lex};
use ir::source::Span;
use std::rc::Rc;

#[derive(Debug, Clone)]
pub struct Macro {
    pub name: Rc<str>,
    /// Where the name is defined; [`Span::NONE`] for one from the command line.
    pub span: Span,
    /// `None` if the macro is used without parentheses.
    pub parameters: Option<Vec<Rc<str>>>,
    /// The last parameter takes all further arguments.
    pub variadic: bool,
    pub body: Vec<Part>,
}

/// A piece of a macro's body.
#[derive(Debug, Clone)]
pub struct Part {
    pub kind: PartKind,
    pub gap: Gap,
    /// `##` joins the part to the next one.
    pub pasted: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PartKind {
    Plain(LexemeKind),
    /// A parameter, by its index.
    Parameter(usize),
    /// A parameter after `#`.
    Quoted(usize),
}

impl Macro {
    /// Reads a definition from the lexemes that follow `#define`.
    pub fn parse(directive: Span, line: &[Lexeme]) -> Result<Macro, Diagnostic> {
        let (head, rest) = macro_name("#define", directive, line)?;
        let mut definition = Macro {
            name: head.0,
            span: head.1,
            parameters: None,
            variadic: false,
            body: Vec::new(),
        };
        let body = match rest.first() {
            Some(open) if open.is_punct("(") && open.gap == Gap::None => {
                definition.parse_parameters(open.span, &rest[1..])?
            }
            _ => rest,
        };
        definition.parse_body(body)?;
        Ok(definition)
    }

    /// Reads the parameter list up to its `)` and returns what follows.
    fn parse_parameters<'l>(
        &mut self,
        open: Span,
        line: &'l [Lexeme],
    ) -> Result<&'l [Lexeme], Diagnostic> {
        let mut parameters: Vec<Rc<str>> = Vec::new();
        let mut rest = line;
        if rest.first().is_some_and(|close| close.is_punct(")")) {
            self.parameters = Some(parameters);
            return Ok(&rest[1..]);
        }
        loop {
            let (name, span) = match rest {
                [first, after @ ..] if first.name().is_some() => {
                    rest = after;
                    (first.name().cloned().unwrap_or_default(), first.span)
                }
                [dots, ..] if dots.is_punct("..") => ("__VA_ARGS__".into(), dots.span),
                _ => return Err(bad_parameter(open, rest)),
            };
            if parameters.contains(&name) {
                return Err(Diagnostic::error(span, format!("parameter '{name}' occurs twice")));
            }
            parameters.push(name);
            // The lexer knows no `...`, only `..` and `.`.
            self.variadic =
                matches!(rest, [two, one, ..] if two.is_punct("..") && one.is_punct("."));
            if self.variadic {
                rest = &rest[2..];
            }
            match rest {
                [close, after @ ..] if close.is_punct(")") => {
                    self.parameters = Some(parameters);
                    return Ok(after);
                }
                [comma, after @ ..] if comma.is_punct(",") && !self.variadic => rest = after,
                _ => return Err(bad_parameter(open, rest)),
            }
        }
    }

    fn parse_body(&mut self, line: &[Lexeme]) -> Result<(), Diagnostic> {
        let mut rest = line;
        while let [lexeme, after @ ..] = rest {
            rest = after;
            if lexeme.is_punct("##") {
                match self.body.last_mut() {
                    Some(left) if !rest.is_empty() => left.pasted = true,
                    _ => {
                        let message = "'##' stands at an end of the macro's body";
                        return Err(Diagnostic::error(lexeme.span, message)
                            .help("it joins the token before it with the token after it"));
                    }
                }
                continue;
            }
            let kind = if lexeme.is_punct("#") && self.parameters.is_some() {
                let Some(index) = rest.first().and_then(|next| self.parameter(next)) else {
                    let message = "'#' is not followed by a parameter of the macro";
                    return Err(Diagnostic::error(lexeme.span, message));
                };
                rest = &rest[1..];
                PartKind::Quoted(index)
            } else if let Some(index) = self.parameter(lexeme) {
                PartKind::Parameter(index)
            } else {
                PartKind::Plain(lexeme.kind.clone())
            };
            // Line breaks inside a definition come from comments.
            let gap = if self.body.is_empty() { Gap::None } else { lexeme.gap.min(Gap::Space) };
            self.body.push(Part { kind, gap, pasted: false });
        }
        Ok(())
    }

    fn parameter(&self, lexeme: &Lexeme) -> Option<usize> {
        let name = lexeme.name()?;
        self.parameters.as_ref()?.iter().position(|parameter| parameter == name)
    }

    /// True if `part` is the parameter that takes all further arguments.
    pub fn is_rest(&self, part: &Part) -> bool {
        let last = self.parameters.as_ref().and_then(|parameters| parameters.len().checked_sub(1));
        self.variadic && last.is_some_and(|last| part.kind == PartKind::Parameter(last))
    }

    /// True if a redefinition of one as the other goes without saying.
    pub fn same_as(&self, other: &Macro) -> bool {
        let same_part =
            |(a, b): (&Part, &Part)| a.kind == b.kind && a.gap == b.gap && a.pasted == b.pasted;
        self.parameters == other.parameters
            && self.variadic == other.variadic
            && self.body.len() == other.body.len()
            && self.body.iter().zip(&other.body).all(same_part)
    }
}

fn bad_parameter(open: Span, rest: &[Lexeme]) -> Diagnostic {
    match rest.first() {
        Some(found) => {
            let message = format!("unexpected '{}' in the parameter list", found.spelling());
            Diagnostic::error(found.span, message).help("for example '#define MAX(a, b) ...'")
        }
        None => Diagnostic::error(open, "the parameter list is not closed"),
    }
}

/// A macro's name and its place.
type MacroName = (Rc<str>, Span);

/// The macro name that `directive` wants, and what follows it.
pub fn macro_name<'l>(
    directive: &str,
    span: Span,
    line: &'l [Lexeme],
) -> Result<(MacroName, &'l [Lexeme]), Diagnostic> {
    let [head, rest @ ..] = line else {
        return Err(Diagnostic::error(span, format!("'{directive}' without a macro name")));
    };
    match head.name() {
        Some(name) if &**name == "defined" => {
            Err(Diagnostic::error(head.span, "'defined' cannot be the name of a macro"))
        }
        Some(name) => Ok(((name.clone(), head.span), rest)),
        None => {
            let message = format!("'{}' is not a macro name", head.spelling());
            Err(Diagnostic::error(head.span, message))
        }
    }
}

/// The string that `#` makes of an argument.
pub fn quote(argument: &[Lexeme]) -> LexemeKind {
    let mut text = String::new();
    for (i, lexeme) in argument.iter().enumerate() {
        if i > 0 && lexeme.gap != Gap::None {
            text.push(' ');
        }
        let spelling = lexeme.spelling();
        if matches!(lexeme.kind, LexemeKind::Char(_) | LexemeKind::Text(_)) {
            text.extend(spelling.chars().flat_map(|c| {
                let escape = matches!(c, '"' | '\\').then_some('\\');
                escape.into_iter().chain([c])
            }));
        } else {
            text.push_str(&spelling);
        }
    }
    LexemeKind::Text(text.into())
}

/// The lexeme that `##` makes of two, if it is one.
pub fn paste(left: &Lexeme, right: &Lexeme, spellings: &mut Spellings) -> Option<LexemeKind> {
    let text = format!("{}{}", left.spelling(), right.spelling());
    let mut complaints = Vec::new();
    let mut lexemes = lex(&text, left.span.file, spellings, &mut complaints);
    match (lexemes.pop(), lexemes.is_empty() && complaints.is_empty()) {
        (Some(one), true) if one.spelling() == text => match one.kind {
            LexemeKind::Unclosed(..) | LexemeKind::Strange(_) => None,
            kind => Some(kind),
        },
        _ => None,
    }
}
