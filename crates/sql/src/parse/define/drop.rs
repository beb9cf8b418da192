//! DROP, and the lists of names TRUNCATE shares with it.

use super::empty;
use crate::ast::{Define, DefineAction, ObjectKind};
use crate::keyword::Keyword;
use crate::parse::Result;
use crate::parse::parser::Parser;

impl Parser<'_> {
    pub(super) fn drop(&mut self) -> Result<Define> {
        use Keyword::*;
        let temporary = self.eat_any(&[TEMPORARY, TEMP]);
        let object = self.object_kind();
        let mut define = empty(DefineAction::Drop, object);
        define.temporary = temporary;
        if object == ObjectKind::Other {
            self.advance();
        }
        self.eat(CONCURRENTLY);
        self.if_exists(&mut define);
        match object {
            ObjectKind::Table
            | ObjectKind::View
            | ObjectKind::Index
            | ObjectKind::Database
            | ObjectKind::Schema
            | ObjectKind::Sequence => self.dropped_names(&mut define)?,
            ObjectKind::Routine | ObjectKind::Trigger | ObjectKind::User | ObjectKind::Other => {
                define.names = self.names();
            }
        }
        let has_table =
            matches!(object, ObjectKind::Index | ObjectKind::Trigger | ObjectKind::Other);
        if has_table && self.eat(ON) && self.is_identifier() {
            define.on = Some(self.object_name("a table")?);
        }
        self.behind_names(&mut define);
        Ok(define)
    }

    /// `[ONLY] a [*], b`.
    pub(super) fn dropped_names(&mut self, define: &mut Define) -> Result<()> {
        loop {
            let start = self.start();
            if self.colons() && self.is(Keyword::ONLY) && self.is_identifier_at(1) {
                self.advance();
            }
            define.names.push(self.object_name("a name")?);
            if self.colons() {
                self.eat_symbol("*");
            }
            define.listed.push(self.since(start));
            if !self.eat_symbol(",") {
                return Ok(());
            }
        }
    }

    /// CASCADE, RESTRICT, RESTART IDENTITY and the like.
    pub(super) fn behind_names(&mut self, define: &mut Define) {
        while !self.is_end() {
            define.cascade |= self.is(Keyword::CASCADE);
            self.advance();
        }
    }
}
