//! Parameters of the actual statements: which of the client's they are, in whose place they stand, and what
//! becomes of their values.

use std::collections::{BTreeSet, HashMap};

use pando_kernel::changes::{Behind, Put, Turn, TurnedParameter};
use pando_sql::ast::{Node, Statement};
use pando_sql::{Edits, Placeholder, Span, visit};

/// The parameters that an actual statement takes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Taken {
    /// Which of the client's, in its own order.
    pub(super) parameters: Vec<u32>,
    /// Those that go as other values, by their place among these.
    pub(super) turns: Vec<(usize, Turn)>,
}

/// Every parameter of the text with its place, in text order.
pub(super) fn parameters(stmt: &Statement) -> Vec<(Span, u32)> {
    let mut found = Vec::new();
    if stmt.parameters > 0 {
        visit::exprs(&stmt.kind, &mut |expr| {
            if let Node::Parameter(index) = expr.node {
                found.push((expr.span, index));
            }
        });
        found.sort_unstable();
        found.dedup();
    }
    found
}

/// The parameters that survive the edits; renumbered in the text where it writes numbers.
pub(super) fn number(placeholder: Placeholder, all: &[(Span, u32)], edits: &mut Edits) -> Vec<u32> {
    let left: Vec<(Span, u32)> =
        all.iter().filter(|(span, _)| !edits.covers(*span)).copied().collect();
    match placeholder {
        Placeholder::Question => left.into_iter().map(|(_, index)| index).collect(),
        Placeholder::Dollar => {
            let used: Vec<u32> =
                left.iter().map(|(_, index)| *index).collect::<BTreeSet<_>>().into_iter().collect();
            for (span, index) in left {
                if let Ok(at) = used.binary_search(&index)
                    && at as u64 != u64::from(index)
                {
                    edits.replace(span, format!("${}", at + 1));
                }
            }
            used
        }
    }
}

/// As [`number`], where rooms have some of them go as other values, or put others behind them. One that goes as two
/// values is two.
pub(super) fn taken(
    placeholder: Placeholder,
    all: &[(Span, u32)],
    turned: &[TurnedParameter],
    edits: &mut Edits,
) -> Taken {
    if turned.is_empty() {
        let parameters = number(placeholder, all, edits);
        return Taken { parameters, turns: Vec::new() };
    }
    let places = places(all, turned, edits);
    match placeholder {
        Placeholder::Question => {
            let mut behind = Behind::default();
            for place in &places {
                if let Some(front) = place.front {
                    behind.put(place.span.end, format!("{front}?"));
                }
            }
            behind.write(edits);
            let turns = places.iter().map(|place| place.turn.cloned()).enumerate();
            Taken {
                parameters: places.iter().map(|place| place.index).collect(),
                turns: turns.filter_map(|(at, turn)| Some((at, turn?))).collect(),
            }
        }
        Placeholder::Dollar => {
            let mut used: Vec<(u32, Option<&Turn>)> = Vec::new();
            for place in &places {
                if !used.contains(&(place.index, place.turn)) {
                    used.push((place.index, place.turn));
                }
            }
            used.sort_by_key(|(index, _)| *index);
            let mut behind = Behind::default();
            for place in &places {
                let at = used.iter().position(|own| *own == (place.index, place.turn));
                let at = at.unwrap_or(usize::MAX);
                match place.front {
                    Some(front) => {
                        behind.put(place.span.end, format!("{front}${}", at + 1));
                    }
                    None if at as u64 != u64::from(place.index) => {
                        edits.replace(place.span, format!("${}", at + 1));
                    }
                    None => {}
                }
            }
            behind.write(edits);
            let turns = used.iter().map(|(_, turn)| turn.cloned()).enumerate();
            Taken {
                parameters: used.iter().map(|(index, _)| *index).collect(),
                turns: turns.filter_map(|(at, turn)| Some((at, turn?))).collect(),
            }
        }
    }
}

/// Where a parameter stands in an actual statement, or is put.
struct Place<'a> {
    span: Span,
    index: u32,
    turn: Option<&'a Turn>,
    /// What stands in front of it where it is put behind another.
    front: Option<&'a str>,
}

/// In the order of the text.
fn places<'a>(all: &[(Span, u32)], turned: &'a [TurnedParameter], edits: &Edits) -> Vec<Place<'a>> {
    let own = turned.iter().filter(|one| one.put == Put::InPlace);
    let own: HashMap<Span, &Turn> = own.map(|one| (one.span, &one.turn)).collect();
    let standing = all.iter().map(|(span, index)| Place {
        span: *span,
        index: *index,
        turn: own.get(span).copied(),
        front: None,
    });
    let further = turned.iter().filter(|one| one.put != Put::InPlace).map(|one| Place {
        span: one.span,
        index: one.index,
        turn: Some(&one.turn),
        front: one.put.front(),
    });
    let is_left = |place: &Place<'_>| !edits.covers(place.span);
    let mut places: Vec<Place<'a>> = standing.chain(further).filter(is_left).collect();
    // What is put behind one place keeps the order in which it is put there.
    places.sort_by_key(|place| (place.span.start, place.front.is_some()));
    places
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pando_kernel::Value;
    use pando_kernel::changes::ValueMap;
    use pando_kernel::error::Result;

    use super::*;

    #[derive(Debug)]
    struct Same;

    impl ValueMap for Same {
        fn turned(&self, value: &Value) -> Result<Value> {
            Ok(value.clone())
        }
    }

    /// `SELECT a, b` with parameters 0 at 7..8 and, if there are two, 1 (or again 0) at 10..11.
    fn check(placeholder: Placeholder, indexes: &[u32], turned: &[(usize, bool)], expected: &str) {
        let text = "SELECT a, b";
        let spans = [Span::new(7, 8), Span::new(10, 11)];
        let all: Vec<(Span, u32)> = spans.into_iter().zip(indexes.iter().copied()).collect();
        let turn = Turn(Arc::new(Same));
        let turned: Vec<TurnedParameter> = turned
            .iter()
            .map(|(at, is_further)| TurnedParameter {
                span: all[*at].0,
                index: all[*at].1,
                turn: turn.clone(),
                put: match is_further {
                    true => Put::Behind(", ".into()),
                    false => Put::InPlace,
                },
            })
            .collect();
        let mut edits = Edits::default();
        let taken = taken(placeholder, &all, &turned, &mut edits);
        let turns: Vec<usize> = taken.turns.iter().map(|(at, _)| *at).collect();
        assert_eq!(format!("{} {:?} {turns:?}", edits.apply(text), taken.parameters), expected);
    }

    #[test]
    fn a_parameter_that_goes_as_two_values_is_two() {
        check(Placeholder::Question, &[0, 1], &[(1, false)], "SELECT a, b [0, 1] [1]");
        check(Placeholder::Question, &[0, 1], &[(0, true)], "SELECT a, ?, b [0, 0, 1] [1]");
        check(Placeholder::Dollar, &[0, 1], &[(1, false)], "SELECT a, b [0, 1] [1]");
        check(Placeholder::Dollar, &[0, 0], &[(1, false)], "SELECT a, $2 [0, 0] [1]");
        check(Placeholder::Dollar, &[0, 1], &[(0, true)], "SELECT a, $2, $3 [0, 0, 1] [1]");
        check(Placeholder::Dollar, &[0, 1], &[(0, false), (0, true)], "SELECT a, $1, b [0, 1] [0]");
    }
}
