//! CREATE.

use super::empty;
use crate::ast::{Define, DefineAction, ObjectKind};
use crate::keyword::Keyword;
use crate::parse::Result;
use crate::parse::parser::Parser;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn create(&mut self) -> Result<Define> {
        let temporary = self.create_modifiers()?;
        let word = self.keyword();
        let object = self.object_kind();
        let mut define = empty(DefineAction::Create, object);
        define.temporary = temporary;
        define.materialized = word == Keyword::MATERIALIZED;
        match object {
            ObjectKind::Table => self.create_table(&mut define)?,
            ObjectKind::Index if word == Keyword::STATISTICS => {
                self.create_statistics(&mut define)?;
            }
            ObjectKind::Index => self.create_index(&mut define)?,
            ObjectKind::View => self.create_view(&mut define)?,
            ObjectKind::Database | ObjectKind::Schema | ObjectKind::Sequence => {
                self.if_exists(&mut define);
                if self.is_identifier() && !self.is(Keyword::AUTHORIZATION) {
                    define.names.push(self.object_name("a name")?);
                }
                if object == ObjectKind::Sequence {
                    self.owned_by(&mut define)?;
                }
                self.skip_rest();
            }
            ObjectKind::Trigger => self.create_trigger(&mut define, word)?,
            ObjectKind::Routine | ObjectKind::User => {
                self.if_exists(&mut define);
                if self.is_identifier() {
                    define.names.push(self.object_name("a name")?);
                }
                self.skip_rest();
            }
            ObjectKind::Other => self.create_other(&mut define)?,
        }
        Ok(define)
    }

    /// What stands between CREATE and the kind of thing. Answers whether it is temporary.
    fn create_modifiers(&mut self) -> Result<bool> {
        use Keyword::*;
        let mut temporary = false;
        loop {
            match self.keyword() {
                OR if self.keyword_at(1) == REPLACE => self.skip(2),
                TEMP | TEMPORARY => {
                    temporary = true;
                    self.advance();
                }
                GLOBAL | LOCAL | UNLOGGED | UNIQUE | FULLTEXT | SPATIAL | RECURSIVE | ONLINE
                | OFFLINE => {
                    self.advance();
                }
                CONSTRAINT if self.keyword_at(1) == TRIGGER => self.skip(1),
                DEFINER if self.is_symbol_at(1, "=") => self.definer(),
                _ if self.is_word("algorithm") && self.is_symbol_at(1, "=") => self.skip(3),
                _ if self.is_word("sql") && self.keyword_at(1) == SECURITY => self.skip(3),
                _ if self.is_word("aggregate") && self.keyword_at(1) == FUNCTION => self.skip(1),
                _ => return Ok(temporary),
            }
        }
    }

    /// `` DEFINER = `u`@`h` ``, `DEFINER = CURRENT_USER()`.
    fn definer(&mut self) {
        self.skip(3);
        if self.token().kind == TokenKind::Variable {
            self.advance();
        }
        if self.is_symbol("(") && self.is_symbol_at(1, ")") {
            self.skip(2);
        }
    }

    /// `[CONCURRENTLY] [IF NOT EXISTS] [name] [USING m] ON [ONLY] t [USING m] (columns) …`.
    fn create_index(&mut self, define: &mut Define) -> Result<()> {
        use Keyword::*;
        self.eat(CONCURRENTLY);
        let name_at = self.end();
        self.if_exists(define);
        if self.is(ON) {
            define.missing_name_at = Some(name_at);
        } else {
            define.names.push(self.object_name("an index")?);
        }
        if self.eat(USING) {
            self.any_name("an index type")?;
        }
        self.expect(ON)?;
        if self.colons() && self.is(ONLY) && self.is_identifier_at(1) {
            self.advance();
        }
        define.on = Some(self.object_name("a table")?);
        if self.eat(USING) {
            self.any_name("an access method")?;
        }
        self.expect_symbol("(")?;
        define.index_columns = self.index_columns(define)?;
        while !self.is_end() {
            self.expression_item(define)?;
            self.advance();
        }
        Ok(())
    }

    /// The plain columns of `(a, b(10) DESC, lower(c))`; the opening parenthesis was taken.
    pub(super) fn index_columns(&mut self, define: &mut Define) -> Result<Vec<String>> {
        let mut columns = Vec::new();
        loop {
            let is_call = self.is_symbol_at(1, "(") && !self.commas();
            if self.is_identifier() && !is_call {
                columns.push(self.identifier("a column")?.value);
            }
            self.expression_item(define)?;
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect_symbol(")")?;
        Ok(columns)
    }

    /// `[(column, …)]`.
    pub(super) fn view_columns(&mut self, define: &mut Define) -> Result<()> {
        if self.eat_symbol("(") {
            loop {
                define.view_columns.push(self.identifier("a column")?.value);
                if !self.eat_symbol(",") {
                    break;
                }
            }
            self.expect_symbol(")")?;
        }
        Ok(())
    }

    /// `[IF NOT EXISTS] name [(columns)] [options] AS query [WITH …]`.
    fn create_view(&mut self, define: &mut Define) -> Result<()> {
        self.if_exists(define);
        define.names.push(self.object_name("a view")?);
        self.view_columns(define)?;
        while !self.is(Keyword::AS) {
            if self.is_end() {
                return self.unexpected("`AS`");
            }
            match self.is_symbol("(") {
                true => {
                    self.skip_group()?;
                }
                false => {
                    self.advance();
                }
            }
        }
        self.advance();
        define.query = Some(Box::new(self.query()?));
        self.skip_rest();
        Ok(())
    }

    /// `name … ON t …`; an event has no table.
    fn create_trigger(&mut self, define: &mut Define, word: Keyword) -> Result<()> {
        self.if_exists(define);
        define.names.push(self.object_name("a trigger")?);
        if word == Keyword::TRIGGER {
            while !self.is_end() && !self.is(Keyword::ON) {
                self.advance();
            }
            self.expect(Keyword::ON)?;
            define.on = Some(self.object_name("a table")?);
        }
        self.skip_rest();
        Ok(())
    }

    /// `[IF NOT EXISTS] [name] [(kinds)] ON columns FROM t`.
    fn create_statistics(&mut self, define: &mut Define) -> Result<()> {
        self.if_exists(define);
        if self.is_identifier() && !self.is(Keyword::ON) {
            define.names.push(self.object_name("a name")?);
        }
        while !self.is_end() && !self.eat(Keyword::FROM) {
            self.advance();
        }
        if self.is_identifier() {
            define.on = Some(self.object_name("a table")?);
        }
        self.skip_rest();
        Ok(())
    }

    /// POLICY, RULE, PUBLICATION, TYPE, EXTENSION, …
    fn create_other(&mut self, define: &mut Define) -> Result<()> {
        use Keyword::*;
        let of = self.advance().keyword;
        if self.is_word("mapping") {
            self.skip_rest();
            return Ok(());
        }
        self.if_exists(define);
        if self.is_identifier() {
            define.names.push(self.object_name("a name")?);
        }
        let before_table = match of {
            POLICY => ON,
            RULE => TO,
            PUBLICATION => TABLE,
            _ => {
                self.skip_rest();
                return Ok(());
            }
        };
        while !self.is_end() && !self.eat(before_table) {
            self.advance();
        }
        define.referenced = self.names();
        self.skip_rest();
        Ok(())
    }
}
