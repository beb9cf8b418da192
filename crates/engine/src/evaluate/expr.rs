//! Values of expressions that need no server. `None` is not NULL: it says that a server would have to be asked.

use std::cmp::Ordering;

use pando_kernel::Value;
use pando_sql::ast::{BinaryOp, Expr, Function, Literal, Node, ObjectName};
use pando_sql::user_variable;

use super::query::MAX_BYTES;
use super::{Asked, Table};

/// A row that columns are looked up in.
pub(super) type Scope<'a> = Option<(&'a Table, &'a [Value])>;

impl Asked<'_> {
    /// How the language that is asked in sorts.
    pub(super) fn sorting(&self) -> Sorting {
        match self.source.names_by_text() {
            true => Sorting::Loose,
            false => Sorting::Exact,
        }
    }

    pub(super) fn value(&self, expr: &Expr, scope: Scope<'_>) -> Option<Value> {
        match &expr.node {
            Node::Literal(literal) => self.literal(literal),
            Node::Parameter(at) => match self.source.parameters {
                None => Some(Value::Null),
                Some(known) => known.get(*at as usize).map(|parameter| parameter.value.clone()),
            },
            Node::Column(name) => self.column(name, scope),
            Node::Variable(name) => {
                let of_user = user_variable(name, self.source.dialect.syntax());
                self.variable(&of_user.unwrap_or_else(|| name.to_lowercase()))
            }
            Node::Nested(inner) => self.value(inner, scope),
            Node::Collate { operand, .. } => self.value(operand, scope),
            Node::Function(call) => self.function(call, scope),
            Node::Cast { operand, to } => {
                let to = to.of(self.text).to_ascii_lowercase();
                let length = match self.source.names_by_text() {
                    true => CharLength::Any,
                    false => CharLength::Fixed,
                };
                cast(self.value(operand, scope)?, &to, length)
            }
            Node::Unary { op, operand } => self.unary(op, self.value(operand, scope)?),
            Node::Binary { op, left, right } => {
                self.binary(op, &self.value(left, scope)?, &self.value(right, scope)?)
            }
            Node::IsNull { operand, negated } => {
                let is_null = self.value(operand, scope)?.is_null();
                Some(self.boolean(Some(is_null != *negated)))
            }
            Node::InList { operand, list, negated } => {
                let value = self.value(operand, scope)?;
                let mut found = Some(false);
                let syntax = self.source.dialect.syntax();
                for one in list.values(self.text, syntax) {
                    match self.equal(&value, &self.value(&one, scope)?)? {
                        Some(true) => {
                            found = Some(true);
                            break;
                        }
                        None => found = None,
                        Some(false) => {}
                    }
                }
                Some(self.boolean(found.map(|found| found != *negated)))
            }
            Node::Like { operand, pattern, negated } => {
                let between = (operand.span.end as usize)..(pattern.span.start as usize);
                let verb = self.text.get(between)?.trim().to_ascii_uppercase();
                let is_like = matches!(verb.as_str(), "LIKE" | "NOT LIKE");
                if !is_like || expr.span.end > pattern.span.end {
                    return None;
                }
                let found = match (self.value(operand, scope)?, self.value(pattern, scope)?) {
                    (Value::Null, _) | (_, Value::Null) => None,
                    (Value::Text(text), Value::Text(pattern)) => {
                        // What takes too long is left to a server.
                        let steps = text.len().saturating_mul(pattern.len()).max(1);
                        self.steps.set(self.steps.get().checked_sub(steps)?);
                        Some(self.like(&text, &pattern) != *negated)
                    }
                    _ => return None,
                };
                Some(self.boolean(found))
            }
            Node::Case { operand, branches, otherwise } => {
                let of = operand.as_ref().map(|operand| self.value(operand, scope));
                for (when, then) in branches {
                    let when = self.value(when, scope)?;
                    let chosen = match &of {
                        None => truth(&when)?,
                        Some(of) => self.equal(of.as_ref()?, &when)?,
                    };
                    if chosen == Some(true) {
                        return self.value(then, scope);
                    }
                }
                otherwise.as_ref().map_or(Some(Value::Null), |last| self.value(last, scope))
            }
            Node::Between { .. }
            | Node::InQuery { .. }
            | Node::Subquery(_)
            | Node::Exists(_)
            | Node::Row(_)
            | Node::Other(_)
            | Node::Default => None,
        }
    }

    fn literal(&self, literal: &Literal) -> Option<Value> {
        Some(match literal {
            Literal::Integer(number) => Value::Int(*number),
            Literal::Number(text) => match text.parse() {
                Ok(number) => Value::UInt(number),
                Err(_) => Value::decimal(text)?,
            },
            Literal::Text(text) => Value::Text(text.clone()),
            Literal::Bytes(bytes) => Value::Bytes(bytes.clone().into()),
            Literal::Boolean(yes) => self.boolean(Some(*yes)),
            Literal::Null => Value::Null,
            Literal::Typed(..) => return None,
        })
    }

    fn column(&self, name: &ObjectName, scope: Scope<'_>) -> Option<Value> {
        let column = name.parts.last()?;
        if let Some((table, row)) = scope {
            let owner = name.parts.len().checked_sub(2).and_then(|at| name.parts.get(at));
            let is_it = |(_, (known, of)): &(usize, (&String, &String))| {
                known.eq_ignore_ascii_case(&column.value)
                    && owner.is_none_or(|owner| owner.value.eq_ignore_ascii_case(of))
            };
            let known = table.rows.columns.iter().zip(&table.owners).enumerate();
            let mut found = known.filter(is_it);
            if let Some((at, _)) = found.next() {
                // A name of two columns means neither.
                return row.get(at).filter(|_| found.next().is_none()).cloned();
            }
        }
        // Some functions are written without parentheses.
        let bare = name.parts.len() == 1 && !column.quoted;
        let own =
            self.source.dialect.session_function(&column.value.to_lowercase(), self.source.facts);
        let folds = !self.source.names_by_text();
        own.filter(|_| bare && (folds || column.value.eq_ignore_ascii_case("current_user")))
    }

    fn variable(&self, name: &str) -> Option<Value> {
        let facts = self.source.facts;
        let own = self.source.dialect.session_function(name, facts);
        own.or_else(|| self.source.alone.variable(name, facts))
    }

    fn function(&self, call: &Function, scope: Scope<'_>) -> Option<Value> {
        let plain = !call.star
            && call.over.is_none()
            && call.distinct.is_none()
            && call.filter.is_none()
            && call.order_by.is_empty()
            && call.within_group.is_none();
        if !plain {
            return None;
        }
        let name = call.name.parts.last()?.value.to_lowercase();
        let arguments = call.arguments.iter().map(|argument| self.value(argument, scope));
        let arguments: Vec<Value> = arguments.collect::<Option<_>>()?;
        let facts = self.source.facts;
        if arguments.is_empty()
            && let Some(known) = self.source.dialect.session_function(&name, facts)
        {
            return Some(known);
        }
        match (name.as_str(), &arguments[..]) {
            ("coalesce" | "ifnull", values) => {
                Some(values.iter().find(|value| !value.is_null()).cloned().unwrap_or(Value::Null))
            }
            ("concat", values) => self.concat(values),
            ("lower" | "upper", [Value::Null]) => Some(Value::Null),
            ("lower", [Value::Text(text)]) => Some(Value::Text(text.to_lowercase())),
            ("upper", [Value::Text(text)]) => Some(Value::Text(text.to_uppercase())),
            (name, values) => self.source.alone.function(name, values, facts),
        }
    }

    /// With NULL in it, it is NULL where names are kept as written; elsewhere NULL is nothing.
    fn concat(&self, values: &[Value]) -> Option<Value> {
        let mut text = String::new();
        for value in values {
            if !value.is_null() {
                text.push_str(&plain(value)?);
                if text.len() > MAX_BYTES {
                    return None;
                }
            } else if self.source.names_by_text() {
                return Some(Value::Null);
            }
        }
        Some(Value::Text(text))
    }

    fn unary(&self, op: &str, value: Value) -> Option<Value> {
        match (op, value) {
            ("-", Value::Int(number)) => number.checked_neg().map(Value::Int),
            ("-", Value::Decimal(number)) => Some(Value::Decimal(-number)),
            ("+", value @ (Value::Int(_) | Value::UInt(_) | Value::Decimal(_))) => Some(value),
            ("NOT" | "!", value) => Some(self.boolean(truth(&value)?.map(|yes| !yes))),
            _ => None,
        }
    }

    fn binary(&self, op: &BinaryOp, left: &Value, right: &Value) -> Option<Value> {
        let ordered = |fits: fn(Ordering) -> bool| -> Option<Value> {
            if left.is_null() || right.is_null() {
                return Some(Value::Null);
            }
            Some(self.boolean(Some(fits(self.compare(left, right)?))))
        };
        match op {
            BinaryOp::And | BinaryOp::Or => {
                let decides = *op == BinaryOp::Or;
                let (left, right) = (truth(left)?, truth(right)?);
                Some(self.boolean(match (left, right) {
                    (Some(one), _) | (_, Some(one)) if one == decides => Some(decides),
                    (Some(_), Some(_)) => Some(!decides),
                    _ => None,
                }))
            }
            BinaryOp::Equal => Some(self.boolean(self.equal(left, right)?)),
            BinaryOp::NotEqual => Some(self.boolean(self.equal(left, right)?.map(|same| !same))),
            BinaryOp::NullSafeEqual => {
                let nulls = (left.is_null(), right.is_null());
                let same = if nulls == (false, false) {
                    self.equal(left, right)? == Some(true)
                } else {
                    nulls.0 == nulls.1
                };
                Some(self.boolean(Some(same)))
            }
            BinaryOp::Less => ordered(Ordering::is_lt),
            BinaryOp::LessOrEqual => ordered(Ordering::is_le),
            BinaryOp::Greater => ordered(Ordering::is_gt),
            BinaryOp::GreaterOrEqual => ordered(Ordering::is_ge),
            BinaryOp::Plus => counted(left, right, i64::checked_add),
            BinaryOp::Minus => counted(left, right, i64::checked_sub),
            BinaryOp::Multiply => counted(left, right, i64::checked_mul),
            BinaryOp::Other(sign) if sign == "||" && !self.source.names_by_text() => {
                match (left, right) {
                    (Value::Null, _) | (_, Value::Null) => Some(Value::Null),
                    (left, right) => self.concat(&[left.clone(), right.clone()]),
                }
            }
            BinaryOp::Xor | BinaryOp::Divide | BinaryOp::Modulo | BinaryOp::Other(_) => None,
        }
    }

    /// A condition's value: numbers where the language has no booleans of its own.
    fn boolean(&self, value: Option<bool>) -> Value {
        match value {
            None => Value::Null,
            Some(yes) if self.source.names_by_text() => Value::Int(i64::from(yes)),
            Some(yes) => Value::Bool(yes),
        }
    }

    fn equal(&self, left: &Value, right: &Value) -> Option<Option<bool>> {
        if left.is_null() || right.is_null() {
            return Some(None);
        }
        self.compare(left, right).map(|order| Some(order == Ordering::Equal))
    }

    fn compare(&self, left: &Value, right: &Value) -> Option<Ordering> {
        match (left, right) {
            (Value::Text(_), Value::Text(_)) | (Value::Bool(_), Value::Bool(_)) => {
                Some(order(Some(left), Some(right), self.sorting()))
            }
            (left, right) => Some(number(left)?.cmp(&number(right)?)),
        }
    }

    fn like(&self, text: &str, pattern: &str) -> bool {
        let fold = |text: &str| -> Vec<char> {
            match self.source.names_by_text() {
                true => text.to_lowercase().chars().collect(),
                false => text.chars().collect(),
            }
        };
        matches(&fold(text), &fold(pattern))
    }
}

fn counted(left: &Value, right: &Value, of: fn(i64, i64) -> Option<i64>) -> Option<Value> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => Some(Value::Null),
        (Value::Int(left), Value::Int(right)) => of(*left, *right).map(Value::Int),
        _ => None,
    }
}

/// Bytes a value takes, roughly.
pub(super) fn weight(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len() + 32,
        Value::Bytes(bytes) => bytes.len() + 32,
        Value::Decimal(number) => usize::try_from(number.digits() / 2).unwrap_or(usize::MAX),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::Float(_) => 32,
    }
}

/// Whether a value is true; inner `None` for NULL.
pub(super) fn truth(value: &Value) -> Option<Option<bool>> {
    match value {
        Value::Null => Some(None),
        Value::Bool(yes) => Some(Some(*yes)),
        Value::Int(number) => Some(Some(*number != 0)),
        Value::UInt(number) => Some(Some(*number != 0)),
        Value::Float(_) | Value::Decimal(_) | Value::Text(_) | Value::Bytes(_) => None,
    }
}

/// How values of one column are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sorting {
    /// Without regard to case, and with NULL first.
    Loose,
    /// By bytes, and with NULL last.
    Exact,
}

/// The order of two values of one column.
pub(super) fn order(left: Option<&Value>, right: Option<&Value>, sorting: Sorting) -> Ordering {
    let loose = sorting == Sorting::Loose;
    let is_null = |value: Option<&Value>| value.is_none_or(Value::is_null);
    match (is_null(left), is_null(right)) {
        (true, true) => return Ordering::Equal,
        (true, false) => return if loose { Ordering::Less } else { Ordering::Greater },
        (false, true) => return if loose { Ordering::Greater } else { Ordering::Less },
        (false, false) => {}
    }
    match (left, right) {
        (Some(Value::Text(left)), Some(Value::Text(right))) if loose => {
            left.to_lowercase().cmp(&right.to_lowercase())
        }
        (Some(Value::Text(left)), Some(Value::Text(right))) => left.cmp(right),
        (Some(Value::Bool(left)), Some(Value::Bool(right))) => left.cmp(right),
        (Some(left), Some(right)) => number(left).cmp(&number(right)),
        _ => Ordering::Equal,
    }
}

/// A whole number, also out of a text.
fn number(value: &Value) -> Option<i128> {
    match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::UInt(number) => Some(i128::from(*number)),
        Value::Text(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Float(_) | Value::Decimal(_) | Value::Bytes(_) => {
            None
        }
    }
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Int(number) => Some(number.to_string()),
        Value::UInt(number) => Some(number.to_string()),
        Value::Bool(yes) => Some(if *yes { "true" } else { "false" }.to_owned()),
        Value::Decimal(number) => Some(number.to_plain_string()),
        Value::Null | Value::Float(_) | Value::Bytes(_) => None,
    }
}

/// How long a text of type CHAR is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharLength {
    /// As long as the type says, which is one unless told, with blanks up to it.
    Fixed,
    /// As long as it is.
    Any,
}

/// A cast that no two servers do differently.
fn cast(value: Value, to: &str, of_char: CharLength) -> Option<Value> {
    let (name, length) = to
        .rsplit('.')
        .next()?
        .split_once('(')
        .map_or((to, None), |(name, rest)| (name, Some(rest)));
    let longest = match length {
        None => usize::MAX,
        Some(rest) => rest.trim_end_matches(')').trim().parse().ok()?,
    };
    match (name.rsplit('.').next()?.trim(), value) {
        (_, Value::Null) => Some(Value::Null),
        ("char" | "character" | "nchar", _) if of_char == CharLength::Fixed => None,
        ("text" | "varchar" | "character varying" | "char" | "character" | "nchar", value) => {
            plain(&value).filter(|text| text.chars().count() <= longest).map(Value::Text)
        }
        ("int" | "integer" | "int4" | "int8" | "bigint" | "signed" | "oid", value)
            if length.is_none() =>
        {
            i64::try_from(number(&value)?).ok().map(Value::Int)
        }
        ("bool" | "boolean", value @ Value::Bool(_)) => Some(value),
        ("bool" | "boolean", Value::Text(text)) => match text.to_ascii_lowercase().as_str() {
            "t" | "true" | "on" | "yes" | "1" => Some(Value::Bool(true)),
            "f" | "false" | "off" | "no" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        _ => None,
    }
}

/// LIKE: `%` is any characters, `_` one, a backslash takes the next as it is. Steps back to the last `%` alone, so the time is the product of the lengths
/// at most.
pub(crate) fn matches(text: &[char], pattern: &[char]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut last: Option<(usize, usize)> = None;
    while at < text.len() {
        let fits = match pattern.get(from) {
            Some('%') => {
                last = Some((from + 1, at));
                from += 1;
                continue;
            }
            Some('_') => Some(from + 1),
            Some('\\') if pattern.get(from + 1) == text.get(at) => Some(from + 2),
            Some('\\') if from + 1 < pattern.len() => None,
            Some(letter) => (*letter == text[at]).then_some(from + 1),
            None => None,
        };
        match (fits, last) {
            (Some(next), _) => {
                from = next;
                at += 1;
            }
            (None, Some((back, start))) => {
                from = back;
                at = start + 1;
                last = Some((back, start + 1));
            }
            (None, None) => return false,
        }
    }
    pattern.get(from..).is_none_or(|rest| rest.iter().all(|letter| *letter == '%'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_sql() {
        for (text, pattern, expected) in [
            ("abc", "abc", true),
            ("abc", "a%", true),
            ("abc", "%c", true),
            ("abc", "a_c", true),
            ("abc", "a_", false),
            ("", "%", true),
            ("", "", true),
            ("", "_", false),
            ("aXbXc", "a%X%c", true),
            ("mississippi", "%iss%ip%", true),
            ("mississippi", "%iss%ix%", false),
            ("a%c", "a\\%c", true),
            ("abc", "a\\%c", false),
            ("a\\", "a\\", true),
            ("ab", "a%%%%b", true),
        ] {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(matches(&chars(text), &chars(pattern)), expected, "{text} LIKE {pattern}");
        }
    }

    #[test]
    fn a_long_pattern_takes_no_longer_than_its_product() {
        let text = vec!['a'; 2_000];
        let mut pattern = ['%', 'a'].repeat(500);
        pattern.push('b');
        assert!(!matches(&text, &pattern));
    }

    #[test]
    fn null_is_neither_true_nor_false() {
        assert_eq!(truth(&Value::Null), Some(None));
        assert_eq!(truth(&Value::Int(2)), Some(Some(true)));
        assert_eq!(truth(&Value::Text("x".into())), None);
        assert_eq!(order(None, Some(&Value::Int(1)), Sorting::Loose), Ordering::Less);
        assert_eq!(order(None, Some(&Value::Int(1)), Sorting::Exact), Ordering::Greater);
    }

    #[test]
    fn casts_are_those_that_cannot_go_wrong() {
        let text = |text: &str| Value::Text(text.into());
        for (value, to, pads, expected) in [
            (Value::Int(5), "varchar(9)", true, Some(text("5"))),
            (text("12345"), "varchar(4)", true, None),
            (text("x"), "char(60)", false, Some(text("x"))),
            (text("x"), "char(60)", true, None),
            (text("xy"), "char", true, None),
            (text(" 7 "), "pg_catalog.int4", true, Some(Value::Int(7))),
            (text("off"), "boolean", true, Some(Value::Bool(false))),
            (Value::Null, "regclass", true, Some(Value::Null)),
            (text("t"), "regclass", true, None),
            (text("x"), "int", false, None),
        ] {
            let length = if pads { CharLength::Fixed } else { CharLength::Any };
            assert_eq!(cast(value.clone(), to, length), expected, "{value:?} as {to}");
        }
    }
}
