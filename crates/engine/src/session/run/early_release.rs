//! Replies that have come whole while other units are still waited for: their connections go home, so that a unit that
//! has fallen silent takes none from statements that don't need it.

use std::collections::VecDeque;

use pando_kernel::Columns;
use pando_kernel::error::Result;
use pando_kernel::event::{Completion, Event};
use pando_kernel::route::Spread;
use pando_kernel::row::Rows;

use crate::execute::{Channel, Heads, Meanwhile};
use crate::plan::Plan;

use crate::session::Session;
use crate::session::connections::release;
use crate::session::connections::release::Round;
use crate::session::reply::pieces::Verb;
use crate::session::transaction::Work;

/// When the connections of a query over several units go home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Leave {
    /// Each once its reply has come whole.
    Early,
    /// All at the query's end.
    Together,
}

/// How the replies of several units begin.
#[derive(Debug)]
pub(in crate::session) struct Begun {
    /// The first event of each channel that is still there, in their order.
    pub(in crate::session) heads: Vec<Option<Event>>,
    /// The replies that have come whole, in the order in which they came.
    pub(in crate::session) parted: Vec<Parted>,
}

/// A whole reply whose connection has gone home.
#[derive(Debug)]
pub(in crate::session) struct Parted {
    /// Its place among those that were there when it was taken out.
    pub(in crate::session) at: usize,
    pub(in crate::session) columns: Columns,
    pub(in crate::session) rows: VecDeque<Rows>,
    pub(in crate::session) completions: Vec<Completion>,
}

impl Work {
    /// When connections of a query go home: before the others have answered only where nothing is asked of them
    /// afterwards, and no transaction holds them.
    pub(in crate::session) fn leave(&self, plan: &Plan, verb: &Verb, jobs: &[Vec<usize>]) -> Leave {
        let may_part = self.is_idle()
            && verb.selects
            && !(verb.changes || verb.calculates || verb.unread || plan.writes)
            && plan.before.is_empty()
            && plan.spread != Spread::Same
            && jobs.iter().all(|jobs| jobs.len() == 1);
        if may_part { Leave::Early } else { Leave::Together }
    }
}

/// The beginnings of replies; channels whose replies have come whole meanwhile are taken out.
///
/// # Errors
/// The first unit's error.
pub(in crate::session) async fn beginnings(
    session: &mut Session,
    channels: &mut Vec<Channel>,
    leave: Leave,
) -> Result<Begun> {
    let mut heads = Heads::of(channels);
    let (mut may_part, mut parted) = (leave == Leave::Early, Vec::new());
    loop {
        let meanwhile = if may_part { Meanwhile::ReadsOn } else { Meanwhile::Nothing };
        let Some(at) = heads.next(channels, meanwhile).await? else { break };
        may_part = can_go_home(session, &channels[at]);
        if !may_part {
            continue;
        }
        let Some(Event::Columns(columns)) = heads.remove(at) else { continue };
        let mut channel = channels.remove(at);
        session.outbox.pass_notices(std::slice::from_mut(&mut channel));
        parted.push(Parted {
            at,
            columns,
            rows: channel.take_kept(),
            completions: std::mem::take(&mut channel.completions),
        });
        release::hand_back(session, channel, Round::Over);
    }
    Ok(Begun { heads: heads.all(), parted })
}

/// Whether a connection that has answered is of no more use, and the session has let go of it.
fn can_go_home(session: &Session, channel: &Channel) -> bool {
    let is_warned = channel.completions.iter().any(|done| done.warnings > 0);
    let is_home = channel.connection.condition().outstanding == 0;
    is_home
        && !channel.apart
        && !is_warned
        && session.place.handle().parts_with(&channel.connection)
}
