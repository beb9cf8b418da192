//! What rooms change of a statement on its way in: pieces of its text, and values before they are stored or compared.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::sync::Arc;

use pando_sql::ast::{Expr, Node};
use pando_sql::{Edits, Span};

use crate::declared::DeclaredType;
use crate::dialect::Dialect;
use crate::error::{Error, Result};
use crate::value::Value;

/// Turns values into those that are stored.
pub trait ValueMap: Send + Sync + Debug {
    /// The value as it is stored, or as what is stored compares with it; never NULL.
    ///
    /// # Errors
    /// `Value` for one that cannot be stored.
    fn turned(&self, value: &Value) -> Result<Value>;

    /// What becomes of NULL.
    ///
    /// # Errors
    /// As a server says that takes none.
    fn null(&self) -> Result<Value> {
        Ok(Value::Null)
    }

    /// The type that a client is told of a parameter in its place, where it is not the stored one's.
    fn declared(&self) -> Option<DeclaredType> {
        None
    }
}

/// A map of values, shared by all statements that go through it. Two are equal where they are one.
#[derive(Clone)]
pub struct Turn(pub Arc<dyn ValueMap>);

impl Turn {
    /// The value as it is stored.
    ///
    /// # Errors
    /// As [`ValueMap::turned`].
    pub fn of(&self, value: &Value) -> Result<Value> {
        if value.is_null() { self.0.null() } else { self.0.turned(value) }
    }
}

impl PartialEq for Turn {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Changes of one statement for one target, by room. Rooms give maps and not the turned texts, so that templates and
/// bound parameters carry them.
#[derive(Debug, Default)]
pub struct Changes {
    /// The room whose turn it is, as long as it has edited nothing.
    begun: Option<&'static str>,
    /// Of those rooms that edit the text, in their order.
    texts: Vec<(&'static str, Edits)>,
    literals: Vec<TurnedLiteral>,
    parameters: Vec<TurnedParameter>,
    /// What of the statement's text is the engine's.
    added: Vec<Span>,
    fields: Vec<TurnedField>,
}

/// Where a turned value goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put {
    /// In the place of the one that is written.
    InPlace,
    /// Behind that, which stays or is turned by itself, and behind this text.
    Behind(Cow<'static, str>),
}

impl Put {
    /// What stands in front of it; `None` in the place of what is written.
    pub fn front(&self) -> Option<&str> {
        match self {
            Self::InPlace => None,
            Self::Behind(front) => Some(front),
        }
    }
}

/// A literal that goes as another value.
#[derive(Debug, Clone)]
pub struct TurnedLiteral {
    /// Where it stands; what is put behind it stands at its end.
    pub span: Span,
    /// Its value in this statement.
    pub value: Value,
    /// What becomes of it.
    pub turn: Turn,
    /// Where it goes.
    pub put: Put,
}

/// A bound parameter that goes as another value.
#[derive(Debug, Clone)]
pub struct TurnedParameter {
    /// Where it stands; what is put behind it stands at its end.
    pub span: Span,
    /// Its number among the statement's, from 0.
    pub index: u32,
    /// What becomes of its value.
    pub turn: Turn,
    /// Where it goes.
    pub put: Put,
}

/// A field of bulk data that goes as another value.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnedField {
    /// Its place in each line that the client sends, from 0.
    pub at: usize,
    /// What becomes of its value.
    pub turn: Turn,
    /// It is put in as the field behind it, and the field stays.
    pub is_further: bool,
}

impl Changes {
    /// Of a statement in whose text these parts are the engine's own.
    pub fn beside(added: &[Span]) -> Self {
        Self { added: added.to_vec(), ..Self::default() }
    }

    /// Whether a part of the statement's text is the engine's: select items and an order by which the rows of several
    /// units are merged. What is stored is compared there, and nobody is told it: names are to be those of the units,
    /// and nothing is to be refused.
    pub fn is_added(&self, span: Span) -> bool {
        self.added.iter().any(|added| added.start <= span.start && span.end <= added.end)
    }

    /// What follows is changed by this room.
    pub fn begin(&mut self, room: &'static str) {
        self.begun = Some(room);
    }

    /// The room's edits of the text.
    pub fn text(&mut self) -> &mut Edits {
        if self.texts.is_empty() || self.begun.is_some() {
            self.texts.push((self.begun.take().unwrap_or_default(), Edits::default()));
        }
        let last = self.texts.len() - 1;
        &mut self.texts[last].1
    }

    /// A part of the statement's text as the rooms before have edited it: what a qualifier that is written once more has
    /// become.
    pub fn edited(&self, span: Span, text: &str) -> String {
        let mut all = Edits::default();
        self.texts.iter().for_each(|(_, edits)| all.append(edits));
        all.apply_within(span, text)
    }

    /// Has a literal or a parameter go as another value.
    ///
    /// # Errors
    /// `Refused` for anything else, whose value nobody here knows.
    pub fn value(&mut self, expr: &Expr, turn: &Turn) -> Result<()> {
        self.note(expr, turn, Put::InPlace)
    }

    /// Puts another value of a literal or a parameter behind it, as the next in its list: one column becomes several.
    ///
    /// # Errors
    /// As [`Changes::value`].
    pub fn further(&mut self, expr: &Expr, turn: &Turn) -> Result<()> {
        self.note(expr, turn, Put::Behind(Cow::Borrowed(", ")))
    }

    /// Puts another value of a literal or a parameter behind it, with this text in front: `, b = ` assigns it to a further
    /// column. The text is to be the same for every statement of its shape.
    ///
    /// # Errors
    /// As [`Changes::value`].
    pub fn further_behind(
        &mut self,
        expr: &Expr,
        front: impl Into<String>,
        turn: &Turn,
    ) -> Result<()> {
        self.note(expr, turn, Put::Behind(Cow::Owned(front.into())))
    }

    /// Has the values of one field of COPY FROM or LOAD DATA, by its place in each line from 0, go as others. Those of
    /// lines are texts, and of the binary form what the column's type has.
    ///
    /// # Errors
    /// `Refused` where the field goes as another already.
    pub fn field(&mut self, at: usize, turn: &Turn) -> Result<()> {
        if self.fields.iter().any(|known| known.at == at && !known.is_further) {
            return Err(clash(self.begun.unwrap_or_default(), ""));
        }
        self.fields.push(TurnedField { at, turn: turn.clone(), is_further: false });
        Ok(())
    }

    /// Puts another value of a field behind it, as the next field of its line: one column becomes several. Who does so
    /// has the statement list the columns that are stored, whether the client has listed any or not.
    pub fn further_field(&mut self, at: usize, turn: &Turn) {
        self.fields.push(TurnedField { at, turn: turn.clone(), is_further: true });
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
    fn note(&mut self, expr: &Expr, turn: &Turn, put: Put) -> Result<()> {
        let (span, turn) = (expr.span, turn.clone());
        match &expr.node {
            Node::Literal(_) | Node::Unary { .. } => {
                let value = Value::of_constant(expr).ok_or_else(unreadable)?;
                self.literals.push(TurnedLiteral { span, value, turn, put });
            }
            Node::Parameter(index) => {
                self.parameters.push(TurnedParameter { span, index: *index, turn, put });
            }
            _ => return Err(unreadable()),
        }
        Ok(())
    }

    /// The parameters that go as others, in the order in which rooms named them.
    pub fn parameters(&self) -> &[TurnedParameter] {
        &self.parameters
    }

    /// The literals that go as others, in the order in which rooms named them.
    pub fn literals(&self) -> &[TurnedLiteral] {
        &self.literals
    }

    /// The fields of bulk data that go as others, in the order in which rooms named them.
    pub fn fields(&self) -> &[TurnedField] {
        &self.fields
    }

    /// All edits of the text, without those of literals: the engine's own `before`, those of the rooms, and the
    /// engine's own `behind`.
    ///
    /// # Errors
    /// `Refused` where two rooms, or a room and the engine, change the same place: one of the two would be lost.
    /// What lies in a part that somebody takes out goes with it.
    pub fn edits(&self, before: &Edits, behind: &Edits) -> Result<Edits> {
        let engines = [("", before), ("", behind)];
        let rooms = || self.texts.iter().map(|(room, edits)| (*room, edits));
        for (at, (room, edits)) in rooms().enumerate() {
            for (other, others) in rooms().take(at).chain(engines) {
                if edits.clash(others) {
                    return Err(clash(room, other));
                }
            }
        }
        let literals =
            self.literals.iter().filter(|one| one.put == Put::InPlace).map(|one| one.span);
        let parameters =
            self.parameters.iter().filter(|one| one.put == Put::InPlace).map(|one| one.span);
        let mut turned = Edits::default();
        literals.chain(parameters).for_each(|span| turned.replace_by(span, "?"));
        if turned.clash(&turned) {
            return Err(clash("", ""));
        }
        for (owner, edits) in rooms().chain(engines) {
            if turned.clash(edits) {
                return Err(clash(owner, ""));
            }
        }
        let mut all = before.clone();
        rooms().for_each(|(_, edits)| all.append(edits));
        all.append(behind);
        Ok(all)
    }
}

/// Writes turned literals into a text's edits.
///
/// # Errors
/// As [`ValueMap::turned`].
pub fn write_literals(
    literals: &[TurnedLiteral],
    dialect: &dyn Dialect,
    edits: &mut Edits,
) -> Result<()> {
    let mut behind = Behind::default();
    for one in literals {
        let value = dialect.literal(&one.turn.of(&one.value)?);
        match one.put.front() {
            Some(front) => behind.put(one.span.end, format!("{front}{value}")),
            None => edits.replace(one.span, value),
        }
    }
    behind.write(edits);
    Ok(())
}

/// What is put behind values, by the point where they end. It comes in front of what others add there: a further value
/// belongs to its column, whatever columns follow.
#[derive(Debug, Default)]
pub struct Behind(BTreeMap<u32, String>);

impl Behind {
    /// Puts a text behind what was put there before.
    pub fn put(&mut self, at: u32, text: String) {
        self.0.entry(at).or_default().push_str(&text);
    }

    /// Writes all of it into a text's edits.
    pub fn write(self, edits: &mut Edits) {
        self.0.into_iter().for_each(|(at, text)| edits.insert_first(at, text));
    }
}

fn unreadable() -> Error {
    Error::unsupported(
        30001,
        "a value that is stored as another must be a literal or a parameter",
        "compute it in the application",
    )
}

fn clash(one: &str, other: &str) -> Error {
    let of = |room: &str| if room.is_empty() { "Pando".to_owned() } else { format!("`{room}`") };
    Error::unsupported(
        30001,
        format!("{} and {} would change the same part of the statement", of(one), of(other)),
        "write the statement so that each part of it concerns one of them",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(rooms: &[(&'static str, u32, u32, &'static str)]) -> Changes {
        let mut changes = Changes::default();
        for (room, start, end, text) in rooms {
            changes.begin(room);
            changes.text().replace(Span::new(*start, *end), *text);
        }
        changes
    }

    #[test]
    fn two_rooms_may_not_change_one_place() {
        let text = "select a from t";
        let apply = |changes: Changes, own: &Edits| {
            changes.edits(own, &Edits::default()).map(|all| all.apply(text))
        };
        let apart = changes(&[("A", 7, 8, "b"), ("B", 14, 15, "t_0")]);
        assert_eq!(apply(apart, &Edits::default()).unwrap(), "select b from t_0");
        for same in [
            [("A", 7, 8, "b"), ("B", 7, 8, "c")],
            [("A", 7, 8, "b"), ("B", 0, 15, "drop")],
            [("A", 7, 15, "b"), ("B", 14, 15, "c")],
        ] {
            assert!(apply(changes(&same), &Edits::default()).is_err(), "{same:?}");
        }
    }

    #[derive(Debug)]
    struct Same;

    impl ValueMap for Same {
        fn turned(&self, value: &Value) -> Result<Value> {
            Ok(value.clone())
        }
    }

    #[test]
    fn a_field_goes_as_one_other_value_and_as_any_number_of_further_ones() {
        let (mut changes, turn) = (Changes::default(), Turn(Arc::new(Same)));
        changes.field(1, &turn).unwrap();
        changes.further_field(1, &turn);
        changes.further_field(1, &turn);
        changes.field(0, &turn).unwrap();
        assert!(changes.field(1, &turn).is_err());
        let noted: Vec<(usize, bool)> =
            changes.fields().iter().map(|one| (one.at, one.is_further)).collect();
        assert_eq!(noted, [(1, false), (1, true), (1, true), (0, false)]);
    }

    #[test]
    fn what_the_engine_takes_out_takes_a_room_s_change_along() {
        let mut own = Edits::default();
        own.replace(Span::new(8, 15), "");
        let room = changes(&[("A", 14, 15, "t_0")]);
        assert_eq!(
            room.edits(&own, &Edits::default()).unwrap().apply("select a from t"),
            "select a"
        );
        own.replace(Span::new(7, 8), "b");
        assert!(changes(&[("A", 7, 8, "c")]).edits(&own, &Edits::default()).is_err());
    }
}
