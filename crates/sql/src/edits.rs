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

    /// Inserts a text in front of all others that are inserted at its point so far.
    pub fn insert_first(&mut self, at: u32, text: impl Into<String>) {
        let point = Span::at(at);
        let others = self.list.iter().position(|(known, _)| *known == point);
        let place = others.unwrap_or(self.list.len());
        self.list.insert(place, (point, Cow::Owned(text.into())));
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

    /// Adds the edits of another set, behind those that are there.
    pub fn append(&mut self, other: &Self) {
        self.list.extend(other.list.iter().cloned());
    }

    /// Whether an edit of one set and one of the other are about the same part of the text, so that applying both would lose one of them. What lies inside a
    /// part that the other only takes out may be lost. A set that is compared with itself clashes where it changes one part twice.
    pub fn clash(&self, other: &Self) -> bool {
        if self.list.is_empty() || other.list.is_empty() {
            return false;
        }
        let own = self.list.iter().map(|edit| (edit, false));
        let mut all: Vec<_> = own.chain(other.list.iter().map(|edit| (edit, true))).collect();
        // What encloses comes before what it encloses.
        all.sort_by_key(|((span, text), _)| {
            (span.start, std::cmp::Reverse(span.end), !takes_out(text))
        });
        let is_same = std::ptr::eq(self, other);
        if is_same {
            all.retain(|(_, is_other)| !is_other);
        }
        let (mut replaced, mut removed) = ([Span::at(0); 2], [Span::at(0); 2]);
        for ((span, text), is_other) in all {
            let by = usize::from(is_other);
            let against = if is_same { by } else { 1 - by };
            let loses = match span.start == span.end {
                // At the edge of a range nothing is lost.
                true => replaced[against].start < span.start && span.start < replaced[against].end,
                false => {
                    span.start < replaced[against].end
                        || span.start < removed[against].end && removed[against].end < span.end
                }
            };
            if loses {
                return true;
            }
            let ranges = if takes_out(text) { &mut removed } else { &mut replaced };
            if ranges[by].end < span.end && span.start < span.end {
                ranges[by] = *span;
            }
        }
        false
    }

    /// A part of the text with the edits applied that lie inside of it.
    pub fn apply_within(&self, span: Span, text: &str) -> String {
        let inside = |edit: &Span| span.start <= edit.start && edit.end <= span.end;
        let list = self.list.iter().filter(|(edit, _)| inside(edit));
        let moved = |edit: &Span| Span::new(edit.start - span.start, edit.end - span.start);
        let own = Self { list: list.map(|(edit, new)| (moved(edit), new.clone())).collect() };
        own.apply(span.of(text))
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

/// Whether nothing stands in the place of what an edit replaces, but perhaps a comma between what is left.
fn takes_out(text: &str) -> bool {
    text.chars().all(|letter| letter == ',' || letter == ' ')
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
    fn a_part_of_the_text_has_the_edits_inside_of_it() {
        let mut all = Edits::default();
        all.replace(Span::new(14, 15), "t_0");
        all.replace(Span::new(22, 23), "b");
        assert_eq!(all.apply_within(Span::new(14, 15), "select * from t where a"), "t_0");
        assert_eq!(all.apply_within(Span::new(9, 21), "select * from t where a"), "from t_0 where");
        assert_eq!(all.apply_within(Span::new(0, 8), "select * from t where a"), "select *");
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
    fn two_sets_clash_where_one_would_lose_an_edit() {
        let set = |edits: &[(u32, u32, &str)]| {
            let mut all = Edits::default();
            for (start, end, text) in edits {
                all.replace(Span::new(*start, *end), *text);
            }
            all
        };
        for (one, other, expected) in [
            (&[(7, 8, "a")][..], &[(14, 15, "b")][..], false),
            (&[(7, 8, "a")], &[(7, 8, "b")], true),
            (&[(7, 8, "a")], &[(0, 15, "b")], true),
            (&[(7, 15, "a")], &[(14, 18, "b")], true),
            // What is taken out takes along what lies in it, and no more.
            (&[(7, 8, "a")], &[(0, 15, "")], false),
            (&[(7, 8, "a")], &[(7, 8, "")], false),
            (&[(7, 15, "a")], &[(8, 18, "")], true),
            (&[(7, 15, "a")], &[(0, 12, "")], true),
            // Insertions.
            (&[(7, 7, "a")], &[(7, 8, "b")], false),
            (&[(8, 8, "a")], &[(7, 8, "b")], false),
            (&[(8, 8, "a")], &[(7, 9, "b")], true),
            (&[(8, 8, "a")], &[(8, 8, "b")], false),
        ] {
            let (one, other) = (set(one), set(other));
            assert_eq!(one.clash(&other), expected, "{one:?} {other:?}");
            assert_eq!(other.clash(&one), expected, "{other:?} {one:?}");
            assert!(!one.clash(&one));
        }
        let twice = set(&[(7, 8, "a"), (7, 8, "b")]);
        assert!(twice.clash(&twice));
    }

    #[test]
    fn an_edit_inside_a_removed_clause_is_dropped() {
        check(&[(22, 23, "b"), (15, 23, "")], "select * from t");
    }
}
