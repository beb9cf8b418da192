//! Functions that the other vendors' questions about the catalogue call.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};

use super::types::Key;
use super::{settings, types};
use crate::arguments::{argument, failed, integer_argument};

type Function = fn(&Context<'_>) -> Result<Value>;

/// Of our own: what stands in the expressions.
const OWN: &[(&str, i32, Function)] = &[
    ("pando_oid", 2, |ctx| {
        let declared = argument(ctx, 0)?.unwrap_or_default();
        Ok(Value::Integer(types::oid(&declared, key(ctx, 1)?)))
    }),
    ("pando_modifier", 1, |ctx| text(ctx, |declared| Value::Integer(types::modifier(declared)))),
    ("pando_length", 1, |ctx| whole(ctx, |oid| Value::Integer(types::length(oid)))),
    ("pando_collation", 1, |ctx| {
        whole(ctx, |oid| Value::Integer(if types::is_text(oid) { 100 } else { 0 }))
    }),
    ("pando_type_name", 1, |ctx| whole(ctx, |oid| maybe_text(types::type_name(oid)))),
    ("pando_types", 0, |_| Ok(Value::Text(types::types()))),
    ("pando_action", 1, |ctx| text(ctx, |action| Value::Text(action_letter(action).to_owned()))),
    ("pando_ident", 1, |ctx| text(ctx, |name| Value::Text(identifier(name)))),
    ("pando_tick", 1, |ctx| {
        text(ctx, |name| Value::Text(format!("`{}`", name.replace('`', "``"))))
    }),
    ("pando_predicate", 1, |ctx| text(ctx, |sql| behind(sql, " WHERE "))),
    ("pando_query", 1, |ctx| text(ctx, |sql| behind(sql, " AS "))),
    ("pando_default", 1, |ctx| text(ctx, |text| Value::Text(unquoted(text)))),
    ("pando_part", 4, part),
    ("pando_known", 2, known),
    ("pando_mysql", 2, |ctx| {
        let declared = argument(ctx, 0)?.unwrap_or_default();
        Ok(Value::Text(types::mysql(&declared, key(ctx, 1)?)))
    }),
    ("pando_base", 1, |ctx| text(ctx, |text| Value::Text(types::base(text).to_owned()))),
    ("pando_is_text", 1, |ctx| text(ctx, |text| Value::Integer(types::is_mysql_text(text).into()))),
    ("pando_digits", 1, |ctx| text(ctx, |text| maybe(types::digits(text)))),
    ("pando_fraction", 1, |ctx| text(ctx, |text| maybe(types::fraction(text)))),
    ("pando_characters", 1, |ctx| {
        text(ctx, |declared| {
            let texts = matches!(types::oid(declared, Key::Other), 1042 | 1043);
            maybe(types::declared_number(declared, 0).filter(|_| texts))
        })
    }),
    ("pando_precision", 2, |ctx| {
        let declared = argument(ctx, 1)?.unwrap_or_default();
        whole(ctx, |oid| {
            let exact = types::declared_number(&declared, 0).filter(|_| oid == 1700);
            maybe(types::bits(oid).or(exact))
        })
    }),
    ("pando_radix", 1, |ctx| {
        whole(ctx, |oid| maybe(types::bits(oid).map(|_| 2).or((oid == 1700).then_some(10))))
    }),
    ("pando_scale", 2, |ctx| {
        let declared = argument(ctx, 1)?.unwrap_or_default();
        whole(ctx, |oid| match oid {
            20 | 21 | 23 => Value::Integer(0),
            1700 => maybe(types::declared_number(&declared, 1)),
            _ => Value::Null,
        })
    }),
    ("pando_relation", 1, |ctx| text(ctx, |name| Value::Text(relation(name)))),
    ("pando_class", 1, |ctx| {
        text(ctx, |name| maybe(types::class(name).or_else(|| name.trim().parse().ok())))
    }),
    ("pando_class_name", 1, |ctx| {
        text(ctx, |text| {
            let known = text.parse().ok().and_then(types::class_name);
            Value::Text(known.unwrap_or(text).to_owned())
        })
    }),
    ("pando_to_type", 1, |ctx| text(ctx, |name| maybe(types::to_type(name)))),
    ("pando_namespace", 1, |ctx| {
        whole(ctx, |oid| {
            maybe_text(match oid {
                11 => Some("pg_catalog"),
                2200 => Some("public"),
                13000 => Some("information_schema"),
                _ => None,
            })
        })
    }),
    ("pando_number", 1, |ctx| text(ctx, |text| maybe(text.trim().parse().ok()))),
];

/// PostgreSQL's own, where the answer does not depend on rows.
/// <https://www.postgresql.org/docs/15/functions-info.html>
const POSTGRES: &[(&str, i32, Function)] = &[
    ("format_type", 2, |ctx| {
        let modifier = integer_argument(ctx, 1)?;
        whole(ctx, |oid| Value::Text(types::format_type(oid, modifier)))
    }),
    ("pg_encoding_to_char", 1, |_| Ok(Value::Text("UTF8".to_owned()))),
    ("pg_char_to_encoding", 1, |_| Ok(Value::Integer(6))),
    ("getdatabaseencoding", 0, |_| Ok(Value::Text("UTF8".to_owned()))),
    ("pg_client_encoding", 0, |_| Ok(Value::Text("UTF8".to_owned()))),
    ("current_schema", 0, |_| Ok(Value::Text("public".to_owned()))),
    ("current_schemas", 1, |ctx| {
        let all = integer_argument(ctx, 0)? == Some(1);
        Ok(Value::Text(if all { "{pg_catalog,public}" } else { "{public}" }.to_owned()))
    }),
    ("current_setting", -1, |ctx| {
        let name = argument(ctx, 0)?.unwrap_or_default();
        let missing = ctx.len() > 1 && integer_argument(ctx, 1)? == Some(1);
        match settings::setting(&name) {
            Some((_, value)) => Ok(Value::Text(value.to_owned())),
            None if missing => Ok(Value::Null),
            None => Err(failed(format!("unrecognized configuration parameter \"{name}\""))),
        }
    }),
    ("pg_get_expr", -1, |ctx| text(ctx, |text| Value::Text(text.to_owned()))),
    ("quote_ident", 1, |ctx| text(ctx, |name| Value::Text(identifier(name)))),
    ("pg_is_in_recovery", 0, |_| Ok(Value::Integer(0))),
    ("pg_my_temp_schema", 0, |_| Ok(Value::Integer(0))),
    ("pg_size_pretty", 1, |ctx| whole(ctx, |bytes| Value::Text(format!("{bytes} bytes")))),
    ("pg_relation_is_publishable", 1, |_| Ok(Value::Integer(0))),
    ("pg_is_other_temp_schema", 1, |_| Ok(Value::Integer(0))),
];

/// Those that are true of everything that is shown.
const TRUE: &[&str] = &[
    "has_any_column_privilege",
    "has_column_privilege",
    "has_database_privilege",
    "has_function_privilege",
    "has_schema_privilege",
    "has_sequence_privilege",
    "has_table_privilege",
    "has_tablespace_privilege",
    "pg_collation_is_visible",
    "pg_function_is_visible",
    "pg_opclass_is_visible",
    "pg_table_is_visible",
    "pg_type_is_visible",
];

/// Those about things that SQLite has none of, or does not count.
const NOTHING: &[&str] = &[
    "col_description",
    "obj_description",
    "pg_database_size",
    "pg_get_function_arguments",
    "pg_get_function_identity_arguments",
    "pg_get_function_result",
    "pg_get_functiondef",
    "pg_get_partkeydef",
    "pg_get_ruledef",
    "pg_get_serial_sequence",
    "pg_get_statisticsobjdef_columns",
    "pg_get_triggerdef",
    "pg_indexes_size",
    "pg_partition_ancestors",
    "pg_relation_size",
    "pg_table_size",
    "pg_tablespace_location",
    "pg_total_relation_size",
    "shobj_description",
];

/// Makes the functions known to a connection.
pub(crate) fn register(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    for (name, arguments, function) in OWN.iter().chain(POSTGRES) {
        connection.create_scalar_function(*name, *arguments, flags, *function)?;
    }
    for name in TRUE {
        connection.create_scalar_function(*name, -1, flags, |_| Ok(1))?;
    }
    for name in NOTHING {
        connection.create_scalar_function(*name, -1, flags, |_| Ok(Value::Null))?;
    }
    Ok(())
}

fn key(ctx: &Context<'_>, at: usize) -> Result<Key> {
    Ok(if integer_argument(ctx, at)? == Some(1) { Key::Row } else { Key::Other })
}

fn text(ctx: &Context<'_>, work: impl FnOnce(&str) -> Value) -> Result<Value> {
    Ok(argument(ctx, 0)?.map_or(Value::Null, |text| work(&text)))
}

fn whole(ctx: &Context<'_>, work: impl FnOnce(i64) -> Value) -> Result<Value> {
    Ok(integer_argument(ctx, 0)?.map_or(Value::Null, work))
}

fn maybe(number: Option<i64>) -> Value {
    number.map_or(Value::Null, Value::Integer)
}

fn maybe_text(text: Option<&str>) -> Value {
    text.map_or(Value::Null, |text| Value::Text(text.to_owned()))
}

/// A referential action as `pg_constraint` has it.
fn action_letter(action: &str) -> &'static str {
    match action {
        "CASCADE" => "c",
        "RESTRICT" => "r",
        "SET NULL" => "n",
        "SET DEFAULT" => "d",
        _ => "a",
    }
}

/// Quoted only where it must be.
fn identifier(name: &str) -> String {
    let first = name.chars().next().is_some_and(|c| c.is_ascii_lowercase() || c == '_');
    let rest = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if first && rest { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// What stands behind the first of these words.
fn behind(sql: &str, words: &str) -> Value {
    let upper: String =
        sql.chars().map(|c| if c.is_whitespace() { ' ' } else { c.to_ascii_uppercase() }).collect();
    // Upper-casing ASCII and one space for another of one byte keep places; other white space is left alone by SQLite's own text.
    let place = upper.find(words).map(|at| at + words.len());
    place
        .and_then(|at| sql.get(at..))
        .map_or(Value::Null, |rest| Value::Text(rest.trim().to_owned()))
}

/// A default as MySQL tells it: strings without their quotes.
fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    inner.map_or_else(|| text.to_owned(), |inner| inner.replace("''", "'"))
}

/// The relation a text names: without schema and quotes.
fn relation(name: &str) -> String {
    let bare = name.strip_prefix("public.").unwrap_or(name);
    let inner = bare.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.map_or_else(|| bare.to_lowercase(), |inner| inner.replace("\"\"", "\""))
}

/// An index's name without the actual table's in it: `pando_part(name, actual table, logic table, new beginning)`.
fn part(ctx: &Context<'_>) -> Result<Value> {
    let (Some(name), Some(actual), Some(logic)) =
        (argument(ctx, 0)?, argument(ctx, 1)?, argument(ctx, 2)?)
    else {
        return Ok(Value::Null);
    };
    let ending = name.strip_suffix(&actual).and_then(|rest| rest.strip_suffix('_'));
    if let Some(rest) = ending.filter(|rest| !rest.is_empty() && actual != logic) {
        return Ok(Value::Text(rest.to_owned()));
    }
    let beginning = name.strip_prefix(&actual).and_then(|rest| rest.strip_prefix('_'));
    Ok(Value::Text(match beginning {
        Some(rest) => format!("{}{rest}", argument(ctx, 3)?.unwrap_or_default()),
        None => name,
    }))
}

/// The first argument; where it is NULL, the table that the second one names does not exist.
fn known(ctx: &Context<'_>) -> Result<Value> {
    match ctx.get_raw(0) {
        ValueRef::Null => {
            Err(failed(format!("no such table: {}", argument(ctx, 1)?.unwrap_or_default())))
        }
        ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => {
            Ok(argument(ctx, 0)?.map_or(Value::Null, Value::Text))
        }
    }
}
