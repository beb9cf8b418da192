//! How a result's rows reach the client: as they are, or written anew.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use bytes::BytesMut;
use pando_kernel::{Cell, Column, Columns, Native, Result, RowCodec, Rows, Value};

use super::charset::Charset;
use super::reply::Form;
use crate::codec::{Capabilities, ColumnDefinition, Outbound};
use crate::row::{BinaryRows, TextRows};
use crate::types::{FAMILY, definition_of};

/// Lists whose definitions a thread keeps, and how long these are at most, in bytes.
const KEPT: usize = 32;
const LONGEST: usize = 2048;

/// A list, and its definitions as packets, with what MariaDB says besides or without.
type Defined = (Arc<[Column]>, Capabilities, Box<[u8]>);

thread_local! {
    /// Definitions that were told before: nearly every reply of a statement has the list of the one before. One that is met again moves halfway to the front.
    static DEFINED: RefCell<Vec<Defined>> = const { RefCell::new(Vec::new()) };
}

/// The columns of a result under way.
#[derive(Debug)]
pub(super) struct Shape {
    source: Columns,
    /// The columns as this protocol describes them, where another vendor did.
    target: Option<Arc<[Column]>>,
    codec: Box<dyn RowCodec>,
    forward: bool,
    charset: Charset,
    fields: Vec<Option<Range<usize>>>,
}

impl Shape {
    /// The shape in which a client that expects `form` and reads `charset` gets rows of these columns.
    pub(super) fn new(source: Columns, form: Form, charset: Charset) -> Self {
        let codec: Box<dyn RowCodec> = match form {
            Form::Text => Box::new(TextRows),
            Form::Binary => Box::new(BinaryRows),
        };
        let ours = source.list.iter().all(|column| column.native.family == FAMILY);
        let translated =
            charset != Charset::Utf8 && source.list.iter().any(|column| charset.translates(column));
        let same = source.codec.form() == codec.form() && (form == Form::Text || ours);
        let target = (!ours).then(|| source.list.iter().map(target_column).collect());
        Self { source, target, codec, forward: same && !translated, charset, fields: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.source.list.len()
    }

    /// Appends the column definitions, each a packet, for a client with these capabilities.
    pub(super) fn define(&self, capabilities: Capabilities, output: &mut Outbound) {
        let detail = capabilities & Capabilities::EXTENDED_METADATA;
        let list = &self.source.list;
        if self.charset != Charset::Utf8 {
            for column in self.target.as_ref().unwrap_or(list).iter() {
                let (column, charset) = (self.charset.described(column), self.charset);
                output.packet(|out| put_definition(&column, charset, detail, out));
            }
            return;
        }
        DEFINED.with_borrow_mut(|kept| {
            let known = kept
                .iter()
                .position(|(known, form, _)| Arc::ptr_eq(known, list) && *form == detail);
            if let Some(at) = known {
                kept.swap(at, at / 2);
                if let Some((.., packets)) = kept.get(at / 2) {
                    output.frames(packets);
                }
                return;
            }
            let start = output.len();
            for column in self.target.as_ref().unwrap_or(list).iter() {
                output.packet(|out| definition(column).encode(detail, out));
            }
            let packets = output.buffer_mut().get(start..).unwrap_or_default();
            if packets.len() <= LONGEST {
                kept.truncate(KEPT - 1);
                // In the middle, so that newcomers that take turns are still there when they come again.
                let middle = kept.len() / 2;
                kept.insert(middle, (Arc::clone(list), detail, packets.into()));
            }
        });
    }

    /// Appends rows.
    ///
    /// # Errors
    /// `Value` or `Protocol` when a row cannot be read or written in the client's form; rows before it are appended.
    pub(super) fn rows(&mut self, rows: &Rows, output: &mut Outbound) -> Result<()> {
        if self.forward {
            output.frames(&rows.bytes);
            return Ok(());
        }
        let Self { source, target, codec, fields, charset, .. } = self;
        let same = source.codec.form() == codec.form();
        let target = target.as_ref().unwrap_or(&source.list);
        let mut frame = BytesMut::new();
        rows.for_each(source, |body| {
            if same && body.is_ascii() {
                output.packet(|out| out.extend_from_slice(body));
                return Ok(());
            }
            source.codec.fields(&source.list, body, fields)?;
            let written = fields.iter().zip(source.list.iter()).map(|(range, column)| {
                let field = range.clone().and_then(|range| body.get(range));
                if same {
                    return Ok(Written::Raw(field.map(|field| charset.field(column, field))));
                }
                Ok(Written::Value(charset.value(source.codec.value(column, field)?)))
            });
            let written = written.collect::<Result<Vec<_>>>()?;
            let cells: Vec<_> = written.iter().map(Written::cell).collect();
            frame.clear();
            codec.write(target, &cells, &mut frame)?;
            output.frames(&frame);
            Ok(())
        })
    }
}

/// A field of a row that is written anew.
enum Written<'a> {
    Raw(Option<Cow<'a, [u8]>>),
    Value(Value),
}

impl Written<'_> {
    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Raw(raw) => Cell::Raw(raw.as_deref()),
            Self::Value(value) => Cell::Value(value),
        }
    }
}

/// The column as this protocol describes it.
fn target_column(column: &Column) -> Column {
    if column.native.family == FAMILY {
        return column.clone();
    }
    let fixed = definition_of(column);
    let native = Native {
        family: FAMILY,
        type_id: u32::from(fixed.type_id),
        length: i64::from(fixed.length),
        flags: fixed.flags,
        charset: fixed.charset,
        decimals: fixed.decimals,
        ..Native::default()
    };
    Column { native, ..column.clone() }
}

/// Appends the definition of a column as a client of this character set reads its names, with what its capabilities ask.
pub(super) fn put_definition(
    column: &Column,
    charset: Charset,
    capabilities: Capabilities,
    out: &mut BytesMut,
) {
    let plain = definition(column);
    let definition = ColumnDefinition {
        schema: &charset.write(plain.schema),
        table: &charset.write(plain.table),
        org_table: &charset.write(plain.org_table),
        name: &charset.write(plain.name),
        org_name: &charset.write(plain.org_name),
        ..plain
    };
    definition.encode(capabilities, out);
}

/// The definition of a column, without a default value.
fn definition(column: &Column) -> ColumnDefinition<'_> {
    ColumnDefinition {
        schema: column.schema.as_bytes(),
        table: column.table.as_bytes(),
        org_table: column.origin_table.as_bytes(),
        name: column.name.as_bytes(),
        org_name: column.origin_name.as_bytes(),
        extended: &column.extended,
        column: definition_of(column),
        default: None,
    }
}

#[cfg(test)]
mod tests {
    use pando_kernel::{Kind, NeutralCodec};

    use super::*;
    use crate::codec::{Inbound, TextRow};

    const PLAIN: Capabilities = Capabilities::PROTOCOL_41;

    /// What a client is told of these columns behind so many packets, with the numbers of its packets.
    fn told(list: &Arc<[Column]>, before: usize) -> (Vec<String>, Vec<u8>) {
        let columns = Columns { list: Arc::clone(list), codec: Arc::new(NeutralCodec) };
        let mut output = Outbound::new();
        (0..before).for_each(|_| output.payload(b"x"));
        Shape::new(columns, Form::Text, Charset::Utf8).define(PLAIN, &mut output);
        let mut inbound = Inbound::new(1 << 20);
        let bytes = std::mem::take(output.buffer_mut());
        let (mut names, mut numbers, mut at) = (Vec::new(), Vec::new(), 0);
        while let Some(header) = bytes.get(at..at + 4) {
            numbers.push(header[3]);
            at += 4 + usize::from(header[0]);
        }
        inbound.buffer_mut().unsplit(bytes);
        while let Some(packet) = inbound.next_packet().unwrap() {
            if let Ok(definition) = ColumnDefinition::decode(&packet.payload, PLAIN) {
                names.push(String::from_utf8_lossy(definition.name).into_owned());
            }
        }
        (names, numbers)
    }

    #[test]
    fn columns_that_were_told_before_are_told_the_same() {
        let lists: Vec<Arc<[Column]>> = (0..KEPT + 3)
            .map(|n| [Column::computed(format!("c{n}"), Kind::Int)].into_iter().collect())
            .collect();
        for round in 0..3 {
            for (n, list) in lists.iter().enumerate() {
                for (before, numbers) in [(0, vec![0]), (2, vec![0, 1, 2])] {
                    let expected = (vec![format!("c{n}")], numbers);
                    assert_eq!(told(list, before), expected, "{n} in round {round}");
                }
            }
        }
        DEFINED.with_borrow(|kept| assert_eq!(kept.len(), KEPT));
        let late: Vec<Arc<[Column]>> =
            (0..4).map(|n| [Column::computed(format!("l{n}"), Kind::Int)].into()).collect();
        for _ in 0..2 {
            late.iter().for_each(|list| assert_eq!(told(list, 0).0.len(), 1));
        }
        let is_kept =
            |list| DEFINED.with_borrow(|kept| kept.iter().any(|(own, ..)| Arc::ptr_eq(own, list)));
        assert!(late.iter().all(is_kept), "those that take turns find room");
        let wide: Arc<[Column]> =
            (0..300).map(|n| Column::computed(format!("c{n}"), Kind::Int)).collect();
        assert_eq!(told(&wide, 0).0.len(), 300);
        DEFINED.with_borrow(|kept| assert!(kept.iter().all(|(list, ..)| list.len() == 1)));
    }

    #[test]
    fn definitions_say_what_mariadb_says_besides_to_those_who_asked() {
        let json =
            Column { extended: (*b"\x01\x04json").into(), ..Column::computed("j", Kind::Text) };
        let list: Arc<[Column]> = [json].into();
        let asked = PLAIN | Capabilities::EXTENDED_METADATA;
        for charset in [Charset::Utf8, Charset::Latin1] {
            for capabilities in [PLAIN, asked, PLAIN, asked] {
                let columns = Columns { list: Arc::clone(&list), codec: Arc::new(NeutralCodec) };
                let mut output = Outbound::new();
                Shape::new(columns, Form::Text, charset).define(capabilities, &mut output);
                let payload = output.buffer_mut().split_off(4);
                let read = ColumnDefinition::decode(&payload, capabilities).unwrap();
                let expected = if capabilities == asked { &b"\x01\x04json"[..] } else { b"" };
                assert_eq!(read.extended, expected, "{charset:?}");
            }
        }
    }

    #[test]
    fn rows_of_another_form_are_written_anew() {
        let list = vec![Column::computed("n", Kind::Int), Column::computed("t", Kind::Text)];
        let source = Columns { list: list.into(), codec: Arc::new(NeutralCodec) };
        let mut bytes = BytesMut::new();
        let values = [Value::Int(7), Value::Text("x".into())];
        let cells: Vec<_> = values.iter().map(Cell::Value).collect();
        source.codec.write(&source.list, &cells, &mut bytes).unwrap();
        let rows = Rows { bytes: bytes.freeze(), count: 1 };
        let payload = |form| {
            let mut output = Outbound::new();
            Shape::new(source.clone(), form, Charset::Utf8).rows(&rows, &mut output).unwrap();
            let mut inbound = Inbound::new(1 << 20);
            inbound.buffer_mut().unsplit(std::mem::take(output.buffer_mut()));
            inbound.next_packet().unwrap().unwrap().payload
        };
        let mut fields = Vec::new();
        TextRow(&payload(Form::Text)).fields(2, &mut fields).unwrap();
        assert_eq!(fields, [Some(1..2), Some(3..4)]);
        let binary = payload(Form::Binary);
        assert_eq!(binary[..], [0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 1, b'x']);
    }
}
