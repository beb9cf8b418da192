//! Sharding algorithms: `tests/algorithm.case`, and what must hold for every value.

mod common;

use std::ops::Bound;
use std::sync::Arc;

use pando_kernel::{Error, ErrorKind, Value};
use pando_sharding::algorithm::{Algorithm, Complex, Hint, Selection, Standard, Targets, build};
use pando_sharding::auto_table_nodes;
use proptest::prelude::*;

type Outcome<T> = Result<T, String>;

/// One block of the case file.
#[derive(Default)]
struct Block {
    kind: String,
    props: Vec<(String, String)>,
    targets: Targets,
    column: String,
    columns: Vec<String>,
    is_hint: bool,
}

enum Router {
    Standard(Arc<dyn Standard>),
    Complex(Arc<dyn Complex>),
    Hint(Arc<dyn Hint>),
}

fn algorithm(kind: &str, props: &[(String, String)]) -> Outcome<Arc<dyn Algorithm>> {
    let pairs = props.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    build(&pando_config::Algorithm::nowhere(kind, pairs), &pando_kernel::NoModules)
        .map_err(|problem| problem.to_string())
}

fn targets(text: &str) -> Targets {
    let names = pando_inline::expand(text).unwrap_or_default();
    Targets::new(names.into_iter().map(Arc::from))
}

impl Block {
    fn read(&mut self, line: &str) {
        if let Some(kind) = line.strip_prefix("type ") {
            self.kind = kind.to_owned();
        } else if let Some(text) = line.strip_prefix("targets ") {
            self.targets = targets(text);
        } else if let Some(column) = line.strip_prefix("column ") {
            self.column = column.to_owned();
        } else if let Some(columns) = line.strip_prefix("columns ") {
            self.columns = columns.split(',').map(str::to_owned).collect();
        } else if line == "hint" {
            self.is_hint = true;
        } else if let Some((key, value)) = line.split_once('=') {
            self.props.push((key.to_owned(), value.to_owned()));
        }
    }

    fn router(&self) -> Outcome<Router> {
        let algorithm = algorithm(&self.kind, &self.props)?;
        if self.is_hint {
            return algorithm.hint(&self.targets).map(Router::Hint);
        }
        if !self.columns.is_empty() {
            return algorithm.complex(&self.columns, &self.targets).map(Router::Complex);
        }
        algorithm.standard(&self.column, &self.targets).map(Router::Standard)
    }

    /// What stands behind `=>`.
    fn outcome(&self, router: &Router, question: &str) -> String {
        let chosen = if let Some(text) = question.strip_prefix("= ") {
            let values: Vec<Value> = split(text).iter().filter_map(|v| common::value(v)).collect();
            match router {
                Router::Standard(router) => router.exact(&values[0]).map(Selection::One),
                Router::Hint(router) => router.exact(&values[0]).map(Selection::One),
                Router::Complex(router) => {
                    let values: Vec<&Value> = values.iter().collect();
                    router.exact(&values).map(Selection::One)
                }
            }
        } else if let Router::Standard(router) = router {
            let (low, high) = bounds(question);
            router.range(low.as_ref(), high.as_ref())
        } else {
            return "no range".into();
        };
        match chosen {
            Ok(Selection::All) => "all".into(),
            Ok(chosen) => {
                let name = |position: usize| self.targets.name(position).map(|name| &**name);
                let positions = chosen.positions(self.targets.len());
                positions.into_iter().filter_map(name).collect::<Vec<_>>().join(" ")
            }
            Err(error) => format!("! {}", told(&error)),
        }
    }
}

/// Words, with quoted texts kept whole.
fn split(text: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        quoted ^= c == '\'';
        if c == ' ' && !quoted {
            words.push(String::new());
        } else if let Some(word) = words.last_mut() {
            word.push(c);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// `[ 1 , 2 )`; an end without a value is open.
fn bounds(text: &str) -> (Bound<Value>, Bound<Value>) {
    let (mut low, mut high) = (Bound::Unbounded, Bound::Unbounded);
    let words = split(text);
    let comma = words.iter().position(|word| word == ",").unwrap_or_default();
    for (i, word) in words.iter().enumerate() {
        let Some(value) = common::value(word) else { continue };
        let side = if i < comma { &words[0] } else { &words[words.len() - 1] };
        let bound = match side.as_str() {
            "[" | "]" => Bound::Included(value),
            _ => Bound::Excluded(value),
        };
        *(if i < comma { &mut low } else { &mut high }) = bound;
    }
    (low, high)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "any other outcome fails the test")]
fn told(error: &Error) -> String {
    match error.kind() {
        ErrorKind::ShardingValue { code, message, .. } => format!("{code} {message}"),
        ErrorKind::Refused { reason, .. } => format!("refused {reason}"),
        other => format!("{other:?}"),
    }
}

/// An error of the case names its code and a part of its message; `|` separates outcomes that are both right.
fn agrees(found: &str, expected: &str) -> bool {
    if let Some(expected) = expected.strip_prefix("! ") {
        let (code, part) = expected.split_once(' ').unwrap_or((expected, ""));
        return found.starts_with(&format!("! {code} ")) && found.contains(part);
    }
    expected.split(" | ").any(|one| found == one || (one == "none" && found.is_empty()))
}

#[test]
fn every_algorithm_does_what_the_case_says() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (_, lines) in common::blocks(include_str!("algorithm.case")) {
        let mut block = Block::default();
        let mut router = None;
        for (number, line) in &lines {
            let Some((question, expected)) = line.split_once(" =>") else {
                block.read(line);
                continue;
            };
            let expected = expected.trim();
            seen += 1;
            let found = if let Some(config) = question.strip_prefix("!! ") {
                let (kind, props) = config.split_once(' ').unwrap_or((config, ""));
                let pairs = props.split("; ").filter_map(|pair| pair.split_once('='));
                let pairs: Vec<(String, String)> =
                    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
                algorithm(kind, &pairs).err().unwrap_or_default()
            } else {
                let router = router.get_or_insert_with(|| block.router());
                match router {
                    Ok(router) => block.outcome(router, question),
                    Err(why) => format!("cannot be bound: {why}"),
                }
            };
            if !agrees(&found, expected) {
                wrong.push(format!("{number}: {question} => {found}\n      expected {expected}"));
            }
        }
    }
    assert!(seen > 150, "only {seen} lines were read");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn auto_tables_go_round_the_storage_units() {
    let units = [Arc::from("ds_0"), Arc::from("ds_1"), Arc::from("ds_2")];
    let nodes = auto_table_nodes("t_log", &units, 4);
    let names: Vec<String> =
        nodes.iter().map(|node| format!("{}.{}", node.unit, node.table)).collect();
    assert_eq!(names, ["ds_0.t_log_0", "ds_1.t_log_1", "ds_2.t_log_2", "ds_0.t_log_3"]);
    assert!(auto_table_nodes("t", &[], 4).is_empty());
}

#[test]
fn algorithms_refuse_strategies_they_are_not_for() {
    let targets = targets("t_${0..1}");
    let inline = algorithm("INLINE", &[("algorithm-expression".into(), "t_0".into())]);
    let why = inline.and_then(|a| a.standard("id", &targets).map(|_| ())).expect_err("no column");
    assert_eq!(why, "expression `t_0` does not use the sharding column `id`");
    let modulo = || algorithm("MOD", &[("sharding-count".into(), "2".into())]).expect("valid");
    assert!(modulo().hint(&targets).is_err_and(|why| why.contains("`hint` strategy")));
    assert!(modulo().complex(&[], &targets).is_err_and(|why| why.contains("`complex` strategy")));
}

fn standard(kind: &str, props: &[(&str, &str)], names: &str) -> (Arc<dyn Standard>, usize) {
    let props: Vec<(String, String)> =
        props.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let targets = targets(names);
    let router = algorithm(kind, &props).and_then(|a| a.standard("id", &targets));
    (router.unwrap_or_else(|why| unreachable!("{why}")), targets.len())
}

/// Every way to shard numbers, over its own targets.
fn numeric() -> Vec<(Arc<dyn Standard>, usize)> {
    vec![
        standard("MOD", &[("sharding-count", "7")], "t_${0..6}"),
        standard("HASH_MOD", &[("sharding-count", "7")], "t_${0..6}"),
        standard("INLINE", &[("algorithm-expression", "t_${id % 7}")], "t_${0..6}"),
        standard(
            "VOLUME_RANGE",
            &[("range-lower", "-50"), ("range-upper", "60"), ("sharding-volume", "13")],
            "t_${0..10}",
        ),
        standard("BOUNDARY_RANGE", &[("sharding-ranges", "-5,0,3,40")], "t_${0..4}"),
    ]
}

fn bound(value: i64, kind: u8) -> Bound<Value> {
    match kind {
        0 => Bound::Included(Value::Int(value)),
        1 => Bound::Excluded(Value::Int(value)),
        _ => Bound::Unbounded,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "any other outcome fails the test")]
fn within(value: i64, low: &Bound<Value>, high: &Bound<Value>) -> bool {
    let above = match low {
        Bound::Included(Value::Int(low)) => value >= *low,
        Bound::Excluded(Value::Int(low)) => value > *low,
        _ => true,
    };
    let below = match high {
        Bound::Included(Value::Int(high)) => value <= *high,
        Bound::Excluded(Value::Int(high)) => value < *high,
        _ => true,
    };
    above && below
}

proptest! {
    #[test]
    fn a_range_has_the_targets_of_every_value_in_it(
        (a, b) in (-90_i64..90, -90_i64..90),
        kinds in (0_u8..3, 0_u8..3),
    ) {
        let (low, high) = (bound(a, kinds.0), bound(b, kinds.1));
        for (router, _) in numeric() {
            let range = router.range(low.as_ref(), high.as_ref()).expect("numbers");
            for value in (-100..100).filter(|value| within(*value, &low, &high)) {
                let target = router.exact(&Value::Int(value)).expect("a number");
                prop_assert!(range.contains(target), "{value} in {low:?} {high:?}: {router:?}");
            }
        }
    }

    #[test]
    fn every_number_has_a_target_that_its_other_types_have_too(value in any::<i64>()) {
        for (router, count) in numeric() {
            let target = router.exact(&Value::Int(value)).expect("a number");
            prop_assert!(target < count);
            let others = [Value::Text(value.to_string()), Value::Decimal(value.into())];
            for other in &others {
                prop_assert_eq!(router.exact(other).expect("a number"), target);
            }
        }
    }

    #[test]
    fn any_text_has_a_target_or_an_error(text in ".{0,20}") {
        for (router, count) in numeric() {
            if let Ok(target) = router.exact(&Value::Text(text.clone())) {
                prop_assert!(target < count);
            }
        }
    }

    #[test]
    fn a_range_of_dates_has_the_targets_of_every_date_in_it(
        (first, length) in (0_i64..700, 0_i64..200),
        inside in 0.0..1.0_f64,
        open in any::<bool>(),
    ) {
        let days = |days: i64| -> Value {
            let start = jiff::civil::date(2023, 1, 1).at(0, 0, 0, 0);
            let moment = start.checked_add(jiff::SignedDuration::from_hours(days * 24));
            let moment = moment.unwrap_or(start);
            Value::Text(moment.strftime("%Y-%m-%d %H:%M:%S").to_string())
        };
        let monthly = [
            ("datetime-pattern", "yyyy-MM-dd HH:mm:ss"),
            ("datetime-lower", "2023-01-01 00:00:00"),
            ("sharding-suffix-pattern", "yyyyMM"),
            ("datetime-interval-unit", "MONTHS"),
        ];
        let auto = [
            ("datetime-lower", "2023-02-01 00:00:00"),
            ("datetime-upper", "2025-01-01 00:00:00"),
            ("sharding-seconds", "864000"),
        ];
        let months = "t_${2023..2025}${(1..12).collect{ it.toString().padLeft(2, '0') }}";
        let routers =
            [standard("INTERVAL", &monthly, months), standard("AUTO_INTERVAL", &auto, "t_${0..71}")];
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a few days")]
        let day = first + (inside * length as f64) as i64;
        let end = if open { days(first + length + 1) } else { days(first + length) };
        for (router, _) in routers {
            let high = if open { Bound::Excluded(&end) } else { Bound::Included(&end) };
            let range = router.range(Bound::Included(&days(first)), high).expect("dates");
            let target = router.exact(&days(day)).expect("a date");
            prop_assert!(range.contains(target));
        }
    }
}
