//! Variables: the properties of the whole server under names with `_` for `-`.

use pando_config::{Node, suggest};
use pando_distsql::command::{Value, Variables};

use crate::around::Facts;
use crate::refusal::{Kind, Refusal, Result};
use crate::rows::Rows;

/// A property and what it is when nothing sets it.
struct Variable {
    key: &'static str,
    default: &'static str,
    holds: Holds,
}

#[derive(Clone, Copy)]
enum Holds {
    Flag,
    Number,
    Text,
}

const fn variable(key: &'static str, default: &'static str, holds: Holds) -> Variable {
    Variable { key, default, holds }
}

const LASTING: [Variable; 28] = [
    variable("agent-plugins-enabled", "true", Holds::Flag),
    variable("cdc-server-port", "33071", Holds::Number),
    variable("check-table-metadata-enabled", "false", Holds::Flag),
    variable("groovy-inline-expression-parsing-cache-max-size", "1000", Holds::Number),
    variable("health-check-failures", "3", Holds::Number),
    variable("health-check-interval-milliseconds", "2000", Holds::Number),
    variable("health-check-max-replica-lag-milliseconds", "-1", Holds::Number),
    variable("health-check-successes", "2", Holds::Number),
    variable("health-check-timeout-milliseconds", "1000", Holds::Number),
    variable("kernel-executor-size", "0", Holds::Number),
    variable("load-table-metadata-batch-size", "1000", Holds::Number),
    variable("lock-connections-size-per-storage-unit", "64", Holds::Number),
    variable("max-connections-size-per-query", "1", Holds::Number),
    variable("max-union-size-per-datasource", "2147483647", Holds::Number),
    variable("persist-schemas-to-repository-enabled", "true", Holds::Flag),
    variable("proxy-backend-query-fetch-size", "-1", Holds::Number),
    variable("proxy-default-port", "3307", Holds::Number),
    variable("proxy-frontend-connection-idle-timeout", "28800", Holds::Number),
    variable("proxy-frontend-database-protocol-type", "", Holds::Text),
    variable("proxy-frontend-executor-size", "0", Holds::Number),
    variable("proxy-frontend-flush-threshold", "128", Holds::Number),
    variable("proxy-frontend-max-connections", "0", Holds::Number),
    variable("proxy-frontend-ssl-cipher", "", Holds::Text),
    variable("proxy-frontend-ssl-enabled", "false", Holds::Flag),
    variable("proxy-frontend-ssl-version", "TLSv1.2,TLSv1.3", Holds::Text),
    variable("proxy-netty-backlog", "1024", Holds::Number),
    variable("sql-show", "false", Holds::Flag),
    variable("sql-simple", "false", Holds::Flag),
];

const TEMPORARY: [Variable; 4] = [
    variable("instance-connection-enabled", "false", Holds::Flag),
    variable("proxy-meta-data-collector-cron", "0 0/1 * * * ?", Holds::Text),
    variable("proxy-meta-data-collector-enabled", "false", Holds::Flag),
    variable("system-schema-metadata-assembly-enabled", "false", Holds::Flag),
];

fn named(key: &str) -> String {
    key.replace('-', "_")
}

fn find(name: &str) -> Result<&'static Variable> {
    let all = || LASTING.iter().chain(&TEMPORARY);
    let found = all().find(|variable| named(variable.key).eq_ignore_ascii_case(name));
    found.ok_or_else(|| {
        if name.eq_ignore_ascii_case("transaction_type") {
            let message = "variable `transaction_type` belongs to the session; ALTER TRANSACTION RULE changes what sessions start with";
            return Refusal::new(Kind::UnknownVariable, message);
        }
        let names: Vec<String> = all().map(|variable| named(variable.key)).collect();
        let lower = name.to_lowercase();
        let hint = suggest::hint(&lower, names.iter().map(String::as_str));
        Refusal::new(Kind::UnknownVariable, format!("unknown variable `{name}`{hint}"))
    })
}

pub(super) fn set(tree: &mut Node, name: &str, value: &Value) -> Result<()> {
    let variable = find(name)?;
    let text = match value {
        Value::Text(text) | Value::Number(text) => text.clone(),
        Value::Boolean(true) => "true".to_owned(),
        Value::Boolean(false) => "false".to_owned(),
    };
    let is_fit = match variable.holds {
        Holds::Flag => matches!(text.to_ascii_lowercase().as_str(), "true" | "false"),
        Holds::Number => text.parse::<i64>().is_ok(),
        Holds::Text => true,
    };
    if !is_fit {
        let wanted = match variable.holds {
            Holds::Flag => "TRUE or FALSE",
            Holds::Number => "a whole number",
            Holds::Text => "a text",
        };
        let message = format!("variable `{}` takes {wanted}, not `{text}`", named(variable.key));
        return Err(Refusal::new(Kind::InvalidVariable, message));
    }
    let text = match variable.holds {
        Holds::Flag => text.to_ascii_lowercase(),
        Holds::Number | Holds::Text => text,
    };
    tree.change("props", |props| props.set(variable.key, Node::text(text)));
    Ok(())
}

/// The value of a property, as it is configured or by default.
fn value(tree: &Node, variable: &Variable, facts: &Facts<'_>) -> Result<String> {
    let Some(node) = tree.find(&["props", variable.key]) else {
        return Ok(variable.default.to_owned());
    };
    let filled = node.filled(facts.around.environment);
    let filled =
        filled.map_err(|problem| Refusal::new(Kind::InvalidDocument, problem.to_string()))?;
    Ok(filled.as_text().unwrap_or(variable.default).to_owned())
}

pub(super) fn show(tree: &Node, name: &str, facts: &Facts<'_>) -> Result<Rows> {
    let variable = find(name)?;
    let mut rows = Rows::of("SHOW DIST VARIABLE");
    rows.push([&named(variable.key), &value(tree, variable, facts)?]);
    Ok(rows)
}

pub(super) fn show_all(tree: &Node, which: Variables, facts: &Facts<'_>) -> Result<Rows> {
    let mut rows = Rows::of("SHOW DIST VARIABLES");
    let variables: &[Variable] = match which {
        Variables::Lasting => &LASTING,
        Variables::Temporary => &TEMPORARY,
    };
    for variable in variables {
        rows.push([&named(variable.key), &value(tree, variable, facts)?]);
    }
    Ok(rows)
}
