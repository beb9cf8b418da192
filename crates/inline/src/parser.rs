//! Tokens → tree, by Groovy's precedence; variables become slots here.

use std::ops::RangeInclusive;

use pando_suggest as suggest;

use crate::Error;
use crate::datum::Datum;
use crate::lexer::{Token, tokens};
use crate::methods::{Function, Method};
use crate::tree::{Binary, Each, Expr, Kind, OnNull, RangeEnd, Type, Unary};

/// How deep expressions may nest.
const MOST_DEPTH: usize = 48;
/// Operators and calls of one expression: each makes the tree one level deeper, and the tree is walked by recursion.
const MOST_OPERATORS: usize = 300;

/// The tree of one expression whose variables are `names`; `start` is where it begins in the whole text.
pub(crate) fn parse(chars: &[char], start: usize, names: &[String]) -> Result<Expr, Error> {
    let tokens = tokens(chars, start)?;
    let end = start + chars.len();
    let mut parser =
        Parser { tokens, next: 0, end, names, locals: Vec::new(), depth: 0, operators: 0 };
    if parser.tokens.is_empty() {
        return Err(Error::new(start, "the expression is empty"));
    }
    let expr = parser.expression()?;
    match parser.tokens.get(parser.next) {
        None => Ok(expr),
        Some((at, token)) => Err(Error::new(*at, format!("unexpected {}", shown(token)))),
    }
}

struct Parser<'n> {
    tokens: Vec<(usize, Token)>,
    next: usize,
    end: usize,
    names: &'n [String],
    locals: Vec<String>,
    depth: usize,
    operators: usize,
}

/// Binary operators from the loosest to the tightest; those of one row associate to the left.
const LEVELS: [&[(&str, Binary)]; 8] = [
    &[("|", Binary::BitOr)],
    &[("^", Binary::BitXor)],
    &[("&", Binary::BitAnd)],
    &[("==", Binary::Equal), ("!=", Binary::Unequal), ("<=>", Binary::Compare)],
    &[
        ("<", Binary::Less),
        ("<=", Binary::LessEqual),
        (">", Binary::Greater),
        (">=", Binary::GreaterEqual),
    ],
    &[("<<", Binary::ShiftLeft), (">>", Binary::ShiftRight)],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[("*", Binary::Multiply), ("/", Binary::Divide), ("%", Binary::Remainder)],
];
const RELATIONAL: usize = 4;
const SHIFTS: usize = 5;

impl Parser<'_> {
    fn expression(&mut self) -> Result<Expr, Error> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            let message = format!("the expression nests deeper than {MOST_DEPTH} levels");
            return Err(Error::new(self.at(), message));
        }
        let condition = self.or()?;
        let at = condition.at;
        let expr = if self.take("?:") {
            let other = self.expression()?;
            Expr { at, kind: Kind::Elvis(Box::new(condition), Box::new(other)) }
        } else if self.take("?") {
            let yes = self.expression()?;
            self.expect(":")?;
            let no = self.expression()?;
            Expr { at, kind: Kind::Choose(Box::new(condition), Box::new(yes), Box::new(no)) }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn or(&mut self) -> Result<Expr, Error> {
        let mut left = self.and()?;
        while self.take("||") {
            self.count()?;
            let right = self.and()?;
            left = Expr { at: left.at, kind: Kind::Or(Box::new(left), Box::new(right)) };
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expr, Error> {
        let mut left = self.binary(0)?;
        while self.take("&&") {
            self.count()?;
            let right = self.binary(0)?;
            left = Expr { at: left.at, kind: Kind::And(Box::new(left), Box::new(right)) };
        }
        Ok(left)
    }

    fn binary(&mut self, level: usize) -> Result<Expr, Error> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            self.count()?;
            let at = left.at;
            let found = operators.iter().find(|(sign, _)| self.is(sign));
            if let Some((_, operator)) = found {
                self.next += 1;
                let right = self.binary(level + 1)?;
                left = Expr { at, kind: Kind::Binary(*operator, Box::new(left), Box::new(right)) };
            } else if level == SHIFTS && (self.is("..") || self.is("..<")) {
                let end = if self.is("..<") { RangeEnd::Excluded } else { RangeEnd::Included };
                self.next += 1;
                let high = Box::new(self.binary(level + 1)?);
                left = Expr { at, kind: Kind::Range { low: Box::new(left), high, end } };
            } else if level == RELATIONAL && self.take_word("as") {
                let to = self.type_name()?;
                left = Expr { at, kind: Kind::Cast(to, Box::new(left)) };
            } else if level == RELATIONAL && self.take_word("in") {
                let right = Box::new(self.binary(level + 1)?);
                left = Expr { at, kind: Kind::Binary(Binary::In, Box::new(left), right) };
            } else {
                self.operators -= 1;
                return Ok(left);
            }
        }
    }

    fn unary(&mut self) -> Result<Expr, Error> {
        let at = self.at();
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            let message = format!("the expression nests deeper than {MOST_DEPTH} levels");
            return Err(Error::new(at, message));
        }
        let expr = if self.take("-") {
            let inner = self.unary()?;
            Expr { at, kind: Kind::Unary(Unary::Negate, Box::new(inner)) }
        } else if self.take("!") {
            let inner = self.unary()?;
            Expr { at, kind: Kind::Unary(Unary::Not, Box::new(inner)) }
        } else if self.take("+") {
            self.unary()?
        } else if let Some(to) = self.cast() {
            let inner = self.unary()?;
            Expr { at, kind: Kind::Cast(to, Box::new(inner)) }
        } else {
            self.power()?
        };
        self.depth -= 1;
        Ok(expr)
    }

    /// `(int)` and the like in front of a value.
    fn cast(&mut self) -> Option<Type> {
        let [(_, Token::Sign("(")), (_, Token::Name(name)), (_, Token::Sign(")"))] =
            self.tokens.get(self.next..self.next + 3)?
        else {
            return None;
        };
        let found = type_of(name)?;
        self.next += 3;
        Some(found)
    }

    fn power(&mut self) -> Result<Expr, Error> {
        let base = self.postfix()?;
        if !self.take("**") {
            return Ok(base);
        }
        let exponent = Box::new(self.unary()?);
        Ok(Expr { at: base.at, kind: Kind::Binary(Binary::Power, Box::new(base), exponent) })
    }

    fn postfix(&mut self) -> Result<Expr, Error> {
        let mut expr = self.primary()?;
        loop {
            self.count()?;
            if self.take(".") {
                expr = self.member(expr, OnNull::Fails)?;
            } else if self.take("?.") {
                expr = self.member(expr, OnNull::Passes)?;
            } else if self.take("[") {
                let index = Box::new(self.expression()?);
                self.expect("]")?;
                expr = Expr { at: expr.at, kind: Kind::Index(Box::new(expr), index) };
            } else {
                self.operators -= 1;
                return Ok(expr);
            }
        }
    }

    fn member(&mut self, on: Expr, on_null: OnNull) -> Result<Expr, Error> {
        let (at, name) = self.name()?;
        let each = match name.as_str() {
            "collect" => Some(Each::Collect),
            "findAll" => Some(Each::FindAll),
            _ => None,
        };
        if let Some(each) = each.filter(|_| self.is("{") || self.is("(")) {
            return self.each(on, each);
        }
        let arguments = if self.is("(") { self.arguments()? } else { Vec::new() };
        let Some(method) = Method::named(&name) else {
            let hint = suggest::nearest(&name, Method::names())
                .map_or_else(String::new, |guess| format!("; did you mean `{guess}`?"));
            return Err(Error::new(at, format!("unknown method `{name}`{hint}")));
        };
        check_count(at, &name, method.arguments(), arguments.len())?;
        Ok(Expr { at: on.at, kind: Kind::Call { on: Box::new(on), method, arguments, on_null } })
    }

    /// The closure of `collect` or `findAll`: `{ x -> … }`, or `{ … it … }`.
    fn each(&mut self, on: Expr, each: Each) -> Result<Expr, Error> {
        let in_brackets = self.take("(");
        self.expect("{")?;
        let named = match (self.tokens.get(self.next), self.tokens.get(self.next + 1)) {
            (Some((_, Token::Name(name))), Some((_, Token::Sign("->")))) => Some(name.clone()),
            _ => None,
        };
        if named.is_some() {
            self.next += 2;
        }
        self.locals.push(named.unwrap_or_else(|| "it".into()));
        let body = Box::new(self.expression()?);
        self.locals.pop();
        self.expect("}")?;
        if in_brackets {
            self.expect(")")?;
        }
        Ok(Expr { at: on.at, kind: Kind::Each { on: Box::new(on), each, body } })
    }

    fn primary(&mut self) -> Result<Expr, Error> {
        let at = self.at();
        let Some((_, token)) = self.tokens.get(self.next).cloned() else {
            return Err(Error::new(at, "the expression ends where a value is expected"));
        };
        self.next += 1;
        let kind = match token {
            Token::Number(number) => Kind::Constant(number),
            Token::Text(text) => Kind::Constant(Datum::text(text)),
            Token::Name(name) => self.named(at, &name)?,
            Token::Sign("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Sign("[") => Kind::List(self.list("]")?),
            Token::Sign(sign) => {
                return Err(Error::new(at, format!("expected a value, found `{sign}`")));
            }
        };
        Ok(Expr { at, kind })
    }

    fn named(&mut self, at: usize, name: &str) -> Result<Kind, Error> {
        match name {
            "true" => return Ok(Kind::Constant(Datum::Bool(true))),
            "false" => return Ok(Kind::Constant(Datum::Bool(false))),
            "null" => return Ok(Kind::Constant(Datum::Null)),
            _ => {}
        }
        if let Some(local) = self.locals.iter().rposition(|local| local == name) {
            return Ok(Kind::Local(local));
        }
        if let Some(slot) = self.names.iter().position(|known| known.eq_ignore_ascii_case(name)) {
            return Ok(Kind::Slot(slot));
        }
        let mut full = name.to_owned();
        if self.is(".") && Function::is_class(name) {
            self.next += 1;
            full = format!("{name}.{}", self.name()?.1);
        }
        let Some(function) = Function::named(&full) else {
            let known = self.names.iter().map(String::as_str);
            let hint = suggest::hint(&full, known);
            return Err(Error::new(at, format!("unknown variable `{full}`{hint}")));
        };
        let arguments = self.arguments()?;
        check_count(at, &full, function.arguments(), arguments.len())?;
        Ok(Kind::Static { function, arguments })
    }

    fn arguments(&mut self) -> Result<Vec<Expr>, Error> {
        self.expect("(")?;
        self.list(")")
    }

    fn list(&mut self, end: &'static str) -> Result<Vec<Expr>, Error> {
        let mut items = Vec::new();
        if self.take(end) {
            return Ok(items);
        }
        loop {
            items.push(self.expression()?);
            if self.take(end) {
                return Ok(items);
            }
            self.expect(",")?;
        }
    }

    fn type_name(&mut self) -> Result<Type, Error> {
        let (at, name) = self.name()?;
        type_of(&name).ok_or_else(|| Error::new(at, format!("unknown type `{name}`")))
    }

    fn name(&mut self) -> Result<(usize, String), Error> {
        let at = self.at();
        match self.tokens.get(self.next) {
            Some((_, Token::Name(name))) => {
                self.next += 1;
                Ok((at, name.clone()))
            }
            _ => Err(Error::new(at, "expected a name")),
        }
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(at, _)| *at)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.tokens.get(self.next), Some((_, Token::Sign(found))) if *found == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.next += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found =
            matches!(self.tokens.get(self.next), Some((_, Token::Name(name))) if name == word);
        self.next += usize::from(found);
        found
    }

    fn count(&mut self) -> Result<(), Error> {
        self.operators += 1;
        if self.operators <= MOST_OPERATORS {
            return Ok(());
        }
        let message = format!("the expression has more than {MOST_OPERATORS} operators");
        Err(Error::new(self.at(), message))
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), Error> {
        if self.take(sign) {
            return Ok(());
        }
        let found = self.tokens.get(self.next).map(|(_, token)| shown(token));
        let found = found.unwrap_or_else(|| "the end of the expression".into());
        Err(Error::new(self.at(), format!("expected `{sign}`, found {found}")))
    }
}

fn check_count(
    at: usize,
    name: &str,
    takes: RangeInclusive<usize>,
    given: usize,
) -> Result<(), Error> {
    if takes.contains(&given) {
        return Ok(());
    }
    let (least, most) = (takes.start(), takes.end());
    let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
    Err(Error::new(at, format!("`{name}` takes {wanted} arguments, found {given}")))
}

fn type_of(name: &str) -> Option<Type> {
    match name {
        "int" | "Integer" | "short" | "Short" => Some(Type::Integer),
        "long" | "Long" => Some(Type::Long),
        "BigInteger" => Some(Type::BigInteger),
        "double" | "Double" | "float" | "Float" | "BigDecimal" => Some(Type::Decimal),
        "String" => Some(Type::Text),
        "boolean" | "Boolean" => Some(Type::Bool),
        _ => None,
    }
}

fn shown(token: &Token) -> String {
    match token {
        Token::Number(number) => number.describe(),
        Token::Text(text) => format!("the text `{text}`"),
        Token::Name(name) => format!("`{name}`"),
        Token::Sign(sign) => format!("`{sign}`"),
    }
}
