//! MySQL rows in text and binary form, over columns of every type.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pando_fuzz::{Choices, walk_rows};
use pando_kernel::{Column, Native};
use pando_mysql::row::{BinaryRows, TextRows};
use pando_mysql::types::{ColumnType, FAMILY};

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices(data);
    let count = usize::from(choices.byte() % 6) + 1;
    let columns: Vec<Column> = (0..count).map(|_| column(&mut choices)).collect();
    let header = choices.byte();
    let bytes = choices.rest();
    walk_rows(&TextRows, &columns, bytes);
    walk_rows(&BinaryRows, &columns, bytes);
    // A frame with the right length, so that the fields are reached without the fuzzer guessing it.
    let Ok(length) = u32::try_from(bytes.len()) else { return };
    let mut frame = length.to_le_bytes();
    frame[3] = header;
    let frame = [&frame, bytes].concat();
    walk_rows(&TextRows, &columns, &frame);
    walk_rows(&BinaryRows, &columns, &frame);
});

fn column(choices: &mut Choices<'_>) -> Column {
    let type_id = choices.byte();
    let flags = u16::from(choices.byte()) | u16::from(choices.byte()) << 8;
    let charset = if flags & 1 == 0 { 45 } else { 63 };
    let kind = ColumnType::from_byte(type_id).unwrap_or(ColumnType::VarString).kind(flags, charset);
    let mut column = Column::computed("c", kind);
    let decimals = choices.byte();
    let type_id = type_id.into();
    column.native =
        Native { family: FAMILY, type_id, flags, charset, decimals, ..Native::default() };
    column
}
