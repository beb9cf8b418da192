//! Joins: which split sources meet on one shard, whatever the shape of the join.

use std::collections::HashSet;

use pando_sql::ast::{Expr, Join, JoinConstraint, JoinKind, Table as Named, TableFactor};

use super::expr::Nulls;
use super::level::{KeyOf, Level, Origin, Pair, Source};
use super::{Env, Lie, Prover, Step, Why};
use crate::scope::Scope;

/// Split sources whose rows meet on one shard wherever a row of the join has them.
#[derive(Debug, Clone, Default)]
struct Meeting {
    members: Vec<usize>,
    /// That shard is the one of an outer query's row.
    is_anchored: bool,
}

/// The rows of a part of FROM.
#[derive(Debug, Default)]
struct Joined {
    meetings: Vec<Meeting>,
    /// Equalities that hold in its rows, or in those whose sources are not filled with NULL.
    pairs: Vec<Pair>,
}

/// The sides of an outer join.
struct Outer {
    /// All of its rows are in the join.
    kept: Joined,
    /// NULL stands in the place of its rows beside those that have no match.
    filled: Joined,
}

/// What is known around a factor.
#[derive(Clone, Copy)]
struct Around<'k> {
    /// Equalities that hold in every row that counts in the end.
    given: &'k [Pair],
    env: &'k Env,
}

const UNLINKED: &str = "the sides of an outer join are not joined on their sharding keys";

/// A source's place among the levels of queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    depth: usize,
    source: usize,
}

/// A key's place: level, source, which key.
type Spot = (usize, usize, usize);

/// A FROM to be joined.
pub(super) struct Sides<'q> {
    /// Tables that stand outside FROM.
    pub(super) targets: Vec<&'q Named>,
    pub(super) factors: Vec<&'q TableFactor>,
    pub(super) filter: Option<&'q Expr>,
}

impl<'a> Prover<'a> {
    /// The level of a FROM, how its rows lie, and the nodes that can have some.
    pub(super) fn level<'l>(
        &self,
        sides: &Sides<'_>,
        outer: Option<&'l Level<'l, 'a>>,
        env: &Env,
    ) -> Step<(Level<'l, 'a>, Lie, Vec<usize>)> {
        let mut level = Level::new(outer);
        for target in &sides.targets {
            self.table(&mut level, target, env)?;
        }
        for factor in &sides.factors {
            self.sources(&mut level, factor, env)?;
        }
        let given = match sides.filter {
            Some(filter) => self.pairs(&level, level.all(), filter),
            None => Vec::new(),
        };
        let mut joined = Joined::default();
        let mut at = 0;
        for _ in &sides.targets {
            joined.meetings.extend(alone(&level, at));
            at += 1;
        }
        for factor in &sides.factors {
            let one = self.joined(&level, factor, &mut at, Around { given: &given, env })?;
            joined.meetings.extend(one.meetings);
            joined.pairs.extend(one.pairs);
        }
        joined.pairs.extend(given);
        let meetings = self.met(&level, joined.meetings, &joined.pairs);
        let lie = match &meetings[..] {
            [] if level.is_local.get() => Lie::Local,
            [] => Lie::Whole,
            [one] if !one.is_anchored => Lie::Parts,
            many if many.iter().all(|one| one.is_anchored) => Lie::Local,
            _ => return Err(Why::Doubt("sharded tables are not joined on their sharding keys")),
        };
        let nodes = match lie {
            Lie::Parts => self.nodes(&level, sides)?,
            Lie::Whole | Lie::Local => Vec::new(),
        };
        Ok((level, lie, nodes))
    }

    /// The nodes that can have rows of a level: those where every source that is always there has some.
    fn nodes(&self, level: &Level<'_, 'a>, sides: &Sides<'_>) -> Step<Vec<usize>> {
        let mut scope = Scope::default();
        sides.targets.iter().for_each(|target| scope.target(target));
        sides.factors.iter().for_each(|factor| scope.factors(std::slice::from_ref(*factor)));
        scope.filter(sides.filter);
        let mut all: Option<Vec<usize>> = None;
        let mut meet = |own: Vec<usize>| {
            all = Some(match all.take() {
                None => own,
                Some(known) => known.into_iter().filter(|node| own.contains(node)).collect(),
            });
        };
        if let Some(placed) = crate::placed::place(self.asked, &scope)? {
            for class in &placed.classes {
                let filled = |at: &usize| scope.outers.iter().any(|o| o.optional.contains(at));
                if let Some(first) = class.tables.first()
                    && !class.members.iter().all(filled)
                {
                    meet(self.numbered(first, &class.nodes)?);
                }
            }
        }
        for source in &level.sources {
            if let (Origin::Query(_), Some(nodes)) = (&source.origin, &source.nodes)
                && !source.optional.get()
            {
                meet(nodes.clone());
            }
        }
        let mut nodes = match all {
            Some(nodes) => nodes,
            None => {
                let first = self.tables.borrow().first().map_or(0, |table| table.nodes().len());
                (0..first).collect()
            }
        };
        if nodes.is_empty() {
            // No row can match, but the statement still has columns, and an aggregate its one row.
            nodes.push(0);
        }
        Ok(nodes)
    }

    /// Declares the sources of a factor, in order.
    fn sources(&self, level: &mut Level<'_, 'a>, factor: &TableFactor, env: &Env) -> Step<()> {
        match factor {
            TableFactor::Table(table) => self.table(level, table, env)?,
            TableFactor::Derived { query, alias, lateral, span } => {
                let rows = if *lateral {
                    self.query(query, Some(level), env)?
                } else {
                    self.query(query, level.outer, env)?
                };
                if rows.lie == Lie::Local {
                    level.is_local.set(true);
                }
                // Names behind the alias rename the columns.
                let after = alias.as_ref().map_or("", |alias| {
                    let text = &self.asked.stmt.text;
                    text.get(alias.span.end as usize..span.end as usize).unwrap_or("(")
                });
                let columns = rows.columns.filter(|_| !after.contains('('));
                level.sources.push(Source {
                    label: alias.as_ref().map(|alias| alias.value.clone()).unwrap_or_default(),
                    origin: Origin::Query(columns),
                    optional: false.into(),
                    nodes: (rows.lie == Lie::Parts).then_some(rows.nodes),
                });
            }
            TableFactor::Function { alias, .. } => level.sources.push(Source {
                label: alias.as_ref().map(|alias| alias.value.clone()).unwrap_or_default(),
                origin: Origin::Query(None),
                optional: false.into(),
                nodes: None,
            }),
            TableFactor::Join(join) => {
                self.sources(level, &join.left, env)?;
                self.sources(level, &join.right, env)?;
                match &join.constraint {
                    JoinConstraint::Using(columns) => {
                        level.merged.extend(columns.iter().map(|c| c.value.clone()));
                    }
                    JoinConstraint::Natural => level.has_natural = true,
                    JoinConstraint::On(_) | JoinConstraint::None => {}
                }
                level.has_late |= matches!(join.kind, JoinKind::Right | JoinKind::Full);
            }
        }
        Ok(())
    }

    fn table(&self, level: &mut Level<'_, 'a>, table: &Named, env: &Env) -> Step<()> {
        let name = table.name.parts.last();
        let label = table.alias.as_ref().or(name);
        let label = label.map(|label| label.value.clone()).unwrap_or_default();
        let logic = table.name.key();
        // A list of names renames the columns.
        let renames = table.columns.is_some();
        let (origin, nodes) = match self.asked.sharded(table.name.span, &logic) {
            Some(own) => {
                self.meets(own, table.name.span)?;
                // Which column is which is not looked into then, and any node may have rows.
                let all: Vec<usize> = (0..own.nodes().len()).collect();
                match renames {
                    true => (Origin::Query(None), Some(self.numbered(own, &all)?)),
                    false => (Origin::Sharded(own), Some(Vec::new())),
                }
            }
            None => match env.get(&logic).filter(|_| table.name.parts.len() == 1) {
                Some(rows) => {
                    if rows.lie == Lie::Local {
                        level.is_local.set(true);
                    }
                    let columns = rows.columns.clone().filter(|_| !renames);
                    let nodes = (rows.lie == Lie::Parts).then(|| rows.nodes.clone());
                    (Origin::Query(columns), nodes)
                }
                None if renames => (Origin::Query(None), None),
                None => (Origin::Whole(logic), None),
            },
        };
        level.sources.push(Source { label, origin, optional: false.into(), nodes });
        Ok(())
    }

    /// Joins a factor whose first source is `at`.
    fn joined(
        &self,
        level: &Level<'_, 'a>,
        factor: &TableFactor,
        at: &mut usize,
        around: Around<'_>,
    ) -> Step<Joined> {
        match factor {
            TableFactor::Join(join) => self.join(level, join, at, around),
            TableFactor::Table(_) | TableFactor::Derived { .. } => {
                *at += 1;
                Ok(Joined { meetings: alone(level, *at - 1), pairs: Vec::new() })
            }
            TableFactor::Function { expr, .. } => {
                *at += 1;
                self.expr(level, expr, Nulls::Count, around.env)?;
                Ok(Joined::default())
            }
        }
    }

    fn join(
        &self,
        level: &Level<'_, 'a>,
        join: &Join,
        at: &mut usize,
        around: Around<'_>,
    ) -> Step<Joined> {
        let Around { given, env } = around;
        let start = *at;
        let middle = start + width(&join.left);
        let end = middle + width(&join.right);
        let on = match &join.constraint {
            JoinConstraint::On(on) => self.pairs(level, start..end, on),
            JoinConstraint::Using(columns) => {
                let (left, right) = (start..middle, middle..end);
                columns
                    .iter()
                    .filter_map(|column| self.merges(level, &left, &right, &column.value))
                    .collect()
            }
            JoinConstraint::Natural | JoinConstraint::None => Vec::new(),
        };
        let touches = |range: std::ops::Range<usize>| {
            let own = |key: &KeyOf| key.depth == level.depth && range.contains(&key.source);
            given.iter().any(|(a, b)| own(a) || own(b))
        };
        // A later equality with a column of the filled side drops the filled rows: the join is an inner one.
        let kind = match join.kind {
            JoinKind::Left if touches(middle..end) => JoinKind::Inner,
            JoinKind::Right if touches(start..middle) => JoinKind::Inner,
            JoinKind::Inner
            | JoinKind::Cross
            | JoinKind::Full
            | JoinKind::Left
            | JoinKind::Right => join.kind,
        };
        let both: Vec<Pair> = on.iter().chain(given).copied().collect();
        let (of_left, of_right): (&[Pair], &[Pair]) = match kind {
            JoinKind::Inner | JoinKind::Cross => (&both, &both),
            JoinKind::Left => (given, &on),
            JoinKind::Right => (&on, given),
            JoinKind::Full => (&[], &[]),
        };
        let left = self.joined(level, &join.left, at, Around { given: of_left, env })?;
        let right = self.joined(level, &join.right, at, Around { given: of_right, env })?;
        if let JoinConstraint::On(on) = &join.constraint {
            self.expr(level, on, Nulls::AreFalse, env)?;
        }
        let fill = |range: std::ops::Range<usize>| {
            level.sources[range].iter().for_each(|source| source.optional.set(true));
        };
        match kind {
            JoinKind::Inner | JoinKind::Cross => {
                let mut pairs = left.pairs;
                pairs.extend(right.pairs);
                pairs.extend(on);
                let mut all = pairs.clone();
                all.extend(given);
                let meetings = left.meetings.into_iter().chain(right.meetings).collect();
                Ok(Joined { meetings: self.met(level, meetings, &all), pairs })
            }
            JoinKind::Left => {
                fill(middle..end);
                self.outer_join(level, Outer { kept: left, filled: right }, &on, given)
            }
            JoinKind::Right => {
                fill(start..middle);
                self.outer_join(level, Outer { kept: right, filled: left }, &on, given)
            }
            JoinKind::Full => {
                fill(start..end);
                self.full_join(level, left, right, &on)
            }
        }
    }

    /// Every match of a kept row must be on that row's shard, else it would be filled there.
    fn outer_join(
        &self,
        level: &Level<'_, 'a>,
        sides: Outer,
        on: &[Pair],
        given: &[Pair],
    ) -> Step<Joined> {
        let Outer { kept, filled } = sides;
        let mut own = kept.pairs.clone();
        own.extend(given);
        let mut meetings = self.met(level, kept.meetings, &own);
        let mut all = own;
        all.extend(&filled.pairs);
        all.extend(on);
        let sets = closure(&all);
        for mut other in filled.meetings {
            let anchored = other.is_anchored || self.is_anchored(level, &other, &sets);
            other.is_anchored = anchored;
            let home = meetings.iter().position(|meeting| {
                self.are_linked(level, meeting, &other, &sets) || meeting.is_anchored && anchored
            });
            match home {
                Some(home) => meetings[home].members.extend(other.members),
                None if meetings.is_empty() && anchored => meetings.push(other),
                None => return Err(Why::Doubt(UNLINKED)),
            }
        }
        let mut pairs = kept.pairs;
        pairs.extend(filled.pairs);
        Ok(Joined { meetings, pairs })
    }

    fn full_join(
        &self,
        level: &Level<'_, 'a>,
        left: Joined,
        right: Joined,
        on: &[Pair],
    ) -> Step<Joined> {
        let mut all = left.pairs.clone();
        all.extend(&right.pairs);
        all.extend(on);
        match (&left.meetings[..], &right.meetings[..]) {
            ([], []) => {}
            ([one], [other])
                if one.is_anchored == other.is_anchored
                    && self.are_linked(level, one, other, &closure(&all)) => {}
            _ => return Err(Why::Doubt(UNLINKED)),
        }
        let mut pairs = left.pairs;
        pairs.extend(right.pairs);
        let mut meetings = left.meetings;
        for other in right.meetings {
            if let Some(meeting) = meetings.first_mut() {
                meeting.members.extend(other.members);
            }
        }
        Ok(Joined { meetings, pairs })
    }

    /// The equality that USING makes of a name.
    fn merges(
        &self,
        level: &Level<'_, 'a>,
        left: &std::ops::Range<usize>,
        right: &std::ops::Range<usize>,
        column: &str,
    ) -> Option<Pair> {
        let times = level.merged.iter().filter(|name| name.eq_ignore_ascii_case(column)).count();
        if level.has_natural || level.has_late && times > 1 {
            return None;
        }
        let a = self.owner(level, left.clone(), column)?;
        let b = self.owner(level, right.clone(), column)?;
        (a.part.kept == b.part.kept).then_some((a, b))
    }

    /// The one column that a name means on one side of a join.
    fn owner(
        &self,
        level: &Level<'_, 'a>,
        side: std::ops::Range<usize>,
        column: &str,
    ) -> Option<KeyOf> {
        let times = level.merged.iter().filter(|name| name.eq_ignore_ascii_case(column)).count();
        let mut found = None;
        for at in side {
            match self.carries(&level.sources[at], column) {
                Some(part) => {
                    found.get_or_insert(self.key_of(level, at, part));
                }
                None if times > 1 && !self.lacks(&level.sources[at], column) => return None,
                None => {}
            }
        }
        found
    }

    /// Meetings that are the same one by these equalities, put together.
    fn met(&self, level: &Level<'_, 'a>, meetings: Vec<Meeting>, pairs: &[Pair]) -> Vec<Meeting> {
        let sets = closure(pairs);
        let mut out: Vec<Meeting> = Vec::new();
        for mut next in meetings {
            next.is_anchored |= self.is_anchored(level, &next, &sets);
            let (same, mut rest): (Vec<_>, Vec<_>) = out.into_iter().partition(|known| {
                self.are_linked(level, known, &next, &sets) || known.is_anchored && next.is_anchored
            });
            for known in same {
                next.members.extend(known.members);
                next.is_anchored |= known.is_anchored;
            }
            rest.push(next);
            out = rest;
        }
        out
    }

    fn are_linked(
        &self,
        level: &Level<'_, 'a>,
        a: &Meeting,
        b: &Meeting,
        sets: &[HashSet<Spot>],
    ) -> bool {
        let depth = level.depth;
        a.members.iter().any(|i| {
            b.members
                .iter()
                .any(|j| self.meet(sets, Place { depth, source: *i }, Place { depth, source: *j }))
        })
    }

    fn is_anchored(
        &self,
        level: &Level<'_, 'a>,
        meeting: &Meeting,
        sets: &[HashSet<Spot>],
    ) -> bool {
        let outer: HashSet<Place> = sets
            .iter()
            .flatten()
            .filter(|(depth, ..)| *depth < level.depth)
            .map(|(depth, source, _)| Place { depth: *depth, source: *source })
            .collect();
        let meets = |member: &usize| {
            let own = Place { depth: level.depth, source: *member };
            outer.iter().any(|anchor| self.meet(sets, own, *anchor))
        };
        meeting.members.iter().any(meets)
    }

    /// Whether each key of one source equals the same key of the other.
    fn meet(&self, sets: &[HashSet<Spot>], a: Place, b: Place) -> bool {
        let keys = self.keys();
        let equal = |at: usize| {
            let (a, b) = ((a.depth, a.source, at), (b.depth, b.source, at));
            sets.iter().any(|set| set.contains(&a) && set.contains(&b))
        };
        keys > 0 && (0..keys).all(equal)
    }
}

fn width(factor: &TableFactor) -> usize {
    match factor {
        TableFactor::Join(join) => width(&join.left) + width(&join.right),
        TableFactor::Table(_) | TableFactor::Derived { .. } | TableFactor::Function { .. } => 1,
    }
}

/// The meeting of one source with itself; none when it is not split.
fn alone(level: &Level<'_, '_>, at: usize) -> Vec<Meeting> {
    let split = level.sources.get(at).is_some_and(|source| source.nodes.is_some());
    if split { vec![Meeting { members: vec![at], is_anchored: false }] } else { Vec::new() }
}

/// Sets of keys that are all equal.
fn closure(pairs: &[Pair]) -> Vec<HashSet<Spot>> {
    let mut sets: Vec<HashSet<Spot>> = Vec::new();
    for (a, b) in pairs {
        let (a, b) = ((a.depth, a.source, a.part.at), (b.depth, b.source, b.part.at));
        let (hit, miss): (Vec<_>, Vec<_>) =
            sets.into_iter().partition(|set| set.contains(&a) || set.contains(&b));
        let mut set: HashSet<Spot> = hit.into_iter().flatten().collect();
        set.extend([a, b]);
        sets = miss;
        sets.push(set);
    }
    sets
}
