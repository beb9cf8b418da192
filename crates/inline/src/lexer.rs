//! The characters of an expression → tokens with their places.

use std::str::FromStr;

use bigdecimal::BigDecimal;

use crate::Error;
use crate::datum::{Datum, Width};

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    /// A number.
    Number(Datum<'static>),
    /// A quoted text with its escapes resolved.
    Text(String),
    /// A name or a word like `as`.
    Name(String),
    /// An operator or bracket.
    Sign(&'static str),
}

/// Longest first, so that `..<` is not read as `..` and `<`.
const SIGNS: [&str; 34] = [
    "..<", "<=>", ">>>", "**", "..", "==", "!=", "<=", ">=", "&&", "||", "?:", "?.", "<<", ">>",
    "->", "+", "-", "*", "/", "%", "<", ">", "!", "?", ":", ".", ",", "(", ")", "[", "]", "{", "}",
];
const BIT_SIGNS: [&str; 3] = ["&", "|", "^"];

/// The tokens of an expression, each with the character it starts at.
pub(crate) fn tokens(chars: &[char], start: usize) -> Result<Vec<(usize, Token)>, Error> {
    let mut lexer = Lexer { chars, next: 0, start };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.token()? {
        tokens.push(token);
    }
    Ok(tokens)
}

struct Lexer<'t> {
    chars: &'t [char],
    next: usize,
    start: usize,
}

impl Lexer<'_> {
    fn token(&mut self) -> Result<Option<(usize, Token)>, Error> {
        while self.peek(0).is_some_and(char::is_whitespace) {
            self.next += 1;
        }
        let at = self.start + self.next;
        let Some(first) = self.peek(0) else { return Ok(None) };
        let token = match first {
            '0'..='9' => self.number()?,
            '\'' | '"' => Token::Text(self.text(first)?),
            c if c.is_alphabetic() || c == '_' => Token::Name(self.name()),
            _ => self.sign()?,
        };
        Ok(Some((at, token)))
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.next + ahead).copied()
    }

    fn error(&self, message: impl Into<String>) -> Error {
        Error::new(self.start + self.next, message)
    }

    fn take_while(&mut self, test: impl Fn(char) -> bool) -> String {
        let from = self.next;
        while self.peek(0).is_some_and(&test) {
            self.next += 1;
        }
        self.chars[from..self.next].iter().collect()
    }

    fn name(&mut self) -> String {
        self.take_while(|c| c.is_alphanumeric() || c == '_')
    }

    fn number(&mut self) -> Result<Token, Error> {
        let mut digits = self.take_while(|c| c.is_ascii_digit() || c == '_').replace('_', "");
        let is_decimal =
            self.peek(0) == Some('.') && self.peek(1).is_some_and(|c| c.is_ascii_digit());
        if is_decimal {
            self.next += 1;
            digits.push('.');
            digits.push_str(&self.take_while(|c| c.is_ascii_digit()));
        }
        let suffix = self.peek(0).filter(|c| c.is_alphabetic());
        if suffix.is_some() {
            self.next += 1;
        }
        if self.peek(0).is_some_and(|c| c.is_alphanumeric()) {
            return Err(self.error("a number runs into a letter"));
        }
        let too_large = || self.error(format!("number `{digits}` is too large"));
        let datum = match suffix {
            Some('d' | 'D' | 'f' | 'F') => {
                Datum::Decimal(BigDecimal::from_str(&digits).map_err(|_| too_large())?)
            }
            _ if is_decimal => {
                Datum::Decimal(BigDecimal::from_str(&digits).map_err(|_| too_large())?)
            }
            None => Datum::int(digits.parse().map_err(|_| too_large())?),
            Some('i' | 'I') => Datum::Int(digits.parse().map_err(|_| too_large())?, Width::Integer),
            Some('l' | 'L') => Datum::Int(digits.parse().map_err(|_| too_large())?, Width::Long),
            Some('g' | 'G') => Datum::Int(digits.parse().map_err(|_| too_large())?, Width::Big),
            Some(letter) => {
                return Err(self.error(format!("unknown ending `{letter}` of a number")));
            }
        };
        Ok(Token::Number(datum))
    }

    fn text(&mut self, quote: char) -> Result<String, Error> {
        let opening = self.start + self.next;
        self.next += 1;
        let mut text = String::new();
        loop {
            let Some(c) = self.peek(0) else {
                return Err(Error::new(opening, format!("text is not closed by `{quote}`")));
            };
            self.next += 1;
            match c {
                c if c == quote => return Ok(text),
                '$' if quote == '"'
                    && self.peek(0).is_some_and(|c| c == '{' || c.is_alphabetic()) =>
                {
                    let message = "a `$` inside double quotes is not supported; add texts with `+`";
                    return Err(Error::new(opening, message));
                }
                '\\' => text.push(self.escape()?),
                c => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Error> {
        let c = self.peek(0).ok_or_else(|| self.error("text ends after `\\`"))?;
        self.next += 1;
        match c {
            'n' => Ok('\n'),
            't' => Ok('\t'),
            '\\' | '\'' | '"' | '$' => Ok(c),
            other => Err(self.error(format!("unknown escape `\\{other}`"))),
        }
    }

    fn sign(&mut self) -> Result<Token, Error> {
        let matches = |sign: &&&str| sign.chars().enumerate().all(|(i, c)| self.peek(i) == Some(c));
        let Some(sign) = SIGNS.iter().chain(&BIT_SIGNS).find(matches) else {
            let c = self.peek(0).unwrap_or_default();
            return Err(self.error(format!("unexpected character `{c}`")));
        };
        self.next += sign.len();
        Ok(Token::Sign(sign))
    }
}
