//! A whole text with expressions in it: compiled, then expanded to names or evaluated to one.

use crate::datum::Datum;
use crate::datum::MOST_ITEMS;
use crate::evaluate::{Scope, evaluate};
use crate::tree::{Expr, Kind};
use crate::{Arithmetic, Error, interval, parser};

/// The longest text taken, in characters.
const LONGEST: usize = 16_384;
/// The longest name an expression may make, in bytes.
const LONGEST_NAME: usize = 1024;

/// A compiled inline expression for one name, with variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    pieces: Vec<Piece>,
    arithmetic: Arithmetic,
}

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Text(String),
    Expr(Expr),
}

/// All names of a list, as `ds_${0..1}.t_${0..3}, ds_2.t_9`, in order: of each part the leftmost expression varies slowest.
///
/// # Errors
/// What is wrong with the text, and where; also more than 100 000 names.
pub fn expand(text: &str) -> Result<Vec<String>, Error> {
    let (parser, rest, offset) = prefix(text)?;
    match parser {
        Language::Interval => return interval::expand(rest, offset),
        Language::Literal => {
            let names = rest.split(',').map(str::trim).filter(|name| !name.is_empty());
            return Ok(names.map(str::to_owned).collect());
        }
        Language::Groovy => {}
    }
    let chars: Vec<char> = rest.chars().collect();
    let mut names = Vec::new();
    for (start, part) in parts(&chars, offset)? {
        let pieces = pieces(part, start, &[])?;
        product(&pieces, &mut names)?;
    }
    Ok(names)
}

impl Template {
    /// Compiles an expression whose variables are `names`, matched whatever their case.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn compile(text: &str, names: &[String], arithmetic: Arithmetic) -> Result<Self, Error> {
        let (parser, rest, offset) = prefix(text)?;
        if parser != Language::Groovy {
            return Err(Error::new(0, "only GROOVY expressions can be evaluated"));
        }
        let chars: Vec<char> = rest.chars().collect();
        let parts = parts(&chars, offset)?;
        let [(start, part)] = parts.as_slice() else {
            let at = parts.get(1).map_or(0, |(start, _)| *start);
            return Err(Error::new(at, "expected one expression, found a list"));
        };
        Ok(Self { pieces: pieces(part, *start, names)?, arithmetic })
    }

    /// Which of the variables are used, by position, ascending.
    pub fn variables(&self) -> Vec<usize> {
        let mut found = Vec::new();
        for piece in &self.pieces {
            if let Piece::Expr(expr) = piece {
                collect_slots(expr, &mut found);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The name for these values, one per variable.
    ///
    /// # Errors
    /// What cannot be computed with them, and where.
    pub fn name(&self, values: &[Datum<'_>]) -> Result<String, Error> {
        let mut name = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => name.push_str(text),
                Piece::Expr(expr) => {
                    let mut scope = self.scope(values);
                    let value = evaluate(expr, &mut scope)?;
                    let text = value.to_text().ok_or_else(|| {
                        Error::new(
                            expr.at,
                            format!("{} cannot be part of a name", value.describe()),
                        )
                    })?;
                    name.push_str(&text);
                }
            }
            if name.len() > LONGEST_NAME {
                return Err(Error::new(0, format!("the name is longer than {LONGEST_NAME} bytes")));
            }
        }
        Ok(name)
    }

    /// For an expression of the form `text${number}text`: the texts around.
    pub fn numbered(&self) -> Option<(&str, &str)> {
        match self.pieces.as_slice() {
            [Piece::Expr(_)] => Some(("", "")),
            [Piece::Text(before), Piece::Expr(_)] => Some((before, "")),
            [Piece::Expr(_), Piece::Text(after)] => Some(("", after)),
            [Piece::Text(before), Piece::Expr(_), Piece::Text(after)] => Some((before, after)),
            _ => None,
        }
    }

    /// The value of the only expression of such a form.
    ///
    /// # Errors
    /// What cannot be computed with them, and where.
    pub fn value<'a>(&'a self, values: &[Datum<'a>]) -> Result<Datum<'a>, Error> {
        let expr = self.pieces.iter().find_map(|piece| match piece {
            Piece::Expr(expr) => Some(expr),
            Piece::Text(_) => None,
        });
        match expr {
            Some(expr) => evaluate(expr, &mut self.scope(values)),
            None => Ok(Datum::Null),
        }
    }

    /// A text that is the same for templates that spread values alike, once `prefix` in front is left out.
    pub fn structure(&self, prefix: &str) -> String {
        let mut out = String::new();
        for (i, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Text(text) if i == 0 => {
                    let bare = text.get(..prefix.len()).filter(|p| p.eq_ignore_ascii_case(prefix));
                    out.push_str(if bare.is_some() { &text[prefix.len()..] } else { text });
                }
                Piece::Text(text) => out.push_str(text),
                Piece::Expr(expr) => out.push_str(&format!("{:?}", without_places(expr))),
            }
        }
        format!("{out} {:?}", self.arithmetic)
    }

    fn scope<'a, 's>(&self, slots: &'s [Datum<'a>]) -> Scope<'a, 's> {
        Scope { slots, arithmetic: self.arithmetic, locals: Vec::new() }
    }
}

#[derive(PartialEq, Eq)]
enum Language {
    Groovy,
    Literal,
    Interval,
}

/// The language named in front, the text behind it and where that starts.
fn prefix(text: &str) -> Result<(Language, &str, usize), Error> {
    if text.chars().count() > LONGEST {
        return Err(Error::new(0, format!("the expression is longer than {LONGEST} characters")));
    }
    let trimmed = text.trim_start();
    let blank = text.chars().count() - trimmed.chars().count();
    let Some((name, rest)) = trimmed.strip_prefix('<').and_then(|rest| rest.split_once('>')) else {
        return Ok((Language::Groovy, text, 0));
    };
    let language = match name.to_ascii_uppercase().as_str() {
        "GROOVY" => Language::Groovy,
        "LITERAL" => Language::Literal,
        "INTERVAL" => Language::Interval,
        _ => {
            let message = format!("unknown language `{name}` (known: GROOVY, LITERAL, INTERVAL)");
            return Err(Error::new(blank, message));
        }
    };
    Ok((language, rest, blank + name.chars().count() + 2))
}

type Part<'c> = (usize, &'c [char]);

/// The parts between commas outside `${}`, trimmed, each with its start; empty ones are left out.
fn parts(chars: &[char], offset: usize) -> Result<Vec<Part<'_>>, Error> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut i = 0;
    while i < chars.len() {
        if let Some(open) = opening(&chars[i..]) {
            i = closing(chars, i, open, offset)? + 1;
            continue;
        }
        if chars[i] == ',' {
            parts.push((start, &chars[start..i]));
            start = i + 1;
        }
        i += 1;
    }
    parts.push((start, &chars[start..]));
    let trimmed = parts.into_iter().filter_map(|(start, part)| {
        let first = part.iter().position(|c| !c.is_whitespace())?;
        let last = part.iter().rposition(|c| !c.is_whitespace())?;
        Some((offset + start + first, &part[first..=last]))
    });
    Ok(trimmed.collect())
}

/// How many characters open an expression here: `${` or `$->{`.
fn opening(chars: &[char]) -> Option<usize> {
    match chars {
        ['$', '{', ..] => Some(2),
        ['$', '-', '>', '{', ..] => Some(4),
        _ => None,
    }
}

/// Where the brace that closes an expression stands; braces of closures and inside quotes do not count.
fn closing(chars: &[char], at: usize, open: usize, offset: usize) -> Result<usize, Error> {
    let mut depth = 1_usize;
    let mut quote: Option<char> = None;
    let mut i = at + open;
    while let Some(&c) = chars.get(i) {
        match (quote, c) {
            (Some(_), '\\') => i += 1,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') if depth == 1 => return Ok(i),
            (None, '}') => depth -= 1,
            (None, _) => {}
        }
        i += 1;
    }
    Err(Error::new(offset + at, "`${` is not closed by `}`"))
}

/// Texts and expressions of one part; `start` is where it begins in the whole text.
fn pieces(part: &[char], start: usize, names: &[String]) -> Result<Vec<Piece>, Error> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut i = 0;
    while i < part.len() {
        if let Some(open) = opening(&part[i..]) {
            let close = closing(part, i, open, start)?;
            let inside = &part[i + open..close];
            flush(&mut text, &mut pieces);
            pieces.push(Piece::Expr(parser::parse(inside, start + i + open, names)?));
            i = close + 1;
            continue;
        }
        let is_bare =
            part[i] == '$' && part.get(i + 1).is_some_and(|c| c.is_alphabetic() || *c == '_');
        if is_bare {
            // `t_$order_id` is a variable without braces.
            let rest = &part[i + 1..];
            let end = rest.iter().position(|c| !(c.is_alphanumeric() || *c == '_'));
            let name = &rest[..end.unwrap_or(rest.len())];
            flush(&mut text, &mut pieces);
            pieces.push(Piece::Expr(parser::parse(name, start + i + 1, names)?));
            i += 1 + name.len();
            continue;
        }
        if part[i] == '\\' && part.get(i + 1) == Some(&'$') {
            i += 1;
        }
        text.push(part[i]);
        i += 1;
    }
    flush(&mut text, &mut pieces);
    Ok(pieces)
}

fn flush(text: &mut String, pieces: &mut Vec<Piece>) {
    if !text.is_empty() {
        pieces.push(Piece::Text(std::mem::take(text)));
    }
}

/// Adds every combination of the pieces' values.
fn product(pieces: &[Piece], names: &mut Vec<String>) -> Result<(), Error> {
    let mut heads = vec![String::new()];
    for piece in pieces {
        let tails = match piece {
            Piece::Text(text) => vec![text.clone()],
            Piece::Expr(expr) => {
                let mut scope =
                    Scope { slots: &[], arithmetic: Arithmetic::Exact, locals: Vec::new() };
                let mut texts = Vec::new();
                flatten(&evaluate(expr, &mut scope)?, &mut texts);
                texts
            }
        };
        let count = heads.len().saturating_mul(tails.len());
        if count.saturating_add(names.len()) > MOST_ITEMS {
            return Err(Error::new(0, format!("more than {MOST_ITEMS} names")));
        }
        let join =
            |head: &String| tails.iter().map(|tail| format!("{head}{tail}")).collect::<Vec<_>>();
        heads = heads.iter().flat_map(join).collect();
    }
    names.extend(heads);
    Ok(())
}

/// The texts of a value: of a list those of its items, of null none.
fn flatten(value: &Datum<'_>, texts: &mut Vec<String>) {
    if let Datum::List(items) = value {
        for item in items {
            flatten(item, texts);
        }
    } else if let Some(text) = value.to_text() {
        texts.push(text.into_owned());
    }
}

fn collect_slots(expr: &Expr, found: &mut Vec<usize>) {
    if let Kind::Slot(slot) = expr.kind {
        found.push(slot);
    }
    for inner in children(expr) {
        collect_slots(inner, found);
    }
}

fn children(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        Kind::Constant(_) | Kind::Slot(_) | Kind::Local(_) => Vec::new(),
        Kind::List(items) | Kind::Static { arguments: items, .. } => items.iter().collect(),
        Kind::Range { low: a, high: b, .. }
        | Kind::Binary(_, a, b)
        | Kind::And(a, b)
        | Kind::Or(a, b)
        | Kind::Elvis(a, b)
        | Kind::Index(a, b)
        | Kind::Each { on: a, body: b, .. } => vec![a, b],
        Kind::Choose(a, b, c) => vec![a, b, c],
        Kind::Unary(_, a) | Kind::Cast(_, a) => vec![a],
        Kind::Call { on, arguments, .. } => std::iter::once(on.as_ref()).chain(arguments).collect(),
    }
}

/// The tree with every place set to 0, so that equal expressions compare equal wherever they stand.
fn without_places(expr: &Expr) -> Expr {
    let inner = |expr: &Expr| Box::new(without_places(expr));
    let all = |exprs: &[Expr]| exprs.iter().map(without_places).collect::<Vec<_>>();
    let kind = match &expr.kind {
        Kind::Constant(_) | Kind::Slot(_) | Kind::Local(_) => expr.kind.clone(),
        Kind::List(items) => Kind::List(all(items)),
        Kind::Range { low, high, end } => {
            Kind::Range { low: inner(low), high: inner(high), end: *end }
        }
        Kind::Unary(operator, a) => Kind::Unary(*operator, inner(a)),
        Kind::Binary(operator, a, b) => Kind::Binary(*operator, inner(a), inner(b)),
        Kind::And(a, b) => Kind::And(inner(a), inner(b)),
        Kind::Or(a, b) => Kind::Or(inner(a), inner(b)),
        Kind::Choose(a, b, c) => Kind::Choose(inner(a), inner(b), inner(c)),
        Kind::Elvis(a, b) => Kind::Elvis(inner(a), inner(b)),
        Kind::Index(a, b) => Kind::Index(inner(a), inner(b)),
        Kind::Cast(to, a) => Kind::Cast(*to, inner(a)),
        Kind::Call { on, method, arguments, on_null } => {
            let (on, arguments) = (inner(on), all(arguments));
            Kind::Call { on, method: *method, arguments, on_null: *on_null }
        }
        Kind::Static { function, arguments } => {
            Kind::Static { function: *function, arguments: all(arguments) }
        }
        Kind::Each { on, each, body } => {
            Kind::Each { on: inner(on), each: *each, body: inner(body) }
        }
    };
    Expr { at: 0, kind }
}
