//! Conditions: an expression whose variables have types, checked once, that says yes or no.

use crate::datum::Datum;
use crate::evaluate::{Scope, evaluate};
use crate::methods::{Function, ItemsMethod, Method, TextMethod};
use crate::tree::{Binary, Expr, Kind, Type as CastTo, Unary};
use crate::{Arithmetic, Error, parser};

/// The longest condition taken, in characters.
const LONGEST: usize = 4096;

/// What a variable of a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A text.
    Text,
    /// A list of texts.
    Texts,
}

/// A variable of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// What it is called, matched whatever its case.
    pub name: &'static str,
    /// What it holds.
    pub of: Type,
}

/// A compiled condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    expr: Expr,
    used: Vec<usize>,
}

impl Condition {
    /// Compiles a condition over these variables, as it stands or within `${…}`. Its types are checked here: a number is
    /// not compared with a text, nothing but truth is negated or joined by `&&` and `||`, and the whole is true or false.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn compile(text: &str, variables: &[Variable]) -> Result<Self, Error> {
        let (expr, used, _) = compiled(text, variables, &[Type::Bool])?;
        Ok(Self { expr, used })
    }

    /// Which of the variables are used, by position, ascending.
    pub fn used(&self) -> &[usize] {
        &self.used
    }

    /// Whether it holds with these values, one per variable, of its type.
    ///
    /// # Errors
    /// What cannot be computed with them, and where.
    pub fn holds(&self, values: &[Datum<'_>]) -> Result<bool, Error> {
        let mut scope = Scope { slots: values, arithmetic: Arithmetic::Exact, locals: Vec::new() };
        Ok(evaluate(&self.expr, &mut scope)?.is_true())
    }
}

/// A compiled expression that gives a text, or a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    expr: Expr,
    used: Vec<usize>,
    of: Type,
}

impl Formula {
    /// As [`Condition::compile`], of an expression that is known to give a text.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn compile(text: &str, variables: &[Variable]) -> Result<Self, Error> {
        Self::of(text, variables, &[Type::Text])
    }

    /// The same of one that is known to give a text or a number.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn compile_either(text: &str, variables: &[Variable]) -> Result<Self, Error> {
        Self::of(text, variables, &[Type::Text, Type::Number])
    }

    fn of(text: &str, variables: &[Variable], wanted: &[Type]) -> Result<Self, Error> {
        compiled(text, variables, wanted).map(|(expr, used, of)| Self { expr, used, of })
    }

    /// Which of the variables are used, by position, ascending.
    pub fn used(&self) -> &[usize] {
        &self.used
    }

    /// The text with these values, one per variable, of its type.
    ///
    /// # Errors
    /// What cannot be computed with them, and where; and where it gives a number.
    pub fn text(&self, values: &[Datum<'_>]) -> Result<String, Error> {
        match self.value(values)? {
            Datum::Text(text) => Ok(text.into_owned()),
            Datum::Null | Datum::Bool(_) | Datum::Int(..) | Datum::Decimal(_) | Datum::List(_) => {
                Err(Error::new(self.expr.at, "it gives no text"))
            }
        }
    }

    /// The text or number with these values, one per variable, of its type.
    ///
    /// # Errors
    /// What cannot be computed with them, and where.
    pub fn value(&self, values: &[Datum<'_>]) -> Result<Datum<'static>, Error> {
        let mut scope = Scope { slots: values, arithmetic: Arithmetic::Exact, locals: Vec::new() };
        match (evaluate(&self.expr, &mut scope)?, self.of) {
            (found @ Datum::Text(_), Type::Text)
            | (found @ (Datum::Int(..) | Datum::Decimal(_)), Type::Number) => {
                Ok(found.into_static())
            }
            (_, of) => Err(Error::new(self.expr.at, format!("it does not give {}", of.named()))),
        }
    }
}

/// Reads an expression that gives a value of one of these types, and tells which variables it uses, ascending, and of
/// which type it is.
fn compiled(
    text: &str,
    variables: &[Variable],
    wanted: &[Type],
) -> Result<(Expr, Vec<usize>, Type), Error> {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() > LONGEST {
        return Err(Error::new(0, format!("it is longer than {LONGEST} characters")));
    }
    let inner = match &chars[..] {
        ['$', '{', inner @ .., '}'] => (inner, 2),
        all => (all, 0),
    };
    let names: Vec<String> = variables.iter().map(|own| own.name.to_owned()).collect();
    let expr = parser::parse(inner.0, inner.1, &names)?;
    let mut checker = Checker { variables, used: Vec::new() };
    let names = || wanted.iter().map(|of| of.named()).collect::<Vec<_>>().join(" or ");
    let of = match checker.of(&expr)? {
        Some(found) if wanted.contains(&found) => found,
        Some(other) => {
            let message = format!("expected {}, found {}", names(), other.named());
            return Err(Error::new(expr.at, message));
        }
        None => return Err(Error::new(expr.at, format!("it is not known to be {}", names()))),
    };
    checker.used.sort_unstable();
    checker.used.dedup();
    Ok((expr, checker.used, of))
}

/// The types of an expression's parts; `None` where only its value shows it.
struct Checker<'v> {
    variables: &'v [Variable],
    used: Vec<usize>,
}

type Known = Option<Type>;

impl Checker<'_> {
    fn of(&mut self, expr: &Expr) -> Result<Known, Error> {
        Ok(match &expr.kind {
            Kind::Constant(value) => of_constant(value),
            Kind::Slot(slot) => {
                self.used.push(*slot);
                self.variables.get(*slot).map(|own| own.of)
            }
            Kind::Local(_) => None,
            Kind::List(items) => {
                let mut are_texts = true;
                for item in items {
                    are_texts &= self.of(item)? == Some(Type::Text);
                }
                are_texts.then_some(Type::Texts)
            }
            Kind::Range { low, high, .. } => {
                self.is(low, Type::Number)?;
                self.is(high, Type::Number)?;
                None
            }
            Kind::Unary(Unary::Not, inner) => self.is(inner, Type::Bool)?,
            Kind::Unary(Unary::Negate, inner) => self.is(inner, Type::Number)?,
            Kind::And(left, right) | Kind::Or(left, right) => {
                self.is(left, Type::Bool)?;
                self.is(right, Type::Bool)?
            }
            Kind::Binary(operator, left, right) => self.binary(*operator, left, right)?,
            Kind::Choose(condition, yes, no) => {
                self.is(condition, Type::Bool)?;
                self.alike(yes, no)?
            }
            Kind::Elvis(value, other) => self.alike(value, other)?,
            Kind::Index(on, index) => {
                let on = self.of(on)?;
                self.of(index)?;
                on.and_then(|on| matches!(on, Type::Text | Type::Texts).then_some(Type::Text))
            }
            Kind::Cast(to, inner) => {
                self.of(inner)?;
                Some(of_cast(*to))
            }
            Kind::Call { on, method, arguments, .. } => self.call(on, *method, arguments)?,
            Kind::Static { function, arguments } => {
                for argument in arguments {
                    self.of(argument)?;
                }
                Some(of_function(*function))
            }
            Kind::Each { on, body, .. } => {
                self.of(on)?;
                self.of(body)?;
                None
            }
        })
    }

    /// Refuses what is known to be of another type.
    fn is(&mut self, expr: &Expr, wanted: Type) -> Result<Known, Error> {
        let found = self.of(expr)?;
        fits(expr, found, wanted)
    }

    /// Both of one type, as far as that is known.
    fn alike(&mut self, left: &Expr, right: &Expr) -> Result<Known, Error> {
        match (self.of(left)?, self.of(right)?) {
            (Some(own), Some(other)) if own != other => Err(wrong(right, own, other)),
            (Some(own), _) | (None, Some(own)) => Ok(Some(own)),
            (None, None) => Ok(None),
        }
    }

    fn binary(&mut self, operator: Binary, left: &Expr, right: &Expr) -> Result<Known, Error> {
        match operator {
            Binary::Equal | Binary::Unequal => {
                self.alike(left, right)?;
                Ok(Some(Type::Bool))
            }
            Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual => match self
                .alike(left, right)?
            {
                Some(found @ (Type::Bool | Type::Texts)) => Err(wrong(left, Type::Number, found)),
                Some(Type::Number | Type::Text) | None => Ok(Some(Type::Bool)),
            },
            Binary::In => {
                let (own, list) = (self.of(left)?, self.of(right)?);
                match (own, list) {
                    (_, Some(found @ (Type::Bool | Type::Number | Type::Text))) => {
                        Err(wrong(right, Type::Texts, found))
                    }
                    (Some(found), Some(Type::Texts)) if found != Type::Text => {
                        Err(wrong(left, Type::Text, found))
                    }
                    _ => Ok(Some(Type::Bool)),
                }
            }
            Binary::Add => self.alike(left, right),
            Binary::Compare
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Divide
            | Binary::Remainder
            | Binary::Power
            | Binary::ShiftLeft
            | Binary::ShiftRight
            | Binary::BitAnd
            | Binary::BitOr
            | Binary::BitXor => {
                self.is(left, Type::Number)?;
                self.is(right, Type::Number)
            }
        }
    }

    fn call(&mut self, on: &Expr, method: Method, arguments: &[Expr]) -> Result<Known, Error> {
        // Each part once: two looks at it are four at what is in it.
        let found = self.of(on)?;
        let mut given = Vec::with_capacity(arguments.len());
        for argument in arguments {
            given.push(self.of(argument)?);
        }
        let has_items = found.is_none_or(|found| matches!(found, Type::Text | Type::Texts));
        match method {
            Method::OfItems(_) if !has_items => {
                Err(wrong(on, Type::Texts, found.unwrap_or(Type::Bool)))
            }
            Method::OfItems(ItemsMethod::Contains) => {
                if let (Some(argument), Some(found)) = (arguments.first(), given.first()) {
                    fits(argument, *found, Type::Text)?;
                }
                Ok(Some(Type::Bool))
            }
            Method::OfItems(ItemsMethod::IsEmpty) | Method::Equals => Ok(Some(Type::Bool)),
            Method::OfItems(ItemsMethod::Length) => Ok(Some(Type::Number)),
            Method::OfItems(ItemsMethod::First | ItemsMethod::Last | ItemsMethod::Join) => {
                Ok(Some(Type::Text))
            }
            Method::OfItems(ItemsMethod::Reverse) => Ok(found),
            Method::OfText(method) => {
                fits(on, found, Type::Text)?;
                Ok(Some(of_text(method)))
            }
            Method::ToText => Ok(Some(Type::Text)),
            Method::ToInteger
            | Method::ToLong
            | Method::ToBigInteger
            | Method::ToDecimal
            | Method::HashCode => Ok(Some(Type::Number)),
            Method::Abs
            | Method::IntDiv
            | Method::Remainder
            | Method::Plus
            | Method::Minus
            | Method::Multiply
            | Method::Power => fits(on, found, Type::Number),
        }
    }
}

/// Refuses what is known to be of another type.
fn fits(expr: &Expr, found: Known, wanted: Type) -> Result<Known, Error> {
    match found {
        Some(found) if found != wanted => Err(wrong(expr, wanted, found)),
        Some(_) | None => Ok(Some(wanted)),
    }
}

fn of_constant(value: &Datum<'_>) -> Known {
    match value {
        Datum::Bool(_) => Some(Type::Bool),
        Datum::Int(..) | Datum::Decimal(_) => Some(Type::Number),
        Datum::Text(_) => Some(Type::Text),
        Datum::Null | Datum::List(_) => None,
    }
}

fn of_cast(to: CastTo) -> Type {
    match to {
        CastTo::Bool => Type::Bool,
        CastTo::Text => Type::Text,
        CastTo::Integer | CastTo::Long | CastTo::BigInteger | CastTo::Decimal => Type::Number,
    }
}

fn of_text(method: TextMethod) -> Type {
    match method {
        TextMethod::StartsWith | TextMethod::EndsWith => Type::Bool,
        TextMethod::IndexOf | TextMethod::LastIndexOf => Type::Number,
        TextMethod::Split => Type::Texts,
        TextMethod::Substring
        | TextMethod::CharAt
        | TextMethod::ToLower
        | TextMethod::ToUpper
        | TextMethod::Trim
        | TextMethod::PadLeft
        | TextMethod::PadRight
        | TextMethod::Replace => Type::Text,
    }
}

fn of_function(function: Function) -> Type {
    match function {
        Function::Format | Function::TextOf => Type::Text,
        Function::Abs
        | Function::Max
        | Function::Min
        | Function::FloorMod
        | Function::FloorDiv
        | Function::Floor
        | Function::Ceil
        | Function::Round
        | Function::ParseInteger
        | Function::ParseLong => Type::Number,
    }
}

fn wrong(expr: &Expr, wanted: Type, found: Type) -> Error {
    Error::new(expr.at, format!("expected {}, found {}", wanted.named(), found.named()))
}

impl Type {
    fn named(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Number => "a number",
            Self::Text => "a text",
            Self::Texts => "a list of texts",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VARIABLES: [Variable; 4] = [
        Variable { name: "kind", of: Type::Text },
        Variable { name: "units", of: Type::Number },
        Variable { name: "has_where", of: Type::Bool },
        Variable { name: "tables", of: Type::Texts },
    ];

    fn check(text: &str, expected: &str) {
        let tables = Datum::List(vec![Datum::text("t_order"), Datum::text("t_item")]);
        let values = [Datum::text("DELETE"), Datum::int(3), Datum::Bool(false), tables];
        let found = Condition::compile(text, &VARIABLES).and_then(|own| own.holds(&values));
        let found = found.map_or_else(|error| error.to_string(), |holds| holds.to_string());
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_condition_says_yes_or_no() {
        check("kind == 'DELETE' && !has_where", "true");
        check("${kind in ['INSERT', 'UPDATE'] || units > 3}", "false");
        check("tables.contains('t_order') && tables.size() < 3", "true");
        check("'t_log' in tables", "false");
        check("tables.findAll { it.startsWith('t_o') }.size() == 1", "true");
        check("has_where ? units > 1 : units == 3", "true");
        check("kind.toLowerCase() == 'delete'", "true");
        check("(units + 1) % 2 == 0", "true");
    }

    #[test]
    fn types_that_do_not_fit_are_told_where_they_stand() {
        check("kind", "expected true or false, found a text at character 1 of the expression");
        check("units == 'x'", "expected a number, found a text at character 10 of the expression");
        check("!units", "expected true or false, found a number at character 2 of the expression");
        check(
            "has_where && kind",
            "expected true or false, found a text at character 14 of the expression",
        );
        check(
            "tables > 2",
            "expected a list of texts, found a number at character 10 of the expression",
        );
        check(
            "kind in units",
            "expected a list of texts, found a number at character 9 of the expression",
        );
        check(
            "units.size() > 1",
            "expected a list of texts, found a number at character 1 of the expression",
        );
        check(
            "units.startsWith('a')",
            "expected a text, found a number at character 1 of the expression",
        );
        check(
            "tables.contains(1)",
            "expected a text, found a number at character 17 of the expression",
        );
        check(
            "has_were",
            "unknown variable `has_were`; did you mean `has_where`? at character 1 of the expression",
        );
        check("null", "it is not known to be true or false at character 1 of the expression");
    }

    #[test]
    fn each_part_is_looked_at_once() {
        let trimmed = format!("kind{} == 'DELETE'", ".trim()".repeat(200));
        check(&trimmed, "true");
        let contained = (0..22)
            .fold("kind".to_owned(), |inner, _| format!("tables.contains({inner}).toString()"));
        check(&format!("{contained} == 'false'"), "true");
        let listed = (0..22).fold("kind".to_owned(), |inner, _| format!("[{inner}].first()"));
        check(&format!("{listed} == 'DELETE'"), "true");
    }

    #[test]
    fn what_is_used_is_known() {
        let condition = Condition::compile("units > 1 && tables.size() > units", &VARIABLES);
        assert_eq!(condition.map(|own| own.used().to_vec()), Ok(vec![1, 3]));
    }
}
