//! One step through a line, as the servers' own readers go: `CopyReadLineText` and `CopyReadAttributes…` of PostgreSQL, `READ_INFO` of MySQL.
//! Cutting lines and reading fields go by the same steps, so that they cannot come to differ.

use pando_kernel::error::Result;

use super::form::{Form, Rules};
use super::malformed;

/// Where in a line one stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a line that is skipped.
    Skipped,
    /// In front of a line's prefix.
    Before,
    /// At a field's beginning.
    Begin,
    /// In a field, outside of quotes.
    Plain,
    /// Inside quotes.
    Quoted,
}

/// What stands next, and how many bytes it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The bytes behind these decide.
    Wait,
    /// A byte of the field as it stands there.
    Byte { take: usize, byte: u8 },
    /// A byte of the field that was escaped.
    Escaped { take: usize, byte: u8 },
    /// An escape with nothing behind it.
    Broken { take: usize },
    /// `\.`
    Mark { take: usize },
    /// Quotes open.
    Open { take: usize },
    /// Quotes close, and the field may go on.
    Close { take: usize },
    /// The field ends, directly behind its quotes or not.
    Field { take: usize, quoted: bool },
    /// The line ends, directly behind a field's quotes or not.
    Line { take: usize, quoted: bool },
}

/// How a stream's lines are read.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    pub(super) form: Form,
    /// How COPY's lines end: as the first one does.
    end: Option<&'static [u8]>,
    /// Bytes that may be more than themselves.
    special: Box<[bool; 256]>,
}

/// Whether data begins with a mark; `None` where that shows later.
fn begins(data: &[u8], mark: &[u8], last: bool) -> Option<bool> {
    if data.len() < mark.len() && mark.starts_with(data) && !last {
        return None;
    }
    Some(data.starts_with(mark))
}

impl Reader {
    pub(super) fn new(form: Form) -> Self {
        let mut special = Box::new([false; 256]);
        let firsts = [form.field.first(), form.line.first(), form.quote.as_ref()];
        let firsts = firsts.into_iter().flatten().chain(form.escape.as_ref());
        for byte in firsts.chain(b"\r\n") {
            special[usize::from(*byte)] = true;
        }
        Self { form, end: None, special }
    }

    /// What a line ends with, as far as that is known.
    pub(super) fn line_end(&self) -> &[u8] {
        self.end.unwrap_or(&self.form.line)
    }

    /// A line was cut: PostgreSQL goes by the first one's end.
    pub(super) fn learn(&mut self, line: &[u8]) {
        if self.end.is_none() && self.form.rules != Rules::Load {
            self.end = [&b"\r\n"[..], b"\n", b"\r"].into_iter().find(|end| line.ends_with(end));
        }
    }

    /// The step at the beginning of `data`, which is not empty. Nothing follows it where it is the `last`.
    ///
    /// # Errors
    /// 22P04 for a line end unlike the first.
    pub(super) fn step(&self, data: &[u8], place: Place, last: bool) -> Result<Step> {
        let Some(&byte) = data.first() else { return Ok(Step::Wait) };
        if !self.special[usize::from(byte)] && place != Place::Begin {
            return Ok(Step::Byte { take: 1, byte });
        }
        Ok(match self.form.rules {
            Rules::Text => match self.line(data, last)? {
                Some(step) => step,
                None if self.form.escape == Some(byte) => escaped_in_copy(data, last),
                None => self.plain(data, last),
            },
            Rules::Csv if place == Place::Quoted => self.quoted_in_csv(data, last),
            Rules::Csv if self.form.quote == Some(byte) => Step::Open { take: 1 },
            Rules::Csv => match self.line(data, last)? {
                Some(step) => step,
                None => self.plain(data, last),
            },
            Rules::Load if place == Place::Begin && self.form.quote == Some(byte) => {
                Step::Open { take: 1 }
            }
            Rules::Load => self.in_load(data, place, last),
        })
    }

    /// An end of a line of COPY.
    fn line(&self, data: &[u8], last: bool) -> Result<Option<Step>> {
        let unlike = |what: &str| {
            let quoted = if self.form.rules == Rules::Csv { "unquoted" } else { "literal" };
            Err(malformed(format!("{quoted} {what} found in data"), None))
        };
        let ends = |take| Ok(Some(Step::Line { take, quoted: false }));
        match (data, self.end) {
            ([b'\n', ..], None | Some(b"\n")) | ([b'\r', ..], Some(b"\r")) => ends(1),
            ([b'\n', ..], Some(_)) => unlike("newline"),
            ([b'\r', ..], Some(b"\n")) => unlike("carriage return"),
            ([b'\r', b'\n', ..], _) => ends(2),
            ([b'\r'], _) if !last => Ok(Some(Step::Wait)),
            ([b'\r', ..], None) => ends(1),
            ([b'\r', ..], Some(_)) => unlike("carriage return"),
            _ => Ok(None),
        }
    }

    /// A field's end or a byte of it.
    fn plain(&self, data: &[u8], last: bool) -> Step {
        match begins(data, &self.form.field, last) {
            None => Step::Wait,
            Some(true) => Step::Field { take: self.form.field.len(), quoted: false },
            Some(false) => byte(data),
        }
    }

    /// An escape counts before a quote and itself only, and may be the quote.
    fn quoted_in_csv(&self, data: &[u8], last: bool) -> Step {
        let (quote, escape) = (self.form.quote, self.form.escape);
        let first = data.first().copied();
        if first == escape {
            match data.get(1).copied() {
                None if !last => return Step::Wait,
                Some(next) if Some(next) == quote || Some(next) == escape => {
                    return Step::Byte { take: 2, byte: next };
                }
                None | Some(_) => {}
            }
        }
        if first == quote { Step::Close { take: 1 } } else { byte(data) }
    }

    fn in_load(&self, data: &[u8], place: Place, last: bool) -> Step {
        let form = &self.form;
        let first = data.first().copied();
        if first.is_some() && first == form.escape {
            match data.get(1).copied() {
                None if !last => return Step::Wait,
                None => return Step::Broken { take: 1 },
                // An escape that is the quote, too, is only ever written twice.
                Some(next)
                    if place == Place::Skipped
                        || form.escape != form.quote
                        || Some(next) == form.escape =>
                {
                    return Step::Escaped { take: 2, byte: special_in_load(next) };
                }
                Some(_) => {}
            }
        }
        if place == Place::Quoted {
            return if first == form.quote { self.at_quote(data, last) } else { byte(data) };
        }
        match begins(data, &form.line, last) {
            None => Step::Wait,
            Some(true) => Step::Line { take: form.line.len(), quoted: false },
            Some(false) if place == Place::Skipped => byte(data),
            Some(false) => self.plain(data, last),
        }
    }

    /// Quotes of LOAD DATA close where the field ends; anywhere else they are themselves.
    fn at_quote(&self, data: &[u8], last: bool) -> Step {
        let behind = data.get(1..).unwrap_or_default();
        if behind.first().copied() == self.form.quote {
            return Step::Byte { take: 2, byte: behind.first().copied().unwrap_or_default() };
        }
        if behind.is_empty() {
            return if last { Step::Close { take: 1 } } else { Step::Wait };
        }
        let (line, field) = (&self.form.line, &self.form.field);
        match (begins(behind, line, last), begins(behind, field, last)) {
            (Some(true), _) => Step::Line { take: 1 + line.len(), quoted: true },
            (None, _) => Step::Wait,
            (Some(false), Some(true)) => Step::Field { take: 1 + field.len(), quoted: true },
            (Some(false), None) => Step::Wait,
            (Some(false), Some(false)) => byte(data),
        }
    }
}

fn byte(data: &[u8]) -> Step {
    Step::Byte { take: 1, byte: data.first().copied().unwrap_or_default() }
}

/// <https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9.2>
fn escaped_in_copy(data: &[u8], last: bool) -> Step {
    let number = |from: usize, most: usize, base: u32| {
        let digits = data.iter().skip(from).take(most).map(|b| char::from(*b).to_digit(base));
        let digits: Vec<u32> = digits.map_while(|digit| digit).collect();
        let value = digits.iter().fold(0, |value, digit| value * base + digit);
        // Too large an octal number loses its highest bit there, too.
        let byte = u8::try_from(value & 0xff).unwrap_or_default();
        (digits.len(), byte)
    };
    let Some(&letter) = data.get(1) else {
        return if last { Step::Broken { take: 1 } } else { Step::Wait };
    };
    let (from, most, base) = match letter {
        b'0'..=b'7' => (1, 3, 8),
        b'x' => (2, 2, 16),
        b'.' => return Step::Mark { take: 2 },
        _ => return Step::Escaped { take: 2, byte: special_in_copy(letter) },
    };
    let (digits, byte) = number(from, most, base);
    if from + digits == data.len() && digits < most && !last {
        return Step::Wait;
    }
    match digits {
        0 => Step::Escaped { take: 2, byte: letter },
        digits => Step::Escaped { take: from + digits, byte },
    }
}

fn special_in_copy(letter: u8) -> u8 {
    match letter {
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        other => other,
    }
}

/// <https://dev.mysql.com/doc/refman/8.4/en/load-data.html#load-data-field-line-handling>
fn special_in_load(letter: u8) -> u8 {
    match letter {
        b'0' => 0,
        b'b' => 8,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'Z' => 26,
        other => other,
    }
}
