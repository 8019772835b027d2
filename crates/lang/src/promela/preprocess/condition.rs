//! The expressions of `#if` and `#elif`: C's integer constant expressions.
//!
//! Names are gone by now: `defined` and macros have been replaced, and any
//! name that is left stands for 0. Values are 64 bits wide and remember
//! whether they are unsigned, as in C. An operand that C would not evaluate
//! (`0 && 1/0`) is parsed but cannot fail.

use crate::diagnostic::Diagnostic;
use crate::promela::lex::{Lexeme, LexemeKind};
use ir::source::Span;

/// Deeper nesting is an error rather than a stack overflow.
const MAX_DEPTH: usize = 100;

/// Decides whether the condition holds; `directive` is the place of its `#if`.
pub fn evaluate(directive: Span, line: &[Lexeme]) -> Result<bool, Diagnostic> {
    if line.is_empty() {
        return Err(Diagnostic::error(directive, "the condition is missing"));
    }
    let mut parser = Parser { line, next: 0, depth: 0, directive };
    let value = parser.comma(true)?;
    match parser.peek() {
        None => Ok(value.bits != 0),
        Some(extra) => {
            let message = format!("unexpected '{}' in the condition", extra.spelling());
            let error = Diagnostic::error(extra.span, message);
            Err(if extra.is_punct("=") { error.help("compare with '=='") } else { error })
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Value {
    bits: i64,
    unsigned: bool,
}

impl Value {
    fn signed(bits: i64) -> Value {
        Value { bits, unsigned: false }
    }

    fn truth(holds: bool) -> Value {
        Value::signed(holds.into())
    }
}

/// Binary operators, loosest level first; all of them group to the left.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

struct Parser<'l> {
    line: &'l [Lexeme],
    next: usize,
    depth: usize,
    directive: Span,
}

impl<'l> Parser<'l> {
    fn peek(&self) -> Option<&'l Lexeme> {
        self.line.get(self.next)
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.peek().is_some_and(|lexeme| lexeme.is_punct(text));
        self.next += usize::from(found);
        found
    }

    /// Where an error about the next lexeme belongs.
    fn place(&self) -> Span {
        self.peek().or(self.line.last()).map_or(self.directive, |lexeme| lexeme.span)
    }

    fn expect(&mut self, text: &str) -> Result<(), Diagnostic> {
        if self.take(text) {
            return Ok(());
        }
        Err(Diagnostic::error(self.place(), format!("'{text}' is missing in the condition")))
    }

    /// `live`: the operand is evaluated, so that a division by zero in it counts.
    fn comma(&mut self, live: bool) -> Result<Value, Diagnostic> {
        let mut value = self.choice(live)?;
        while self.take(",") {
            value = self.choice(live)?;
        }
        Ok(value)
    }

    fn choice(&mut self, live: bool) -> Result<Value, Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error(self.place(), "the condition is nested too deeply"));
        }
        let mut value = self.binary(0, live)?;
        if self.take("?") {
            let holds = value.bits != 0;
            let yes = self.choice(live && holds)?;
            self.expect(":")?;
            let no = self.choice(live && !holds)?;
            let chosen = if holds { yes } else { no };
            value = Value { bits: chosen.bits, unsigned: yes.unsigned || no.unsigned };
        }
        self.depth -= 1;
        Ok(value)
    }

    /// Operators of `level` and tighter ones, by precedence climbing: one call
    /// per operand, not per level, keeps the stack small.
    fn binary(&mut self, level: usize, live: bool) -> Result<Value, Diagnostic> {
        let mut left = self.unary(live)?;
        while let Some((operator, found_level)) = self.take_operator(level) {
            let place = self.line[self.next - 1].span;
            let decided = match operator {
                "||" => left.bits != 0,
                "&&" => left.bits == 0,
                _ => false,
            };
            let right = self.binary(found_level + 1, live && !decided)?;
            left = match apply(operator, left, right) {
                Some(value) => value,
                None if live => {
                    return Err(Diagnostic::error(place, "division by zero in the condition"));
                }
                None => Value::signed(0),
            };
        }
        Ok(left)
    }

    /// Takes a binary operator of `level` or tighter; returns it with its level.
    fn take_operator(&mut self, level: usize) -> Option<(&'static str, usize)> {
        let LexemeKind::Punct(punct) = self.peek()?.kind else { return None };
        let found = LEVELS.iter().position(|operators| operators.contains(&punct))?;
        (found >= level).then(|| {
            self.next += 1;
            (punct, found)
        })
    }

    fn unary(&mut self, live: bool) -> Result<Value, Diagnostic> {
        let first = self.next;
        while ["!", "!!", "~", "-", "+"].iter().any(|operator| self.take(operator)) {}
        let prefix = &self.line[first..self.next];
        let operand = self.primary(live)?;
        Ok(prefix.iter().rev().fold(operand, |value, operator| match operator.kind {
            LexemeKind::Punct("!") => Value::truth(value.bits == 0),
            LexemeKind::Punct("!!") => Value::truth(value.bits != 0),
            LexemeKind::Punct("~") => Value { bits: !value.bits, ..value },
            LexemeKind::Punct("-") => Value { bits: value.bits.wrapping_neg(), ..value },
            _ => value,
        }))
    }

    fn primary(&mut self, live: bool) -> Result<Value, Diagnostic> {
        if self.take("(") {
            let value = self.comma(live)?;
            self.expect(")")?;
            return Ok(value);
        }
        let Some(lexeme) = self.peek() else {
            return Err(Diagnostic::error(self.place(), "the condition ends too early"));
        };
        self.next += 1;
        match &lexeme.kind {
            LexemeKind::Name(_) => Some(Value::signed(0)),
            LexemeKind::Number(text) => number(text),
            LexemeKind::Char(text) => character(text).map(Value::signed),
            _ => None,
        }
        .ok_or_else(|| {
            let message = format!("'{}' is not an integer constant", lexeme.spelling());
            Diagnostic::error(lexeme.span, message)
        })
    }
}

/// `None` is a division by zero.
fn apply(operator: &str, left: Value, right: Value) -> Option<Value> {
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (ua, ub) = (a as u64, b as u64);
    let less = |x: i64, y: i64| if unsigned { (x as u64) < y as u64 } else { x < y };
    let bits = match operator {
        "||" => return Some(Value::truth(a != 0 || b != 0)),
        "&&" => return Some(Value::truth(a != 0 && b != 0)),
        "==" => return Some(Value::truth(a == b)),
        "!=" => return Some(Value::truth(a != b)),
        "<" => return Some(Value::truth(less(a, b))),
        ">" => return Some(Value::truth(less(b, a))),
        "<=" => return Some(Value::truth(!less(b, a))),
        ">=" => return Some(Value::truth(!less(a, b))),
        "<<" => return Some(shift_left(left, right)),
        ">>" => return Some(shift_left(left, Value::signed(b.saturating_neg()))),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if unsigned => ua.checked_div(ub)? as i64,
        "%" if unsigned => ua.checked_rem(ub)? as i64,
        _ if b == 0 => return None,
        "/" => a.wrapping_div(b),
        _ => a.wrapping_rem(b),
    };
    Some(Value { bits, unsigned })
}

/// Shifts to the right if the distance is negative, as gcc does.
fn shift_left(value: Value, distance: Value) -> Value {
    let bits = match distance.bits {
        n @ 0..=63 => value.bits << n,
        64.. => 0,
        n if value.unsigned => {
            (value.bits as u64).checked_shr(n.unsigned_abs().min(64) as u32).unwrap_or(0) as i64
        }
        n => value.bits >> n.unsigned_abs().min(63),
    };
    Value { bits, ..value }
}

/// Decimal, octal, hexadecimal or binary, with C's suffixes.
fn number(text: &str) -> Option<Value> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(['u', 'l']);
    let suffix = &lower[digits.len()..];
    if !matches!(suffix, "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu") {
        return None;
    }
    let bits = if let Some(digits) = digits.strip_prefix("0x") {
        u64::from_str_radix(digits, 16)
    } else if let Some(digits) = digits.strip_prefix("0b") {
        u64::from_str_radix(digits, 2)
    } else if digits.starts_with('0') {
        u64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    let bits = bits.ok()?;
    Some(Value {
        bits: bits as i64,
        unsigned: suffix.contains('u') || i64::try_from(bits).is_err(),
    })
}

/// The value of a character constant in C.
fn character(text: &str) -> Option<i64> {
    let escaped = match text.strip_prefix('\\') {
        Some(escaped) => escaped,
        None => {
            let mut chars = text.chars();
            return chars
                .next()
                .filter(|c| c.is_ascii() && chars.next().is_none())
                .map(|c| c as i64);
        }
    };
    match escaped {
        "a" => Some(7),
        "b" => Some(8),
        "t" => Some(9),
        "n" => Some(10),
        "v" => Some(11),
        "f" => Some(12),
        "r" => Some(13),
        "\\" | "'" | "\"" | "?" => escaped.chars().next().map(|c| c as i64),
        _ => match escaped.strip_prefix('x') {
            Some(digits) => i64::from_str_radix(digits, 16).ok(),
            None => i64::from_str_radix(escaped, 8).ok(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promela::lex::{Spellings, lex};

    fn check(condition: &str, expected: Result<bool, &str>) {
        let line = lex(condition, 0, &mut Spellings::default(), &mut Vec::new());
        let actual = evaluate(Span::NONE, &line).map_err(|error| error.message);
        assert_eq!(actual, expected.map_err(String::from), "evaluating {condition:?}");
    }

    #[test]
    fn operators_bind_as_in_c() {
        for holds in [
            "1 + 2 * 3 == 7",
            "10 - 3 - 2 == 5",
            "1 << 2 + 1 == 8",
            "(1 | 6 ^ 3 & 2) == 5",
            "-7 / 2 == -3 && -7 % 2 == -1",
            "1 ? 2 ? 3 : 0 : 0",
            "0 ? 0 : 0 ? 0 : 4",
            "!0 == 1 && !!7 == 1 && ~0 == -1 && - -1 == 1",
            "0x10 == 16 && 010 == 8 && 0b11 == 3 && 7UL == 7",
            "'a' == 97 && '\\n' == 10 && '\\0' == 0 && '\\x41' == 65 && '\\\\' == 92",
            "-1 > 0u && -1 < 0 && 18446744073709551615 > 0",
            "-8 >> 1 == -4 && 1 << 64 == 0 && 8 << -2 == 2",
            "unknown == 0",
            "(1, 0), 1",
        ] {
            check(holds, Ok(true));
        }
        check("0 && 1", Ok(false));
        check("-9223372036854775807 - 1 == (-9223372036854775807 - 1) / -1", Ok(true));
    }

    #[test]
    fn only_live_operands_can_fail() {
        check("1 || 1 / 0", Ok(true));
        check("0 && 1 % 0", Ok(false));
        check("1 ? 1 : 1 / 0", Ok(true));
        check("1 / 0", Err("division by zero in the condition"));
        check("1u % 0", Err("division by zero in the condition"));
    }

    #[test]
    fn malformed_conditions_are_errors() {
        check("", Err("the condition is missing"));
        check("1 +", Err("the condition ends too early"));
        check("(1", Err("')' is missing in the condition"));
        check("1 ? 2", Err("':' is missing in the condition"));
        check("1 = 1", Err("unexpected '=' in the condition"));
        check("1 \"a\"", Err("unexpected '\"a\"' in the condition"));
        check("09", Err("'09' is not an integer constant"));
        check("'ab'", Err("''ab'' is not an integer constant"));
        check(&"(".repeat(100_000), Err("the condition is nested too deeply"));
        check(&"1 ? ".repeat(100_000), Err("the condition is nested too deeply"));
        check(&format!("{}0", "!".repeat(100_001)), Ok(true));
    }
}
