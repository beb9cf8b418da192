//! Definitions: kind and names, as far as routing needs them.

mod alter;
mod create;
mod drop;
mod qualified;
mod table;

use super::Result;
use super::parser::Parser;
use crate::ast::{Define, DefineAction, InnerKind, InnerName, Kind, ObjectKind, ObjectName};
use crate::keyword::Keyword;

impl Parser<'_> {
    /// CREATE, ALTER, DROP, TRUNCATE, RENAME or COMMENT is next.
    pub(super) fn define(&mut self) -> Result<Kind> {
        use Keyword::*;
        let define = match self.advance().keyword {
            CREATE => self.create()?,
            ALTER => self.alter()?,
            DROP => self.drop()?,
            TRUNCATE => self.truncate()?,
            RENAME => self.rename()?,
            _ => self.comment()?,
        };
        Ok(Kind::Define(Box::new(define)))
    }

    /// The kind of thing the next words name; takes them.
    fn object_kind(&mut self) -> ObjectKind {
        use Keyword::*;
        let kind = match self.keyword() {
            TABLE | TABLES => ObjectKind::Table,
            INDEX => ObjectKind::Index,
            STATISTICS if self.colons() => ObjectKind::Index,
            VIEW => ObjectKind::View,
            DATABASE => ObjectKind::Database,
            SCHEMA if self.commas() => ObjectKind::Database,
            SCHEMA => ObjectKind::Schema,
            SEQUENCE => ObjectKind::Sequence,
            FUNCTION | PROCEDURE | ROUTINE => ObjectKind::Routine,
            TRIGGER | EVENT => ObjectKind::Trigger,
            USER if self.is_word_at(1, "mapping") => return ObjectKind::Other,
            USER | ROLE => ObjectKind::User,
            MATERIALIZED if self.keyword_at(1) == VIEW => {
                self.advance();
                ObjectKind::View
            }
            FOREIGN if self.keyword_at(1) == TABLE => {
                self.advance();
                ObjectKind::Table
            }
            _ => return ObjectKind::Other,
        };
        self.advance();
        kind
    }

    /// IF EXISTS, IF NOT EXISTS.
    fn if_exists(&mut self, define: &mut Define) {
        use Keyword::*;
        define.conditional |= self.eat_all(&[IF, EXISTS]) || self.eat_all(&[IF, NOT, EXISTS]);
    }

    fn truncate(&mut self) -> Result<Define> {
        use Keyword::*;
        let mut define = empty(DefineAction::Truncate, ObjectKind::Table);
        self.eat(TABLE);
        self.dropped_names(&mut define)?;
        self.behind_names(&mut define);
        Ok(define)
    }

    /// `RENAME TABLE a TO b, c TO d`.
    fn rename(&mut self) -> Result<Define> {
        use Keyword::*;
        let object = self.object_kind();
        let mut define = empty(DefineAction::Rename, object);
        if object != ObjectKind::Table {
            self.skip_rest();
            return Ok(define);
        }
        self.if_exists(&mut define);
        loop {
            define.names.push(self.object_name("a table")?);
            if self.eat(WAIT) {
                self.advance();
            } else {
                self.eat(NOWAIT);
            }
            self.expect(TO)?;
            define.renamed_to.push(self.object_name("a table")?);
            if !self.eat_symbol(",") {
                return Ok(define);
            }
        }
    }

    /// `COMMENT ON TABLE t IS '…'`, `COMMENT ON COLUMN t.c IS '…'`.
    fn comment(&mut self) -> Result<Define> {
        use Keyword::*;
        self.expect(ON)?;
        let (of_column, of_constraint) = (self.is(COLUMN), self.is(CONSTRAINT));
        let has_table = self.is_any(&[CONSTRAINT, TRIGGER, RULE, POLICY]);
        let object = self.object_kind();
        let mut define = empty(DefineAction::Comment, object);
        if object == ObjectKind::Other {
            self.advance();
        }
        if self.is_identifier() {
            let name = self.object_name("a name")?;
            if of_column {
                define.on = self::of_column(&name);
            }
            define.names.push(name);
        }
        if has_table && self.eat(ON) && !self.is(DOMAIN) {
            define.on = Some(self.object_name("a table")?);
        }
        if of_constraint && let Some(name) = define.names.first().and_then(|name| name.parts.last())
        {
            let (name, kind) = (name.clone(), InnerKind::Constraint);
            define.inner_names.push(InnerName { name, kind });
        }
        self.skip_rest();
        Ok(define)
    }

    /// `OWNED BY t.c` among a sequence's options: the table.
    fn owned_by(&mut self, define: &mut Define) -> Result<()> {
        while !self.is_end() && !self.is_word("owned") {
            self.advance();
        }
        if self.is_end() {
            return Ok(());
        }
        self.advance();
        self.expect(Keyword::BY)?;
        let column = self.object_name("a column")?;
        define.on = of_column(&column);
        Ok(())
    }

    /// An index or constraint name inside a definition.
    fn inner_name(&mut self, define: &mut Define, kind: InnerKind) -> Result<()> {
        let name = self.identifier("a name")?;
        define.inner_names.push(InnerName { name, kind });
        Ok(())
    }
}

/// The table in front of a column's name, if there is one.
fn of_column(column: &ObjectName) -> Option<ObjectName> {
    let (_, table) = column.parts.split_last()?;
    let span = table.first()?.span.to(table.last()?.span);
    Some(ObjectName { parts: table.to_vec(), span })
}

fn empty(action: DefineAction, object: ObjectKind) -> Define {
    Define {
        action,
        object,
        names: Vec::new(),
        listed: Vec::new(),
        on: None,
        referenced: Vec::new(),
        renamed_to: Vec::new(),
        inner_names: Vec::new(),
        columns: Vec::new(),
        query: None,
        conditional: false,
        temporary: false,
        materialized: false,
        cascade: false,
        missing_name_at: None,
        index_columns: Vec::new(),
        view_columns: Vec::new(),
        qualified: Vec::new(),
    }
}
