//! What of a statement is run a second time elsewhere: decided once it is about to be sent.

use std::sync::Arc;

use pando_kernel::dialect::TransactionVerb;
use pando_kernel::mirror::{Copies, Settings};
use pando_sql::ast::{Kind, Node, Statement};
use pando_sql::{Syntax, TokenKind, tokenize, visit};

use crate::execute::Channel;
use crate::mirror::{Lane, Manner, Seen, Tap, To, Way};
use crate::plan;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Run;

/// Functions that give something else each time, or on each server, or change something there, in lower case. Sorted.
const VARYING: &[&str] = &[
    "age",
    "benchmark",
    "clock_timestamp",
    "connection_id",
    "curdate",
    "current_database",
    "current_query",
    "current_schema",
    "current_setting",
    "curtime",
    "database",
    "found_rows",
    "gen_random_uuid",
    "icu_version",
    "last_insert_id",
    "lastval",
    "load_file",
    "nextval",
    "now",
    "ps_current_thread_id",
    "ps_thread_id",
    "rand",
    "random",
    "random_bytes",
    "random_normal",
    "row_count",
    "schema",
    "session_user",
    "setval",
    "sleep",
    "statement_timestamp",
    "sys_guid",
    "sysdate",
    "system_user",
    "timeofday",
    "transaction_timestamp",
    "unix_timestamp",
    "user",
    "uuid",
    "uuid_short",
    "uuid_v4",
    "uuid_v7",
    "uuidv4",
    "uuidv7",
    "version",
];

/// What names of such functions begin with, too: PostgreSQL's about its server, and what it sends and locks.
const VARYING_BEGIN: [&str; 4] = ["pg_", "txid_", "inet_client_", "inet_server_"];

/// The same that are called without parentheses. Sorted.
const BARE: &[&str] = &[
    "current_catalog",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "localtime",
    "localtimestamp",
    "session_user",
    "utc_date",
    "utc_time",
    "utc_timestamp",
];

/// Has the statement of these channels copied as the rules of their storage units say. Nothing of it has been sent.
pub(in crate::session) fn tap(session: &mut Session, run: Run<'_>, channels: &mut [Channel]) {
    if run.live.mirrors.is_empty() {
        return;
    }
    for channel in channels {
        let ways = ways(session, run, channel.connection.unit());
        if !ways.is_empty() {
            let seen = Seen { is_ordered: is_ordered(run.stmt), writes: run.plan.writes };
            channel.is_tapped(Tap::new(ways, Arc::clone(&run.live.database.dialect), seen));
        }
    }
}

/// Where the statement is copied to from a storage unit.
fn ways(session: &mut Session, run: Run<'_>, unit: &str) -> Vec<Way> {
    let mut ways = Vec::new();
    for (settings, lane) in run.live.mirrors.of_unit(unit) {
        match session.work.is_idle() {
            true => ways.extend(alone(session, run, settings, lane)),
            false => ways.extend(in_transaction(session, run, settings, lane)),
        }
    }
    ways
}

/// Of a statement outside of transactions. Whether it is among those that are copied is asked before all that costs more.
fn alone(session: &Session, run: Run<'_>, settings: &Settings, lane: &Arc<Lane>) -> Option<Way> {
    let is_meant = is_meant(session, run, settings)
        && lane.samples(settings, session.place.handle().key.id)
        && is_about(run.stmt, settings);
    if !is_meant {
        return None;
    }
    if !can_be_copied(session, run) {
        lane.passes_over(1);
        return None;
    }
    let manner = Arc::new(manner(session, run.live));
    Some(Way { lane: Arc::clone(lane), to: To::Lane(manner) })
}

/// Of one inside: it is copied with the others of its transaction, or none is.
fn in_transaction(
    session: &mut Session,
    run: Run<'_>,
    settings: &Settings,
    lane: &Arc<Lane>,
) -> Option<Way> {
    if !is_meant(session, run, settings) {
        return None;
    }
    let is_decided = session.work.gatherings_mut().know(lane);
    let is_sampled = !is_decided && lane.samples(settings, session.place.handle().key.id);
    let made = is_sampled.then(|| manner(session, run.live));
    let variables = session.settings.variables().id();
    let kept = session.work.gatherings_mut().of(lane, settings, || made)?;
    if !is_about(run.stmt, settings) {
        return None;
    }
    let can_be_copied = can_be_copied(session, run);
    let gatherings = session.work.gatherings_mut();
    if !can_be_copied || !gatherings.wears(lane, variables) {
        lane.passes_over(1);
        if run.plan.writes {
            gatherings.forgoes();
        }
        return None;
    }
    Some(Way { lane: Arc::clone(lane), to: To::Transaction(kept) })
}

/// Whether the rule has statements of this kind copied. What a transaction reads behind its own changes is not there
/// where these are not copied.
fn is_meant(session: &Session, run: Run<'_>, settings: &Settings) -> bool {
    match settings.copies {
        Copies::Everything => true,
        Copies::Reads => reads(run) && !session.work.transaction().has_written(),
    }
}

fn reads(run: Run<'_>) -> bool {
    matches!(run.stmt.kind, Kind::Select(_)) && !run.plan.writes && !plan::writes(&run.stmt.kind)
}

/// Whether the statement names tables of the rule's alone.
fn is_about(stmt: &Statement, settings: &Settings) -> bool {
    if settings.tables.is_empty() {
        return true;
    }
    let named = visit::tables(&stmt.kind);
    !named.is_empty() && named.iter().all(|table| settings.tables.contains(&table.name.key()))
}

/// Whether a statement says all there is to do on the mirror.
fn can_be_copied(session: &Session, run: Run<'_>) -> bool {
    let Run { live, stmt, plan } = run;
    let is_select = matches!(stmt.kind, Kind::Select(_));
    let changes = is_select && !reads(run)
        || matches!(stmt.kind, Kind::Insert(_) | Kind::Update(_) | Kind::Delete(_));
    let is_plain = plan.before.is_empty()
        && !plan.timed.is_any()
        && plan.assigns.is_none()
        && session.settings.local().is_empty()
        && !session.temporary.are_there();
    is_plain && (changes || reads(run) && is_the_same_again(live, stmt))
}

/// Whether a query gives the same when it runs again over the same rows, as far as its functions go; and changes nothing by
/// them.
fn is_the_same_again(live: &LiveDatabase, stmt: &Statement) -> bool {
    let dialect = &live.database.dialect;
    let effects = dialect.effects();
    let mut is_harmless = true;
    visit::exprs(&stmt.kind, &mut |expr| {
        if let Node::Function(call) = &expr.node {
            let name = call.name.parts.last().map(|name| name.value.to_lowercase());
            let name = name.unwrap_or_default();
            is_harmless &= effects.is_some_and(|effects| effects.is_harmless(&name));
        }
    });
    is_harmless && !varies(&stmt.text, dialect.syntax())
}

/// Whether a text calls what gives something else each time. What cannot be read may.
fn varies(text: &str, syntax: &Syntax) -> bool {
    let Ok(tokens) = tokenize(text, syntax) else { return true };
    let behind = tokens.list.iter().skip(1).map(|token| token.span.of(text)).chain([""]);
    let has = |list: &[&str], name: &str| list.binary_search(&name).is_ok();
    let varies = |name: &str| {
        has(VARYING, name) || VARYING_BEGIN.iter().any(|begin| name.starts_with(begin))
    };
    tokens.list.iter().zip(behind).any(|(token, behind)| match token.name(text) {
        Some(name) => {
            let name = name.to_lowercase();
            has(BARE, &name) || behind == "(" && varies(&name)
        }
        None => token.kind == TokenKind::Variable && token.span.of(text).starts_with("@@"),
    })
}

fn is_ordered(stmt: &Statement) -> bool {
    matches!(&stmt.kind, Kind::Select(query) if !query.order_by.is_empty())
}

/// What a mirror's connection is brought to before what the session runs now.
fn manner(session: &Session, live: &LiveDatabase) -> Manner {
    let dialect = Arc::clone(&live.database.dialect);
    let variables = session.settings.variables();
    let dress = match variables.id() {
        0 => None,
        _ => Some(dialect.set_statement(variables.list()).into()),
    };
    let modes = session.work.transaction().modes();
    let verbs = [TransactionVerb::BeforeBegin(modes), TransactionVerb::Begin(modes)];
    let begin = verbs.iter().filter_map(|verb| dialect.transaction(verb)).collect();
    Manner { dress: (variables.id(), dress), begin, dialect }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_varies_is_found_by_its_calls() {
        assert!(VARYING.is_sorted() && BARE.is_sorted());
        let varies = |text| varies(text, &pando_fake::STANDARD);
        for text in [
            "SELECT now()",
            "SELECT a, Random () FROM t",
            "SELECT current_date",
            "SELECT '",
            "SELECT pg_notify(a, b)",
            "SELECT nextval('s')",
        ] {
            assert!(varies(text), "{text}");
        }
        for text in ["SELECT version, uuid FROM t", "SELECT count(a) FROM t", "SELECT 'now()'"] {
            assert!(!varies(text), "{text}");
        }
    }
}
