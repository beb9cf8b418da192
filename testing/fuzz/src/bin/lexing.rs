//! Comments that some servers run, beside a model of the rules letter by letter: what is left of a text must be the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pando_fuzz::Choices;
use pando_sql::{Release, Settled, settle};

/// What texts are made of: everything that begins or ends something, and little else.
const PIECES: [&str; 40] = [
    "'", "\"", "`", "\\", "/*", "*/", "/*!", "/*M!", "/*!50000", "/*!50699 ", "/*!50700 ", "/*!80000 ", "/*!80031", "/*!80032 ", "/*!99999 ",
    "/*!999999", "/*!100100 ", "/*!101119", "/*!101120 ", "/*M!50700 ", "/*M!101120 ", "/*!080031 ", "/*!080032", "5", "0", " ", "\n", "\r",
    "--", "-- ", "#", "+", "*", "/", "!", ",", "a", "M", "é", "--\t",
];

const SERVERS: [Release; 4] = [
    Release { version: 80_031, is_fork: false },
    Release { version: 80_402, is_fork: false },
    Release { version: 50_744, is_fork: false },
    Release { version: 101_119, is_fork: true },
];

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices(data);
    let server = SERVERS[usize::from(choices.byte()) % SERVERS.len()];
    let text: String = choices.rest().iter().map(|at| PIECES[usize::from(*at) % PIECES.len()]).collect();
    let wanted = Model { text: text.as_bytes(), at: 0, server: Some(server) }.left();
    let settled = settle(&text, &pando_mysql::dialect::SYNTAX, &[server]);
    let found = match &settled {
        // A character no token starts with: it has nothing to say to that.
        Err(_) => return assert!(wanted.is_none() || text.contains(['\\', '!']) || text.contains("/*+"), "{text:?} was refused: {settled:?}"),
        Ok(Settled::Unsure) => panic!("{text:?} is not sure for {server:?}"),
        // Without a mark it is not looked into.
        Ok(Settled::AsIs) if wanted.is_none() => return,
        Ok(Settled::AsIs) => &text,
        Ok(Settled::Text(settled)) => settled,
    };
    assert!(wanted.is_some(), "{text:?} breaks off, and was read");
    // Nothing is for some servers only any more, so whoever reads it next need not know which.
    let left = Model { text: found.as_bytes(), at: 0, server: None }.left();
    assert_eq!(left, wanted, "{text:?} became {found:?}");
    assert!(left.is_some());
});

/// What a server reads, comments as one blank each; `None` for a text that breaks off.
struct Model<'a> {
    text: &'a [u8],
    at: usize,
    /// Without one no comment runs.
    server: Option<Release>,
}

impl Model<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn has(&self, word: &[u8]) -> bool {
        self.text.get(self.at..).is_some_and(|rest| rest.starts_with(word))
    }

    fn left(&mut self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let mut runs = false;
        while self.at < self.text.len() {
            let byte = self.byte(0);
            if matches!(byte, b'\'' | b'"' | b'`') {
                self.quoted(byte, &mut out)?;
            } else if byte == b'#' || self.has(b"--") && matches!(self.byte(2), 0..=b' ' | 127) {
                while self.at < self.text.len() && self.byte(0) != b'\n' {
                    self.at += 1;
                }
            } else if self.has(b"/*") {
                runs |= self.comment()?;
                out.push(b' ');
            } else if runs && self.has(b"*/") {
                runs = false;
                self.at += 2;
                out.push(b' ');
            } else {
                out.push(byte);
                self.at += 1;
            }
        }
        (!runs).then_some(out).map(squeezed)
    }

    fn quoted(&mut self, quote: u8, out: &mut Vec<u8>) -> Option<()> {
        out.push(quote);
        self.at += 1;
        loop {
            let byte = *self.text.get(self.at)?;
            let pair = byte == b'\\' && quote != b'`' || byte == quote && self.byte(1) == quote;
            let length = if pair { 2 } else { 1 };
            out.extend(self.text.get(self.at..self.at + length)?);
            self.at += length;
            if byte == quote && !pair {
                return Some(());
            }
        }
    }

    /// Passes over a comment, or over the mark of one that runs: true then.
    fn comment(&mut self) -> Option<bool> {
        let (fork, version) = match self.server {
            Some(server) => (server.is_fork, server.version),
            None => return self.flat().map(|()| false),
        };
        let own = self.byte(2) == b'M' && self.byte(3) == b'!';
        if !(self.byte(2) == b'!' || own && fork) {
            return self.flat().map(|()| false);
        }
        self.at += if own { 4 } else { 3 };
        let digits = (0..6).take_while(|at| self.byte(*at).is_ascii_digit()).count();
        let length = match digits {
            ..=4 => {
                return Some(true);
            }
            6 if fork || version >= 80_100 && matches!(self.byte(6), b' ' | 9..=13) => 6,
            _ => 5,
        };
        let number: u32 = (0..length).fold(0, |sum, at| sum * 10 + u32::from(self.byte(at) - b'0'));
        if number <= version && (!fork || own || !(50_700..=99_999).contains(&number)) {
            self.at += length;
            return Some(true);
        }
        while self.at < self.text.len() {
            if self.has(b"*/") {
                self.at += 2;
                return Some(false);
            }
            match self.has(b"/*") {
                true => self.flat()?,
                false => self.at += 1,
            }
        }
        None
    }

    fn flat(&mut self) -> Option<()> {
        self.at += 2;
        while self.at < self.text.len() {
            if self.has(b"*/") {
                self.at += 2;
                return Some(());
            }
            self.at += 1;
        }
        None
    }
}

/// How many comments there are beside each other says nothing.
fn squeezed(mut text: Vec<u8>) -> Vec<u8> {
    text.dedup_by(|next, before| *next == b' ' && *before == b' ');
    text
}
