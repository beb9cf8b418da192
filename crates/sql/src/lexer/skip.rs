//! Comments: skipped, but for those that mean something.

use memchr::{memchr, memchr_iter, memchr2, memmem};

use super::{Lexer, Result, tag};
use crate::executable::{Verdict, verdict};
use crate::hint;
use crate::span::Span;

/// `/*!900000` and above: versions that no server has.
const NO_VERSION: u32 = 900_000;

impl Lexer<'_> {
    pub(super) fn starts_dash_comment(&self) -> bool {
        if self.byte(self.at + 1) != b'-' {
            return false;
        }
        // https://dev.mysql.com/doc/refman/8.4/en/comments.html: white space or a control character must follow there.
        !self.syntax.dash_comment_needs_space
            || self.bytes.get(self.at + 2).is_none_or(|&b| b <= b' ' || b == 0x7f)
    }

    /// To the end of the line, which a carriage return is in one language only. A zero byte ends it for the other's servers.
    pub(super) fn line_comment(&mut self) -> Result<()> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let end = match self.syntax.backslash_escapes {
            true => memchr(b'\n', rest),
            false => memchr2(b'\n', b'\r', rest),
        };
        let end = end.unwrap_or(rest.len());
        if let Some(zero) = memchr(0, rest.get(..end).unwrap_or(&[])) {
            self.at += zero;
            return Err(self.unexpected_character());
        }
        self.at += end;
        Ok(())
    }

    pub(super) fn block_comment(&mut self) -> Result<()> {
        let start = self.at;
        if self.syntax.executable_comments && self.takes_executable()? {
            return Ok(());
        }
        let end = match self.syntax.nested_comments {
            true => self.nested_end(start),
            false => self.flat_end(start),
        };
        let Some(end) = end else {
            return Err(self.unterminated("comment", start, "*/"));
        };
        let content = self.text.get(start + 2..end - 2).unwrap_or("");
        if content.starts_with('+') {
            if self.syntax.executable_comments && ends_inside_quotes(content) {
                // Servers that read hints look for the end of the name or string first.
                return Err(self.unterminated("hint", start, "its quote closed before `*/`"));
            }
            self.digest.piece(tag::HINT, content.as_bytes());
        } else if self.hint.is_none()
            && let Some(hint) = hint::read(content, Span::new(start as u32, end as u32))
        {
            self.digest.piece(tag::HINT, content.as_bytes());
            self.hint = Some(hint);
        }
        self.at = end;
        Ok(())
    }

    /// Takes a comment that servers of some versions run; false when it is none.
    fn takes_executable(&mut self) -> Result<bool> {
        let Some(releases) = self.settles else { return Ok(self.opens_executable()) };
        let start = self.at;
        match verdict(self.bytes.get(start..).unwrap_or(&[]), releases) {
            Verdict::Plain if self.byte(start + 2) == b'M' && self.byte(start + 3) == b'!' => {
                // It is no mark to these servers, and must be none to whoever reads the text next.
                self.at = self
                    .flat_end(start)
                    .ok_or_else(|| self.unterminated("comment", start, "*/"))?;
            }
            Verdict::Plain => return Ok(false),
            Verdict::Runs(length) => {
                self.executable = Some(start);
                self.at = start + length;
            }
            verdict @ (Verdict::Skipped | Verdict::Unsure) => {
                self.is_unsure |= verdict == Verdict::Unsure;
                let end = self.skipped_end(start);
                self.at = end.ok_or_else(|| self.unterminated("comment", start, "*/"))?;
            }
        }
        self.mark(start, self.at);
        Ok(true)
    }

    /// Notes what is to go from the text when comments are settled.
    pub(super) fn mark(&mut self, start: usize, end: usize) {
        if self.settles.is_some() {
            self.marks.push(Span::new(start as u32, end as u32));
        }
    }

    /// One past the end of a comment that is passed over: one level of others may stand in it.
    fn skipped_end(&self, start: usize) -> Option<usize> {
        let mut at = start + 2;
        loop {
            at += memchr2(b'*', b'/', self.bytes.get(at..)?)?;
            match (self.byte(at), self.byte(at + 1)) {
                (b'*', b'/') => return Some(at + 2),
                (b'/', b'*') => at = self.flat_end(at)?,
                _ => at += 1,
            }
        }
    }

    /// `/*!`, `/*!50100`, `/*M!100100`: moves behind the mark and stays inside until `*/`.
    fn opens_executable(&mut self) -> bool {
        let start = self.at;
        let bang = start + 2 + usize::from(self.byte(start + 2) == b'M');
        if self.byte(bang) != b'!' {
            return false;
        }
        let mut end = bang + 1;
        while self.byte(end).is_ascii_digit() && end < bang + 7 {
            end += 1;
        }
        // Servers skip what is for newer ones than they are, and none is that new: dumps hide lines for their own clients so.
        let digits = self.text.get(bang + 1..end).unwrap_or("");
        if digits.parse::<u32>().is_ok_and(|version| version >= NO_VERSION) {
            return false;
        }
        // The mark decides whether a server of some version runs the content, so it belongs to the digest.
        self.digest.piece(tag::MARK, self.bytes.get(start..end).unwrap_or(&[]));
        self.executable = Some(start);
        self.at = end;
        true
    }

    fn flat_end(&self, start: usize) -> Option<usize> {
        let length = memmem::find(self.bytes.get(start + 2..)?, b"*/")?;
        Some(start + 2 + length + 2)
    }

    fn nested_end(&self, start: usize) -> Option<usize> {
        let mut depth = 1u32;
        let mut from = start + 2;
        for offset in memchr_iter(b'/', self.bytes.get(start + 2..)?) {
            let at = start + 2 + offset;
            if at > from && self.byte(at - 1) == b'*' {
                depth -= 1;
                from = at + 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            } else if at >= from && self.byte(at + 1) == b'*' {
                depth += 1;
                from = at + 2;
            }
        }
        None
    }
}

/// Whether a quote is open where a hint's text breaks off.
fn ends_inside_quotes(content: &str) -> bool {
    let mut open = None;
    for byte in content.bytes().filter(|byte| matches!(byte, b'`' | b'"' | b'\'')) {
        match open {
            None => open = Some(byte),
            Some(quote) if quote == byte => open = None,
            Some(_) => {}
        }
    }
    open.is_some()
}
