//! The rule: `tests/rule.case`, from YAML to data nodes.

mod common;

use std::ops::Bound;
use std::sync::Arc;

use pando_config::{File, parse_one};
use pando_kernel::feature::DataNode;
use pando_kernel::{NoModules, Value};
use pando_sharding::{Domain, Means, Part, Rule, Table};
use pando_sql::Fold;

const FILE: &str = "database-test.yaml";

/// The rule of a block's YAML, or its problems without the file's name and lines.
fn rule(yaml: &str, units: &[&str]) -> Result<Rule, Vec<String>> {
    rule_of(yaml, units, Fold::Keep)
}

fn rule_of(yaml: &str, units: &[&str], fold: Fold) -> Result<Rule, Vec<String>> {
    let indented: String = yaml.lines().map(|line| format!("  {line}\n")).collect();
    let text = format!("databaseName: test\nrules:\n- !SHARDING\n{indented}");
    let configuration = parse_one(File { name: FILE, text: &text }, &|_| None)
        .map_err(|errors| errors.problems().iter().map(ToString::to_string).collect::<Vec<_>>())?;
    let sharding = configuration.databases.iter().find_map(|d| d.rules.sharding.as_ref());
    let sharding = sharding.ok_or_else(|| vec!["no rule".to_owned()])?;
    let units: Vec<Arc<str>> = units.iter().map(|unit| Arc::from(*unit)).collect();
    Rule::reading(sharding, &units, Means { fold, modules: &NoModules }).map_err(|problems| {
        let told = problems.iter().map(|problem| {
            let path = problem.at.path().to_string();
            format!("{}: {}", path.trim_start_matches("rules[0].!SHARDING."), problem.message)
        });
        told.collect()
    })
}

/// `1`, `1|2`, `1..5`.
fn domain(text: &str) -> Domain {
    if let Some((low, high)) = text.split_once("..") {
        let bound = |text| common::value(text).map_or(Bound::Unbounded, Bound::Included);
        return Domain::Parts(vec![Part::Range(Box::new([bound(low), bound(high)]))]);
    }
    let values = text.split('|').filter_map(common::value);
    Domain::Parts(values.map(Part::Value).collect())
}

fn shown(nodes: impl IntoIterator<Item = DataNode>) -> String {
    let names: Vec<String> =
        nodes.into_iter().map(|node| format!("{}.{}", node.unit, node.table)).collect();
    names.join(" ")
}

fn routed(rule: &Rule, question: &str, exactly: bool, hints: &[(String, String)]) -> String {
    let (name, conditions) = question.split_once(' ').unwrap_or((question, ""));
    let Some(table) = rule.table(name) else { return "no such table".into() };
    let pairs: Vec<(&str, Domain)> = conditions
        .split(", ")
        .filter_map(|pair| pair.split_once('='))
        .map(|(column, values)| (column, domain(values)))
        .collect();
    let of = |column: &str| {
        let found = pairs.iter().find(|(name, _)| *name == column);
        found.map_or(Domain::Any, |(_, domain)| domain.clone())
    };
    let nodes = if exactly { table.route_exactly(&of, hints) } else { table.route(&of, hints) };
    match nodes {
        Ok(nodes) => shown(nodes.into_iter().filter_map(|node| table.node(node).ok().cloned())),
        Err(error) => format!("! {error}"),
    }
}

fn answer(rule: &Rule, question: &str) -> String {
    let (verb, rest) = question.split_once(' ').unwrap_or((question, ""));
    let words: Vec<&str> = rest.split(' ').collect();
    let table = |i: usize| words.get(i).and_then(|name| rule.table(name));
    match verb {
        "?" => routed(rule, rest, false, &[]),
        "exactly" => routed(rule, rest, true, &[]),
        "hint" => {
            let (hint, question) = rest.split_once("; ").unwrap_or((rest, ""));
            let (key, value) = hint.split_once('=').unwrap_or((hint, ""));
            routed(rule, question, false, &[(key.to_owned(), value.to_owned())])
        }
        "keys" => table(0).map(|table| table.keys().join(" ")).unwrap_or_default(),
        "bound" => match (table(0), table(1)) {
            (Some(a), Some(b)) => rule.are_bound(a, b).to_string(),
            _ => "no such table".into(),
        },
        "counterpart" => match (table(0), table(1)) {
            (Some(own), Some(other)) => {
                let nodes = 0..other.nodes().len();
                shown(nodes.filter_map(|node| own.counterpart(other, node).ok().cloned()))
            }
            _ => "no such table".into(),
        },
        "owner" => rule.by_actual(words[0], words[1]).map_or("none", Table::name).to_owned(),
        other => format!("unknown question `{other}`"),
    }
}

const VERBS: [&str; 7] = ["? ", "exactly ", "hint ", "keys ", "bound ", "counterpart ", "owner "];

#[test]
fn every_rule_does_what_the_case_says() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (name, lines) in common::blocks(include_str!("rule.case")) {
        let mut units: Vec<&str> = Vec::new();
        let (mut yaml, mut problems, mut questions) = (String::new(), Vec::new(), Vec::new());
        for (number, line) in &lines {
            if let Some(names) = line.strip_prefix("units ") {
                units = names.split(' ').collect();
            } else if let Some(problem) = line.strip_prefix("-> ") {
                problems.push(problem.to_owned());
            } else if VERBS.iter().any(|verb| line.starts_with(verb)) {
                questions.push((number, line));
            } else {
                yaml.push_str(line);
                yaml.push('\n');
            }
        }
        seen += problems.len() + questions.len();
        match rule(&yaml, &units) {
            Err(found) if found == problems => {}
            Err(found) => wrong.push(format!("== {name}\n{}", found.join("\n"))),
            Ok(_) if !problems.is_empty() => wrong.push(format!("== {name}: no problem was found")),
            Ok(rule) => {
                for (number, line) in questions {
                    let (question, expected) = line.split_once(" =>").unwrap_or((line, "?"));
                    let found = answer(&rule, question);
                    if found != expected.trim() {
                        wrong.push(format!("{number}: {question} => {found}"));
                    }
                }
            }
        }
    }
    assert!(seen > 50, "only {seen} lines were read");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn ten_thousand_tables_are_routed_one_by_one() {
    let yaml = "tables:\n  t: {actualDataNodes: 'ds_${0..9}.t_${0..999}', \
                databaseStrategy: {standard: {shardingColumn: a, shardingAlgorithmName: d}}, \
                tableStrategy: {standard: {shardingColumn: b, shardingAlgorithmName: t}}}\n\
                shardingAlgorithms:\n  d: {type: INLINE, props: {algorithm-expression: 'ds_${a % 10}'}}\n  \
                t: {type: INLINE, props: {algorithm-expression: 't_${b % 1000}'}}\n";
    let units: Vec<String> = (0..10).map(|i| format!("ds_{i}")).collect();
    let units: Vec<&str> = units.iter().map(String::as_str).collect();
    let rule = rule(yaml, &units).expect("a valid rule");
    let table = rule.table("t").expect("the table");
    assert_eq!(table.nodes().len(), 10_000);
    for i in 0..10_000_i64 {
        let of = |column: &str| Domain::equal(Value::Int(if column == "a" { i / 1000 } else { i }));
        let nodes = table.route(&of, &[]).expect("a route");
        assert_eq!(nodes, [usize::try_from(i).expect("small")]);
    }
}

#[test]
fn generated_keys_come_from_the_named_generator_or_the_default_one() {
    let yaml = "tables:\n  a: {keyGenerateStrategy: {column: id, keyGeneratorName: u}}\n  b: {}\n\
                defaultKeyGenerateStrategy: {column: key}\nkeyGenerators: {u: {type: UUID}}\n";
    let rule = rule(yaml, &["ds"]).expect("a valid rule");
    let generator = |name: &str| {
        rule.table(name).and_then(Table::key_generator).map(|(c, g)| format!("{c} {g:?}"))
    };
    assert_eq!(generator("a").as_deref(), Some("id Uuid"));
    assert!(generator("b").is_some_and(|shown| shown.starts_with("key Snowflake")));
}

#[test]
fn actual_tables_are_called_as_their_storage_units_read_the_names() {
    let yaml = "tables:\n  T_ROLE:\n    actualDataNodes: DS_0.T_ROLE_${0..1}\n    \
                tableStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: i}}\n  \
                t_kept: {actualDataNodes: 'ds_0.\"T_Kept\"'}\n  T_WHOLE: {}\n\
                autoTables:\n  T_LOG: {shardingStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: m}}}\n\
                shardingAlgorithms:\n  i: {type: INLINE, props: {algorithm-expression: 'T_ROLE_${id % 2}'}}\n  \
                m: {type: MOD, props: {sharding-count: 2}}\n";
    let names = |fold: Fold, table: &str| -> Vec<String> {
        let rule = rule_of(yaml, &["ds_0"], fold).expect("a valid rule");
        let table = rule.table(table).expect("a table");
        let row = |_: &str| Domain::equal(Value::Int(1));
        assert_eq!(
            table.route(&row, &[]).expect("a route").last(),
            Some(&(table.nodes().len() - 1))
        );
        table.nodes().iter().map(|node| node.table.to_string()).collect()
    };
    assert_eq!(names(Fold::Lower, "t_role"), ["t_role_0", "t_role_1"]);
    assert_eq!(names(Fold::Lower, "t_kept"), ["T_Kept"]);
    assert_eq!(names(Fold::Lower, "t_whole"), ["t_whole"]);
    assert_eq!(names(Fold::Lower, "t_log"), ["t_log_0", "t_log_1"]);
    assert_eq!(names(Fold::Keep, "t_role"), ["T_ROLE_0", "T_ROLE_1"]);
}
