//! Changes to a statement's text by byte span. What no edit touches arrives byte for byte.

use std::borrow::Cow;

use crate::span::Span;

/// A set of replacements over one text. Order of insertion does not matter, except that insertions at the same point keep theirs.
#[derive(Debug, Clone, Default)]
pub struct Edits {
    list: Vec<(Span, Cow<'static, str>)>,
}

impl Edits {
    /// Replaces `span` by `text`. An empty span inserts.
    pub fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.list.push((span, Cow::Owned(text.into())));
    }

    /// Replaces `span` by a text that is written down in the program: of a long INSERT's rows thousands are taken out so.
    pub fn replace_by(&mut self, span: Span, text: &'static str) {
        self.list.push((span, Cow::Borrowed(text)));
    }

    /// Puts texts before and behind `span`. Of several around the same range the first is the outermost.
    pub fn around(&mut self, span: Span, before: impl Into<String>, behind: impl Into<String>) {
        self.replace(Span::at(span.start), before);
        let end = Span::at(span.end);
        let others = self.list.iter().position(|(known, _)| *known == end);
        self.list.insert(others.unwrap_or(self.list.len()), (end, Cow::Owned(behind.into())));
    }

    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether a part of the text will be gone: it lies inside a replaced range.
    pub fn covers(&self, span: Span) -> bool {
        self.list.iter().any(|(edit, _)| edit.start <= span.start && span.end <= edit.end)
    }

    /// Whether a part of this range is replaced.
    pub fn touches(&self, span: Span) -> bool {
        let inside =
            |edit: &Span| edit.start < edit.end && edit.start < span.end && span.start < edit.end;
        self.list.iter().any(|(edit, _)| inside(edit))
    }

    /// The text with every edit applied, as [`Edits::pieces`] says.
    pub fn apply(&self, text: &str) -> String {
        let grown: usize = self.list.iter().map(|(_, t)| t.len()).sum();
        let mut out = String::with_capacity(text.len() + grown);
        for piece in self.pieces(text) {
            out.push_str(match piece {
                Piece::Kept(span) => span.of(text),
                Piece::New(text) => text,
            });
        }
        out
    }

    /// What the text becomes, piece by piece. Of two edits that overlap, the one that starts first (then: the longer) wins and the other is dropped:
    /// a room that removes a clause need not know who edited inside it.
    pub fn pieces(&self, text: &str) -> Vec<Piece<'_>> {
        let mut order: Vec<usize> = (0..self.list.len()).collect();
        order.sort_by_key(|&i| {
            let span = self.list[i].0;
            (span.start, span.start != span.end, std::cmp::Reverse(span.end), i)
        });
        let length = text.len() as u32;
        let mut pieces = Vec::with_capacity(2 * order.len() + 1);
        let mut done = 0;
        for i in order {
            let (span, new) = &self.list[i];
            if span.start < done || span.end > length {
                continue;
            }
            pieces.push(Piece::Kept(Span::new(done, span.start)));
            pieces.push(Piece::New(new));
            done = span.end;
        }
        pieces.push(Piece::Kept(Span::new(done, length)));
        pieces
    }
}

/// A piece of an edited text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// As it stood here.
    Kept(Span),
    /// What an edit put in.
    New(&'a str),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(edits: &[(u32, u32, &str)], expected: &str) {
        let mut all = Edits::default();
        for (start, end, text) in edits {
            all.replace(Span::new(*start, *end), *text);
        }
        assert_eq!(all.apply("select * from t where a"), expected);
    }

    #[test]
    fn untouched_text_arrives_byte_for_byte() {
        check(&[], "select * from t where a");
    }

    #[test]
    fn edits_apply_in_text_order_whatever_their_insertion_order() {
        check(&[(22, 23, "b"), (14, 15, "t_0")], "select * from t_0 where b");
    }

    #[test]
    fn insertions_at_one_point_keep_their_order() {
        check(&[(8, 8, ", x"), (8, 8, ", y")], "select *, x, y from t where a");
    }

    #[test]
    fn what_is_put_around_the_same_range_later_stands_inside() {
        let mut all = Edits::default();
        for mark in ["a", "b", "c"] {
            all.around(Span::new(7, 8), format!("{mark}("), format!("){mark}"));
        }
        assert_eq!(all.apply("select * from t"), "select a(b(c(*)c)b)a from t");
    }

    #[test]
    fn an_edit_inside_a_removed_clause_is_dropped() {
        check(&[(22, 23, "b"), (15, 23, "")], "select * from t");
    }
}
