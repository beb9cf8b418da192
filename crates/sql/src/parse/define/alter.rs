//! ALTER.

use super::empty;
use crate::ast::{Define, DefineAction, InnerKind, ObjectKind};
use crate::keyword::Keyword;
use crate::parse::Result;
use crate::parse::parser::Parser;

impl Parser<'_> {
    pub(super) fn alter(&mut self) -> Result<Define> {
        use Keyword::*;
        while self.commas() && self.is_any(&[ONLINE, OFFLINE, IGNORE]) {
            self.advance();
        }
        if self.commas() {
            self.view_modifiers();
        }
        let of = self.keyword();
        let object = self.object_kind();
        let mut define = empty(DefineAction::Alter, object);
        if object == ObjectKind::Other {
            self.advance();
        }
        self.if_exists(&mut define);
        match object {
            ObjectKind::Table => {
                self.alter_table(&mut define)?;
                return Ok(define);
            }
            ObjectKind::View => self.alter_view(&mut define)?,
            ObjectKind::Index
            | ObjectKind::Database
            | ObjectKind::Schema
            | ObjectKind::Sequence
            | ObjectKind::Routine
            | ObjectKind::Trigger
            | ObjectKind::User
            | ObjectKind::Other => self.alter_named(&mut define, of)?,
        }
        if object == ObjectKind::Sequence {
            self.owned_by(&mut define)?;
        }
        self.skip_rest();
        Ok(define)
    }

    /// `ALGORITHM = …`, `DEFINER = …`, `SQL SECURITY …` in front of VIEW, EVENT and the like.
    fn view_modifiers(&mut self) {
        use Keyword::*;
        if !self.is_word("algorithm") && !self.is_word("sql") && !self.is(DEFINER) {
            return;
        }
        while !self.is_end() && !self.is_any(&[VIEW, EVENT, PROCEDURE, FUNCTION]) {
            self.advance();
        }
    }

    /// An object's name, the table behind ON, the new name behind RENAME TO.
    fn alter_named(&mut self, define: &mut Define, of: Keyword) -> Result<()> {
        use Keyword::*;
        // ALTER DEFAULT PRIVILEGES, ALTER SYSTEM: no name follows.
        if matches!(of, DEFAULT) || !self.is_identifier() {
            return Ok(());
        }
        define.names.push(self.object_name("a name")?);
        if matches!(of, TRIGGER | POLICY | RULE) && self.eat(ON) {
            define.on = Some(self.object_name("a table")?);
        }
        if self.eat_all(&[RENAME, TO]) {
            define.renamed_to.push(self.object_name("a name")?);
        }
        if of == PUBLICATION {
            while !self.is_end() && !self.eat(TABLE) {
                self.advance();
            }
            define.referenced = self.names();
        }
        Ok(())
    }

    fn alter_view(&mut self, define: &mut Define) -> Result<()> {
        use Keyword::*;
        define.names.push(self.object_name("a view")?);
        if self.eat_all(&[RENAME, TO]) {
            define.renamed_to.push(self.object_name("a view")?);
            return Ok(());
        }
        self.view_columns(define)?;
        if self.eat(AS) {
            define.query = Some(Box::new(self.query()?));
        }
        Ok(())
    }

    /// `[ONLY] t [*] action, action`.
    fn alter_table(&mut self, define: &mut Define) -> Result<()> {
        use Keyword::*;
        if self.are(&[ALL, IN]) {
            self.skip_rest();
            return Ok(());
        }
        if self.colons() && self.is(ONLY) && self.is_identifier_at(1) {
            self.advance();
        }
        define.names.push(self.object_name("a table")?);
        if self.colons() {
            self.eat_symbol("*");
        }
        loop {
            self.alter_action(define)?;
            if !self.eat_symbol(",") {
                break;
            }
        }
        // PARTITION BY … and what else follows without a comma.
        self.skip_rest();
        Ok(())
    }

    fn alter_action(&mut self, define: &mut Define) -> Result<()> {
        use Keyword::*;
        if self.is_word("inherit") && self.is_identifier_at(1) {
            return self.rest_of_action(define);
        }
        match self.advance().keyword {
            ADD => self.add_action(define)?,
            DROP => self.drop_action(define)?,
            RENAME => self.rename_action(define)?,
            ATTACH | DETACH if self.eat(PARTITION) => {
                define.referenced.push(self.object_name("a table")?);
            }
            NO if self.eat_word("inherit") => define.referenced.push(self.object_name("a table")?),
            ALTER if self.eat(CONSTRAINT) || self.commas() && self.eat(CHECK) => {
                self.inner_name(define, InnerKind::Constraint)?
            }
            ALTER if self.commas() && self.eat(INDEX) => {
                self.inner_name(define, InnerKind::Index)?
            }
            CLUSTER if self.eat(ON) => self.inner_name(define, InnerKind::Index)?,
            _ if self.eat_all(&[IDENTITY, USING, INDEX]) => {
                self.inner_name(define, InnerKind::Index)?
            }
            _ if self.eat_all(&[CONSTRAINT]) => self.inner_name(define, InnerKind::Constraint)?,
            _ => {}
        }
        self.rest_of_action(define)
    }

    /// The rest of an action up to its comma; tables named on the way are kept.
    fn rest_of_action(&mut self, define: &mut Define) -> Result<()> {
        use Keyword::*;
        while !self.is_end() && !self.is_symbol(",") {
            if self.is_symbol("(") {
                self.expression_group(define)?;
                continue;
            }
            if self.colons() && self.eat(USING) {
                self.expression_item(define)?;
                continue;
            }
            let names_table = self.is(REFERENCES)
                || self.are(&[WITH, TABLE])
                || self.is_word("inherit") && self.is_identifier_at(1);
            if !names_table {
                self.advance();
                continue;
            }
            self.eat(WITH);
            self.advance();
            define.referenced.push(self.object_name("a table")?);
        }
        Ok(())
    }

    /// Behind ADD: a column, several in parentheses, a key, a constraint, a partition.
    fn add_action(&mut self, define: &mut Define) -> Result<()> {
        use Keyword::*;
        if self.is(PARTITION) {
            return Ok(());
        }
        // Columns are reported for CREATE TABLE only.
        let before = define.columns.len();
        self.eat(COLUMN);
        self.eat_all(&[IF, NOT, EXISTS]);
        let added = match self.is_symbol("(") {
            true => self.table_elements(define),
            false => self.table_element(define),
        };
        define.columns.truncate(before);
        added
    }

    fn drop_action(&mut self, define: &mut Define) -> Result<()> {
        use Keyword::*;
        let kind = match self.keyword() {
            CONSTRAINT => InnerKind::Constraint,
            CHECK if self.commas() => InnerKind::Constraint,
            INDEX | KEY if self.commas() => InnerKind::Index,
            FOREIGN if self.keyword_at(1) == KEY => {
                self.advance();
                InnerKind::Constraint
            }
            _ => return Ok(()),
        };
        self.advance();
        self.eat_all(&[IF, EXISTS]);
        self.inner_name(define, kind)
    }

    fn rename_action(&mut self, define: &mut Define) -> Result<()> {
        use Keyword::*;
        let kind = match self.keyword() {
            TO | AS => {
                self.advance();
                define.renamed_to.push(self.object_name("a table")?);
                return Ok(());
            }
            CONSTRAINT => InnerKind::Constraint,
            INDEX | KEY if self.commas() => InnerKind::Index,
            // `RENAME [COLUMN] a TO b`, or `RENAME new_name`.
            COLUMN => return Ok(()),
            _ if self.commas() && self.keyword_at(1) != TO => {
                self.eat_symbol("=");
                define.renamed_to.push(self.object_name("a table")?);
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.advance();
        self.eat_all(&[IF, EXISTS]);
        self.inner_name(define, kind)?;
        self.expect(TO)?;
        self.inner_name(define, kind)
    }
}
