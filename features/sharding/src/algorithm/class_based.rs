//! `CLASS_BASED`: functions of somebody's own module name the targets.
//!
//! A target that a function names and that is not there is an error, as everywhere: no row seems to be gone.

use std::ops::Bound;
use std::sync::Arc;

use pando_config::Problem;
use pando_kernel::module::{Argument, Class, Gives, Own, STRATEGY, Takes, Wanted, misgiven};
use pando_kernel::{Modules, Result, Value};

use super::{Algorithm, Complex, Hint, Selection, Standard, Targets, no_target, not_null, wrong};
use super::{check_bounds, code};
use crate::value;
use pando_inline::number::Number;

const SHARD: Wanted<'_> =
    Wanted { name: "shard", takes: &[Takes::Pairs, Takes::Texts, Takes::Text], gives: Gives::Text };
const RANGE: Wanted<'_> = Wanted {
    name: "shard-range",
    takes: &[Takes::Pairs, Takes::Texts, Takes::Perhaps, Takes::Perhaps],
    gives: Gives::Texts,
};
const ROW: Wanted<'_> = Wanted {
    name: "shard-row",
    takes: &[Takes::Pairs, Takes::Texts, Takes::Pairs],
    gives: Gives::Text,
};
const HINT: Wanted<'_> = Wanted { name: "shard-hint", ..SHARD };

/// The property that says what a function sees of a value.
const SEES: &str = "value-type";

/// What a function sees of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sees {
    /// A number in its one form, also of a text that is one: values that a server calls equal are one text.
    OneForm,
    /// A text as it is written.
    Written,
}

#[derive(Debug)]
enum Functions {
    Standard { exact: Own, range: Option<Own> },
    Complex(Own),
    Hint(Own),
}

#[derive(Debug)]
struct ClassBased {
    functions: Functions,
    sees: Sees,
    identity: String,
}

pub(super) fn build(
    config: &pando_config::Algorithm,
    modules: &dyn Modules,
) -> Result<Arc<dyn Algorithm>, Problem> {
    let class = Class::of(config)?;
    let strategy = config.props.get(STRATEGY).ok_or_else(|| {
        let why = format!("property `{STRATEGY}` of `CLASS_BASED` is required");
        config.kind.at.problem(why)
    })?;
    let functions = match strategy.to_ascii_uppercase().as_str() {
        "STANDARD" => Functions::Standard {
            exact: class.function(&SHARD, modules)?,
            range: class.perhaps(&RANGE, modules)?,
        },
        "COMPLEX" => Functions::Complex(class.function(&ROW, modules)?),
        "HINT" => Functions::Hint(class.function(&HINT, modules)?),
        _ => {
            let why = format!("property `{STRATEGY}`: expected `STANDARD`, `COMPLEX` or `HINT`");
            return Err(strategy.at.problem(why));
        }
    };
    let sees = match config.props.get(SEES) {
        None => Sees::OneForm,
        Some(word) if word.eq_ignore_ascii_case("text") => Sees::Written,
        Some(word) => {
            let why = format!("property `{SEES}`: expected `text`, found `{}`", word.value);
            return Err(word.at.problem(why));
        }
    };
    let identity = class.identity();
    Ok(Arc::new(ClassBased { functions, sees, identity }))
}

impl ClassBased {
    fn unfit(strategy: &str, function: &str) -> String {
        format!(
            "algorithm `CLASS_BASED` has another `strategy` than {strategy}, which needs `{function}`"
        )
    }

    fn chooser(&self, function: &Own, targets: &Targets) -> Chooser {
        Chooser { function: function.clone(), targets: targets.clone(), sees: self.sees }
    }
}

impl Algorithm for ClassBased {
    fn kind(&self) -> &'static str {
        "CLASS_BASED"
    }

    fn standard(&self, _: &str, targets: &Targets) -> Result<Arc<dyn Standard>, String> {
        let Functions::Standard { exact, range } = &self.functions else {
            return Err(Self::unfit("STANDARD", SHARD.name));
        };
        let exact = self.chooser(exact, targets);
        Ok(Arc::new(ByColumn { exact, range: range.clone() }))
    }

    fn complex(&self, columns: &[String], targets: &Targets) -> Result<Arc<dyn Complex>, String> {
        let Functions::Complex(row) = &self.functions else {
            return Err(Self::unfit("COMPLEX", ROW.name));
        };
        let all = (0..columns.len()).collect();
        Ok(Arc::new(ByRow { row: self.chooser(row, targets), names: columns.to_vec(), all }))
    }

    fn hint(&self, targets: &Targets) -> Result<Arc<dyn Hint>, String> {
        let Functions::Hint(hint) = &self.functions else {
            return Err(Self::unfit("HINT", HINT.name));
        };
        Ok(Arc::new(ByHint(self.chooser(hint, targets))))
    }

    /// What a function makes of other names than these is not known: the names' beginning is a part of it.
    fn structure(&self, columns: &[String], prefix: &str) -> String {
        format!("{} {:?} of {} in {prefix}", self.identity, self.sees, columns.join(","))
    }
}

/// A function, and the targets it chooses among.
#[derive(Debug)]
struct Chooser {
    function: Own,
    targets: Targets,
    sees: Sees,
}

impl Chooser {
    fn seen(&self, value: &Value) -> Result<String> {
        let value = not_null(value)?;
        let number = match self.sees {
            Sees::OneForm => value::number(value),
            Sees::Written => None,
        };
        Ok(match number {
            Some(Number::Small(number)) => number.to_string(),
            Some(Number::Big(number)) => number.to_string(),
            Some(Number::Fraction(number)) => number.to_plain_string(),
            None => value::text(value).into_owned(),
        })
    }

    fn one(&self, last: Argument<'_>, value: &Value) -> Result<usize> {
        let names: Vec<&str> = self.targets.names().collect();
        let given = self.function.call(&[Argument::Texts(&names), last])?;
        let name = given.text().ok_or_else(misgiven)?;
        self.targets.find(&name).ok_or_else(|| no_target(&name, value, &self.targets))
    }
}

#[derive(Debug)]
struct ByColumn {
    exact: Chooser,
    range: Option<Own>,
}

impl Standard for ByColumn {
    fn exact(&self, value: &Value) -> Result<usize> {
        self.exact.one(Argument::Text(&self.exact.seen(value)?), value)
    }

    /// Both bounds may be in the range: one target too many is no wrong answer.
    fn range(&self, low: Bound<&Value>, high: Bound<&Value>) -> Result<Selection> {
        check_bounds(low, high)?;
        let Some(range) = &self.range else { return Ok(Selection::All) };
        let seen = |bound: Bound<&Value>| match bound {
            Bound::Included(value) | Bound::Excluded(value) => self.exact.seen(value).map(Some),
            Bound::Unbounded => Ok(None),
        };
        let (low, high) = (seen(low)?, seen(high)?);
        let targets = &self.exact.targets;
        let names: Vec<&str> = targets.names().collect();
        let given = range.call(&[
            Argument::Texts(&names),
            Argument::Perhaps(low.as_deref()),
            Argument::Perhaps(high.as_deref()),
        ])?;
        let mut chosen = Vec::new();
        for name in given.texts().ok_or_else(misgiven)? {
            let Some(position) = targets.find(&name) else {
                let why = format!("a range is routed to `{name}`, which is not among the targets");
                return Err(wrong(code::NO_TARGET, why));
            };
            chosen.push(position);
        }
        chosen.sort_unstable();
        chosen.dedup();
        Ok(Selection::Many(chosen))
    }
}

#[derive(Debug)]
struct ByRow {
    row: Chooser,
    names: Vec<String>,
    all: Vec<usize>,
}

impl Complex for ByRow {
    fn columns(&self) -> &[usize] {
        &self.all
    }

    fn exact(&self, values: &[&Value]) -> Result<usize> {
        let named = self.names.iter().zip(values);
        let row = named.map(|(name, value)| Ok((name.clone(), self.row.seen(value)?)));
        let row = row.collect::<Result<Vec<_>>>()?;
        let first = values.first().copied().unwrap_or(&Value::Null);
        self.row.one(Argument::Pairs(&row), first)
    }
}

#[derive(Debug)]
struct ByHint(Chooser);

impl Hint for ByHint {
    fn exact(&self, value: &Value) -> Result<usize> {
        self.0.one(Argument::Text(&self.0.seen(value)?), value)
    }
}
