//! Expressions of a definition: what its columns are qualified with, as far as it can be told without reading them.

use crate::ast::{Define, InnerKind, InnerName};
use crate::keyword::Keyword;
use crate::parse::Result;
use crate::parse::parser::{Mark, Parser};
use crate::token::TokenKind;

impl Parser<'_> {
    /// A bracketed group, whatever stands inside.
    pub(super) fn expression_group(&mut self, define: &mut Define) -> Result<()> {
        let from = self.mark();
        if self.colons() && self.is_behind_word("nextval") {
            self.advance();
            let token = self.token();
            if token.kind == TokenKind::String {
                let (name, kind) = (self.ident_of(token), InnerKind::SequenceText);
                define.inner_names.push(InnerName { name, kind });
            }
            self.rewind(from);
        }
        self.skip_group()?;
        self.keep_qualified(define, from)
    }

    /// Everything up to a comma or closing bracket of this level.
    pub(super) fn expression_item(&mut self, define: &mut Define) -> Result<()> {
        let from = self.mark();
        self.skip_item()?;
        self.keep_qualified(define, from)
    }

    /// Goes over what was taken since `from` once more. Servers allow no sub-queries there, so a dotted name is a column, a function,
    /// or what stands behind `::`, AS and COLLATE.
    fn keep_qualified(&mut self, define: &mut Define, from: Mark) -> Result<()> {
        use Keyword::*;
        let end = self.end();
        self.rewind(from);
        let mut may_be = true;
        while self.start() < end {
            if self.colons() && self.is_word("sequence") && self.is_word_at(1, "name") {
                self.skip(2);
                let name = self.object_name("a sequence")?;
                let last = name.parts.into_iter().last();
                let inner = |name| InnerName { name, kind: InnerKind::Sequence };
                define.inner_names.extend(last.map(inner));
                continue;
            }
            if !self.is_identifier() {
                may_be = !self.is_symbol("::") && !self.is_any(&[AS, COLLATE]);
                self.advance();
                continue;
            }
            let name = self.object_name("a column")?;
            if may_be && name.parts.len() > 1 && !self.is_symbol("(") {
                define.qualified.push(name);
            }
            may_be = true;
        }
        Ok(())
    }
}
