//! PostgreSQL's DO. What a block does cannot be told in general; but ORMs define types in it, so that one that is there already is no error.
//!
//! A block goes to every storage unit when each statement in it is a definition that would go to every unit by itself. All else is refused: changes of
//! rows, queries, calls, EXECUTE and variables, and conditions that may hold on one unit and not on another. But a
//! block that names single tables of one unit alone runs there, whatever it does with them.
//! <https://www.postgresql.org/docs/current/sql-do.html>

mod at_one;
mod condition;
mod reader;
mod tables;

use pando_kernel::UnitName;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::{Need, Route};
use pando_sql::ast::{Define, Kind, Literal, ObjectKind, Statement};
use pando_sql::{TokenKind, literal, tokenize};

use self::reader::{Reader, Step};
use self::tables::Tables;
use crate::plan::{leftovers, parse, route};

/// What became of a statement that no room has claimed.
pub(in crate::plan) enum Block {
    /// It is no block, or there are no two units on which it could do different things.
    Other,
    /// It does the same on every storage unit.
    Alike,
    /// It is about what stands on this storage unit.
    At(UnitName),
    /// Something must be found out first.
    Needs(Need),
}

/// Reads a DO block.
///
/// # Errors
/// `Refused` when it is not known to do the same on every storage unit.
pub(in crate::plan) fn block(ctx: &Context<'_>, stmt: &Statement) -> Result<Block> {
    let is_block = matches!(&stmt.kind, Kind::Utility { verb, .. } if verb == "DO");
    // Elsewhere DO is a list of expressions.
    if !is_block || !ctx.dialect.syntax().dollar_strings || ctx.database.units.len() < 2 {
        return Ok(Block::Other);
    }
    let body = body(ctx, &stmt.text).ok_or_else(refused)?;
    let Some(tables) = Tables::of(ctx) else { return Ok(Block::Needs(Need::Tables)) };
    match alike(ctx, &body, &tables) {
        Err(refusal) => at_one::unit(ctx, &body, &tables).map(Block::At).ok_or(refusal),
        alike => alike,
    }
}

/// Whether a block does the same on every storage unit.
fn alike(ctx: &Context<'_>, body: &str, tables: &Tables) -> Result<Block> {
    let steps = Reader::steps(body, ctx.dialect.syntax()).ok_or_else(refused)?;
    for step in steps {
        match step {
            Step::Sql(text) => {
                if let Some(need) = definition(ctx, text, tables)? {
                    return Ok(Block::Needs(need));
                }
            }
            Step::If(text) if condition::is_alike(ctx, text, tables) => {}
            Step::If(_) => return Err(refused()),
        }
    }
    Ok(Block::Alike)
}

fn refused() -> Error {
    Error::unsupported(
        30001,
        "a DO block that does more than define what each storage unit has alike, or than what is read of single tables of one, cannot be spread over storage units",
        "send its statements by themselves, or name a storage unit with the hint `/* SHARDINGSPHERE_HINT: DATA_SOURCE_NAME=… */`",
    )
}

/// The block's text, when it is written in the language that is read here.
fn body(ctx: &Context<'_>, text: &str) -> Option<String> {
    let syntax = ctx.dialect.syntax();
    let tokens = tokenize(text, syntax).ok()?.list;
    let (_, rest) = tokens.split_first()?;
    let word = |at: usize| rest.get(at).map(|token| token.span.of(text).to_ascii_lowercase());
    let is = |at: usize, expected: &str| word(at).is_some_and(|word| word == expected);
    let is_ours =
        |at: usize| is(at, "language") && (is(at + 1, "plpgsql") || is(at + 1, "'plpgsql'"));
    let code = match rest.len() {
        1 => rest.first(),
        3 if is_ours(0) => rest.last(),
        3 if is_ours(1) => rest.first(),
        _ => None,
    }?;
    let is_plain =
        matches!(code.kind, TokenKind::String | TokenKind::EscapeString | TokenKind::DollarString);
    let Some(Literal::Text(body)) = literal(text, code, syntax) else { return None };
    is_plain.then_some(body)
}

/// Checks that a statement is a definition that no room claims, and so goes to every unit. What must be known first, if something.
fn definition(ctx: &Context<'_>, text: &str, tables: &Tables) -> Result<Option<Need>> {
    let stmt = parse::parsed(ctx, text).map_err(|_| refused())?;
    let is_alike = |define: &Define| match define.object {
        ObjectKind::Schema | ObjectKind::Routine | ObjectKind::User | ObjectKind::Other => true,
        // Each unit would count by itself.
        ObjectKind::Sequence
        // These belong to a table or are one; where that is not known here, the units may differ in it.
        | ObjectKind::Table
        | ObjectKind::Index
        | ObjectKind::View
        | ObjectKind::Trigger
        | ObjectKind::Database => false,
    };
    let is_alike = |define: &Define| is_alike(define) && !names_table(ctx, text, tables);
    if !matches!(&stmt.kind, Kind::Define(define) if is_alike(define)) {
        return Err(refused());
    }
    leftovers::check(ctx, &stmt).map_err(|_| refused())?;
    match route::routed(ctx, &stmt).map_err(|_| refused())? {
        Route::Unclaimed => Ok(None),
        Route::Needs(need) => Ok(Some(need)),
        Route::Units(_) => Err(refused()),
    }
}

/// Whether a definition has the name of a table in it, or makes one beside, as CREATE SCHEMA may.
fn names_table(ctx: &Context<'_>, text: &str, tables: &Tables) -> bool {
    let Ok(tokens) = tokenize(text, ctx.dialect.syntax()) else { return true };
    tokens.list.iter().any(|token| {
        let Some(name) = token.name(text) else {
            return token.kind == TokenKind::UnicodeIdentifier;
        };
        let says = |what: &&str| name.eq_ignore_ascii_case(what);
        let makes = token.kind == TokenKind::Word && ["table", "view"].iter().any(says);
        makes || tables.has(&name)
    })
}
