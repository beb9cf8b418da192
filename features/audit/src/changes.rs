//! Changes that common table expressions make: `WITH d AS (DELETE FROM t RETURNING id) SELECT …`.

use pando_sql::ast::{Cte, InsertSource, Kind, Query, QueryBody};

/// The statement that EXPLAIN ANALYZE runs; else itself.
pub(crate) fn explained(kind: &Kind) -> &Kind {
    if let Kind::Explain { inner, analyze: true, .. } = kind { inner } else { kind }
}

/// The common table expressions of a statement that are no queries, outer ones first.
pub(crate) fn changes(kind: &Kind) -> Vec<&Cte> {
    let mut found = Vec::new();
    of_kind(kind, &mut found);
    found
}

#[expect(clippy::wildcard_enum_match_arm, reason = "no other statement begins with WITH")]
fn of_kind<'a>(kind: &'a Kind, found: &mut Vec<&'a Cte>) {
    match kind {
        Kind::Select(query) => of_query(query, found),
        Kind::Insert(insert) => {
            of_ctes(&insert.with, found);
            if let InsertSource::Query(query) = &insert.source {
                of_query(query, found);
            }
        }
        Kind::Update(update) => of_ctes(&update.with, found),
        Kind::Delete(delete) => of_ctes(&delete.with, found),
        Kind::Copy(copy) => copy.query.iter().for_each(|query| of_query(query, found)),
        Kind::Define(define) => define.query.iter().for_each(|query| of_query(query, found)),
        _ => {}
    }
}

fn of_query<'a>(query: &'a Query, found: &mut Vec<&'a Cte>) {
    of_ctes(&query.with, found);
    if let QueryBody::Set { left, right, .. } = &query.body {
        of_query(left, found);
        of_query(right, found);
    }
}

fn of_ctes<'a>(with: &'a [Cte], found: &mut Vec<&'a Cte>) {
    for part in with {
        if !matches!(*part.body, Kind::Select(_)) {
            found.push(part);
        }
        of_kind(&part.body, found);
    }
}
