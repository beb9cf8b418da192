//! What clients did and were told: one JSON line per transaction.

use std::fmt;
use std::io::BufRead;

use serde_json::Value as Json;

/// The longest line that is read, in bytes.
const LINE_BYTES: u64 = 64 << 20;
/// The most transactions of a history.
const TRANSACTIONS: usize = 20_000_000;

/// Names a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u64);

/// An element of a list; nobody appends it to the same list twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub u64);

/// What the client was told about the transaction's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is committed.
    Committed,
    /// It is undone for certain.
    Aborted,
    /// Nothing: the connection was lost, or the answer leaves it open.
    Unknown,
}

/// One operation, in the order of the transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Appended a value to a list.
    Append(Key, Value),
    /// Read a whole list; an absent one is empty.
    Read(Key, Vec<Value>),
}

/// One transaction as its client saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// Who ran it; a process runs one transaction at a time.
    pub process: u64,
    /// When its first statement was about to be sent, in any unit that all transactions share.
    pub begin: u64,
    /// When its end was known; `u64::MAX` where it never was.
    pub end: u64,
    /// What the client was told at the end.
    pub outcome: Outcome,
    /// What it did, without what was refused.
    pub ops: Vec<Op>,
}

/// Transactions in any order; a witness calls them by their place, from T1 on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// All of them, those that failed, too.
    pub transactions: Vec<Transaction>,
}

/// Why a history can't be read: the line, from 1 on, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    line: usize,
    why: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for Fault {}

impl History {
    /// Reads lines such as
    /// `{"process": 1, "begin": 10, "end": 20, "outcome": "ok", "ops": [["append", 5, 1], ["read", 6, [3, 4]]]}`.
    /// The outcome is `ok`, `fail` or `unknown`; `end` may be null.
    ///
    /// # Errors
    /// The first line that is not so, or is longer than 64 MiB; a history of more than 20 million transactions.
    pub fn read(mut input: impl BufRead) -> Result<Self, Fault> {
        let mut transactions = Vec::new();
        let mut text = Vec::new();
        for line in 1.. {
            let fault = |why: String| Fault { line, why };
            text.clear();
            let got = std::io::Read::take(&mut input, LINE_BYTES + 1).read_until(b'\n', &mut text);
            if got.map_err(|error| fault(error.to_string()))? == 0 {
                break;
            }
            if text.len() as u64 > LINE_BYTES || line > TRANSACTIONS {
                return Err(fault("longer than a history may be".to_owned()));
            }
            let json = serde_json::from_slice(&text).map_err(|error| fault(error.to_string()))?;
            transactions.push(transaction(&json).map_err(fault)?);
        }
        Ok(Self { transactions })
    }
}

fn transaction(json: &Json) -> Result<Transaction, String> {
    let outcome = match json["outcome"].as_str() {
        Some("ok") => Outcome::Committed,
        Some("fail") => Outcome::Aborted,
        Some("unknown") => Outcome::Unknown,
        _ => {
            return Err(format!("expected `outcome` ok, fail or unknown, got {}", json["outcome"]));
        }
    };
    let ops = json["ops"].as_array().ok_or("expected a list of `ops`")?;
    let transaction = Transaction {
        process: number(&json["process"], "process")?,
        begin: number(&json["begin"], "begin")?,
        end: if json["end"].is_null() { u64::MAX } else { number(&json["end"], "end")? },
        outcome,
        ops: ops.iter().map(op).collect::<Result<_, _>>()?,
    };
    if transaction.end < transaction.begin {
        return Err("it ends before it begins".to_owned());
    }
    Ok(transaction)
}

fn op(json: &Json) -> Result<Op, String> {
    let key = Key(number(&json[1], "the key of an operation")?);
    match json[0].as_str() {
        Some("append") => Ok(Op::Append(key, Value(number(&json[2], "an appended value")?))),
        Some("read") => {
            let list = json[2].as_array().ok_or("expected a list of values that were read")?;
            let value = |json| number(json, "a value that was read").map(Value);
            Ok(Op::Read(key, list.iter().map(value).collect::<Result<_, _>>()?))
        }
        _ => Err(format!("expected an operation append or read, got {json}")),
    }
}

fn number(json: &Json, what: &str) -> Result<u64, String> {
    json.as_u64().ok_or_else(|| format!("expected a whole number as {what}, got {json}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let told = match History::read(text.as_bytes()) {
            Ok(history) => format!("{} read", history.transactions.len()),
            Err(fault) => fault.to_string(),
        };
        assert!(told.contains(expected), "{told}");
    }

    #[test]
    fn a_line_is_a_transaction() {
        let text = r#"{"process": 1, "begin": 10, "end": null, "outcome": "ok", "ops": [["append", 5, 1], ["read", 6, [3, 4]]]}"#;
        let history = History::read(text.as_bytes()).expect("readable");
        let ops = vec![Op::Append(Key(5), Value(1)), Op::Read(Key(6), vec![Value(3), Value(4)])];
        let outcome = Outcome::Committed;
        let expected = Transaction { process: 1, begin: 10, end: u64::MAX, outcome, ops };
        assert_eq!(history.transactions, [expected]);
    }

    #[test]
    fn bad_lines_are_named() {
        let good = r#"{"process": 1, "begin": 1, "end": 2, "outcome": "ok", "ops": []}"#;
        check(&format!("{good}\n{good}\n"), "2 read");
        check(&format!("{good}\n{{"), "line 2: EOF");
        check("\u{fffd}", "line 1: expected value");
        check(&good.replace("ok", "maybe"), "outcome");
        check(&good.replace("\"end\": 2", "\"end\": 0"), "ends before");
        check(&good.replace(": 1,", ": -1,"), "as process");
        check(&good.replace("[]", "[[\"write\", 1, 2]]"), "append or read");
        check(&good.replace("[]", "[[\"append\", 1]]"), "an appended value");
        check(&good.replace("[]", "[[\"read\", 1, [1.5]]]"), "a value that was read");
        check("3", "outcome");
    }
}
