//! A shop over two embedded storage units, and as much of a PostgreSQL client as the tests need.

use std::path::Path;
use std::time::Duration;

use pando_embed::{Channel, Options, Read, Written};

/// Options of a shop whose table `t` is split over two SQLite files in `folder`.
pub(crate) fn shop(folder: &Path) -> Options {
    let file = |name: &str| format!("jdbc:sqlite:{}", folder.join(name).display());
    let text = format!(
        "databaseName: shop
dataSources:
  ds_0: {{url: \"{}\"}}
  ds_1: {{url: \"{}\"}}
rules:
- !SHARDING
  tables:
    t:
      actualDataNodes: ds_${{0..1}}.t
      databaseStrategy: {{standard: {{shardingColumn: id, shardingAlgorithmName: db}}}}
  shardingAlgorithms:
    db: {{type: INLINE, props: {{algorithm-expression: \"ds_${{id % 2}}\"}}}}
",
        file("0.db"),
        file("1.db"),
    );
    Options { text: Some(("shop.yaml".to_owned(), text)), ..Options::default() }
}

/// The start-up message.
pub(crate) fn startup() -> Vec<u8> {
    let body = b"\0\x03\0\0user\0anybody\0database\0shop\0\0";
    let mut message = u32::try_from(body.len() + 4).unwrap().to_be_bytes().to_vec();
    message.extend(body);
    message
}

/// A simple query.
pub(crate) fn query(sql: &str) -> Vec<u8> {
    let mut message = vec![b'Q'];
    message.extend(u32::try_from(sql.len() + 5).unwrap().to_be_bytes());
    message.extend(sql.as_bytes());
    message.push(0);
    message
}

/// What came until the session was ready again: first values of rows, and messages of errors.
pub(crate) fn answer(channel: &Channel) -> Vec<String> {
    let mut told = Vec::new();
    loop {
        let head = exactly(channel, 5);
        let length = u32::from_be_bytes(head[1..5].try_into().unwrap());
        let body = exactly(channel, usize::try_from(length).unwrap() - 4);
        match head[0] {
            b'Z' => return told,
            b'D' => {
                let size = u32::from_be_bytes(body[2..6].try_into().unwrap());
                let end = 6 + usize::try_from(size).unwrap();
                told.push(String::from_utf8(body[6..end].to_vec()).unwrap());
            }
            b'E' => told.push(format!("error {}", String::from_utf8_lossy(&body))),
            _ => {}
        }
    }
}

fn exactly(channel: &Channel, count: usize) -> Vec<u8> {
    let (mut bytes, mut done) = (vec![0; count], 0);
    while done < count {
        match channel.read(&mut bytes[done..], Some(Duration::from_secs(60))).unwrap() {
            Read::Bytes(more) => done += more,
            other @ (Read::End | Read::TimedOut) => {
                panic!("{other:?} after {done} of {count} bytes")
            }
        }
    }
    bytes
}

/// Sends it and takes the answer.
pub(crate) fn ask(channel: &Channel, sql: &str) -> Vec<String> {
    assert_eq!(channel.write(&query(sql), None).unwrap(), Written::All);
    answer(channel)
}
