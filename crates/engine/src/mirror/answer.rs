//! What of an answer is compared: counts and digests, never its rows.

use std::hash::{DefaultHasher, Hash, Hasher};

use pando_kernel::error::{Error, ErrorKind};
use pando_kernel::event::{Completion, Event, Whole};
use pando_kernel::mirror::Compared;
use pando_kernel::{Columns, Rows};

/// One answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// Digest of the columns' names; `None` where it returns no rows.
    columns: Option<u64>,
    /// How many rows.
    count: u64,
    /// The sum of the rows' digests: the same in whatever order they come.
    rows: u64,
    /// Digest of the rows in their order.
    order: u64,
    affected: Option<u64>,
    /// The number or SQLSTATE of the error that it ended with.
    refused: Option<Box<str>>,
}

/// How two answers differ.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unlike {
    pub(super) what: &'static str,
    pub(super) source: String,
    pub(super) mirror: String,
}

/// Whether the rows of a statement come in an order that it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Asked,
    Any,
}

impl Answer {
    /// How a mirror's answer differs from this one; `None` where they are equal.
    pub(super) fn unlike(&self, mirror: &Self, compared: Compared, order: Order) -> Option<Unlike> {
        let told = |what, tell: &dyn Fn(&Self) -> String| {
            Some(Unlike { what, source: tell(self), mirror: tell(mirror) })
        };
        if self.refused != mirror.refused {
            return told("error", &|own| match &own.refused {
                Some(code) => format!("error {code}"),
                None => "an answer".to_owned(),
            });
        }
        if self.refused.is_some() {
            return None;
        }
        if self.columns != mirror.columns {
            return told("columns", &|own| match own.columns {
                Some(digest) => format!("columns of digest {digest:016x}"),
                None => "no columns".to_owned(),
            });
        }
        if self.count != mirror.count {
            return told("count", &|own| format!("{} rows", own.count));
        }
        if compared != Compared::Counts && self.rows != mirror.rows {
            return told("rows", &|own| format!("{} rows of digest {:016x}", own.count, own.rows));
        }
        if compared == Compared::OrderedRows && order == Order::Asked && self.order != mirror.order
        {
            return told("order", &|own| {
                format!("{} rows of digest {:016x}", own.count, own.order)
            });
        }
        if self.columns.is_none() && self.affected != mirror.affected {
            return told("affected", &|own| match own.affected {
                Some(rows) => format!("{rows} rows changed"),
                None => "no count".to_owned(),
            });
        }
        None
    }
}

/// Makes an answer of its pieces.
#[derive(Debug, Default)]
pub(super) struct Listening {
    columns: Option<Columns>,
    answer: Answer,
}

impl Listening {
    /// A piece has come.
    pub(super) fn hears(&mut self, event: &Event) {
        match event {
            Event::Columns(columns) => self.begins(columns),
            Event::Rows(rows) => self.takes(rows),
            Event::Complete(done) => self.completes(done),
            Event::Empty
            | Event::Suspended
            | Event::Notice(_)
            | Event::Parameter { .. }
            | Event::Described(_)
            | Event::CopyIn(_)
            | Event::CopyOut(_)
            | Event::CopyData(_)
            | Event::SendFile(_)
            | Event::Done => {}
        }
    }

    /// All of it has come in one.
    pub(super) fn hears_whole(&mut self, whole: &Whole) {
        if let Some(columns) = &whole.columns {
            self.begins(columns);
        }
        if let Some(rows) = &whole.rows {
            self.takes(rows);
        }
        self.completes(&whole.completion);
    }

    /// It has ended with an error. False where that says nothing of the statement: its server has not answered.
    pub(super) fn hears_error(&mut self, error: &Error) -> bool {
        let ErrorKind::Server(told) = error.kind() else { return false };
        if pando_kernel::circuit::is_failure(error) {
            return false;
        }
        self.answer.refused = Some(match told.number {
            0 => told.sqlstate.as_str().into(),
            number => number.to_string().into(),
        });
        true
    }

    /// It is at its end, and the next one follows.
    pub(super) fn ends(&mut self) -> Answer {
        self.columns = None;
        std::mem::take(&mut self.answer)
    }

    fn begins(&mut self, columns: &Columns) {
        let mut digest = DefaultHasher::new();
        columns.list.iter().for_each(|column| column.name.hash(&mut digest));
        self.answer.columns = Some(digest.finish());
        self.columns = Some(columns.clone());
    }

    fn takes(&mut self, rows: &Rows) {
        let Self { columns: Some(columns), answer } = self else { return };
        let mut take = |row: &[u8]| {
            let mut digest = DefaultHasher::new();
            digest.write(row);
            let own = digest.finish();
            answer.rows = answer.rows.wrapping_add(own);
            answer.order = answer.order.rotate_left(5) ^ own;
            answer.order = answer.order.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        };
        // Who passes them on finds out whether they can be read.
        let each = rows.for_each(columns, |row| {
            take(row);
            Ok(())
        });
        if each.is_err() {
            take(&rows.bytes);
        }
        answer.count += u64::from(rows.count);
    }

    fn completes(&mut self, done: &Completion) {
        self.answer.affected = done.affected;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pando_kernel::{Cell, Column, Kind, NeutralCodec, RowCodec, ServerError, Value};

    use super::*;

    fn answer(values: &[i64]) -> Answer {
        let list: Arc<[Column]> = Arc::new([Column::computed("v", Kind::Int)]);
        let columns = Columns { list, codec: Arc::new(NeutralCodec) };
        let mut listening = Listening::default();
        listening.hears(&Event::Columns(columns.clone()));
        for value in values {
            let mut bytes = bytes::BytesMut::new();
            let cell = Value::Int(*value);
            NeutralCodec.write(&columns.list, &[Cell::Value(&cell)], &mut bytes).unwrap();
            listening.hears(&Event::Rows(Rows { bytes: bytes.freeze(), count: 1 }));
        }
        listening.ends()
    }

    fn refused(number: u32, sqlstate: &str) -> Option<Answer> {
        let told = ServerError { number, sqlstate: sqlstate.into(), ..ServerError::default() };
        let mut listening = Listening::default();
        let counts = listening.hears_error(&ErrorKind::Server(Box::new(told)).into());
        counts.then(|| listening.ends())
    }

    fn what(source: &Answer, mirror: &Answer, compared: Compared) -> Option<&'static str> {
        source.unlike(mirror, compared, Order::Asked).map(|unlike| unlike.what)
    }

    #[test]
    fn rows_are_compared_as_far_as_the_rule_says() {
        let (one, other) = (answer(&[1, 2]), answer(&[2, 1]));
        assert_eq!(what(&one, &one, Compared::OrderedRows), None);
        assert_eq!(what(&one, &other, Compared::Rows), None);
        assert_eq!(what(&one, &other, Compared::OrderedRows), Some("order"));
        assert_eq!(one.unlike(&other, Compared::OrderedRows, Order::Any), None);
        let other = answer(&[1, 3]);
        assert_eq!(what(&one, &other, Compared::Rows), Some("rows"));
        assert_eq!(what(&one, &other, Compared::Counts), None);
        assert_eq!(what(&one, &answer(&[1]), Compared::Counts), Some("count"));
        assert_eq!(what(&answer(&[1, 1, 2]), &answer(&[1, 2, 2]), Compared::Rows), Some("rows"));
    }

    #[test]
    fn errors_are_compared_by_their_codes_and_a_lost_server_has_said_nothing() {
        let (missing, wrong) = (refused(0, "42P01").unwrap(), refused(0, "42601").unwrap());
        assert_eq!(what(&missing, &missing, Compared::Rows), None);
        assert_eq!(what(&missing, &wrong, Compared::Rows), Some("error"));
        assert_eq!(what(&missing, &answer(&[]), Compared::Counts), Some("error"));
        assert_eq!(refused(1146, "42S02").unwrap().refused.as_deref(), Some("1146"));
        assert!(refused(0, "57P01").is_none());
    }

    #[test]
    fn changed_rows_are_compared() {
        let changed = |rows| Answer { affected: Some(rows), ..Answer::default() };
        assert_eq!(what(&changed(1), &changed(2), Compared::Rows), Some("affected"));
        assert_eq!(what(&changed(2), &changed(2), Compared::Rows), None);
    }
}
