//! PostgreSQL rows, over columns of every type in both formats.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pando_fuzz::{Choices, walk_rows};
use pando_kernel::{Column, Format, Native};
use pando_postgres::row::DataRows;
use pando_postgres::types;

const OIDS: [u32; 24] = [
    16, 17, 18, 19, 20, 21, 23, 25, 26, 114, 700, 701, 705, 1042, 1043, 1082, 1083, 1114, 1184, 1186,
    1266, 1700, 2950, 3802,
];

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices(data);
    let count = usize::from(choices.byte() % 6) + 1;
    let columns: Vec<Column> = (0..count).map(|_| column(&mut choices)).collect();
    let bytes = choices.rest();
    walk_rows(&DataRows, &columns, bytes);
    // One frame with the right length and count, so that the fields are reached without the fuzzer guessing them.
    let Ok(length) = u32::try_from(bytes.len() + 6) else { return };
    let mut frame = vec![b'D'];
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(&[0, count as u8]);
    frame.extend_from_slice(bytes);
    walk_rows(&DataRows, &columns, &frame);
    // One value that fills the row.
    let Ok(length) = u32::try_from(bytes.len()) else { return };
    let mut frame = vec![b'D'];
    frame.extend_from_slice(&(length + 10).to_be_bytes());
    frame.extend_from_slice(&[0, 1]);
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(bytes);
    walk_rows(&DataRows, &columns[..1], &frame);
});

fn column(choices: &mut Choices<'_>) -> Column {
    let choice = choices.byte();
    let oid = OIDS[usize::from(choice >> 1) % OIDS.len()];
    let mut column = Column::computed("c", types::kind(oid));
    column.format = if choice & 1 == 0 { Format::Text } else { Format::Binary };
    column.native = Native { type_id: oid, ..Native::default() };
    column
}
