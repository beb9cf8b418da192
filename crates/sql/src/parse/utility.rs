//! Statements of which the verb and the tables are known: LOCK, KILL, maintenance, rights, notifications.

use super::Result;
use super::parser::Parser;
use crate::ast::{Kind, ObjectName};
use crate::keyword::Keyword;
use crate::token::TokenKind;

impl Parser<'_> {
    /// `LOCK TABLES a READ, b AS c WRITE`, `LOCK [TABLE] [ONLY] a, b IN … MODE`.
    pub(super) fn lock(&mut self) -> Result<Kind> {
        use Keyword::*;
        self.advance();
        if self.is(INSTANCE) {
            return Ok(self.utility_rest("LOCK INSTANCE"));
        }
        if !self.eat_any(&[TABLE, TABLES]) && self.commas() {
            return self.unexpected("`TABLES`");
        }
        let mut tables = Vec::new();
        loop {
            if self.colons() && self.is(ONLY) && self.is_identifier_at(1) {
                self.advance();
            }
            tables.push(self.object_name("a table")?);
            // The alias, READ or WRITE, or `*`.
            while !self.is_end() && !self.is_symbol(",") && !self.is(IN) {
                self.advance();
            }
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.skip_rest();
        Ok(Kind::Lock(tables))
    }

    pub(super) fn unlock(&mut self) -> Result<Kind> {
        self.advance();
        if self.eat_any(&[Keyword::TABLE, Keyword::TABLES]) {
            return Ok(Kind::Lock(Vec::new()));
        }
        Ok(self.utility_rest("UNLOCK"))
    }

    /// `KILL [HARD | SOFT] [CONNECTION | QUERY] number`; any other operand leaves only the verb.
    pub(super) fn kill(&mut self) -> Result<Kind> {
        use Keyword::*;
        self.advance();
        self.eat_any(&[HARD, SOFT]);
        let query_only = self.eat(QUERY);
        if !query_only {
            self.eat(CONNECTION);
        }
        if self.is_end() {
            return self.unexpected("the number of a session");
        }
        let token = self.token();
        let id = self.text_of(token).parse::<u64>().ok();
        match id {
            Some(id) if self.peek(1).kind == TokenKind::End => {
                self.advance();
                Ok(Kind::Kill { id, query_only })
            }
            Some(_) | None => Ok(self.utility_rest("KILL")),
        }
    }

    /// `PREVIEW statement`.
    pub(super) fn preview(&mut self) -> Result<Kind> {
        self.advance();
        if self.is_end() {
            return self.unexpected("a statement");
        }
        let rest = self.since_to_end();
        self.skip_rest();
        Ok(Kind::Preview(rest))
    }

    /// ANALYZE of a table, or of a statement where that is the word for EXPLAIN ANALYZE.
    pub(super) fn analyze(&mut self) -> Result<Kind> {
        use Keyword::*;
        let runs = match self.keyword_at(1) {
            FORMAT | SELECT | INSERT | REPLACE | UPDATE | DELETE | WITH => self.commas(),
            _ => false,
        };
        if runs {
            return self.explain().map(|kind| match kind {
                Kind::Explain { body, inner, .. } => Kind::Explain { body, inner, analyze: true },
                other => other,
            });
        }
        self.maintenance()
    }

    /// ANALYZE, OPTIMIZE, CHECK, CHECKSUM, REPAIR, VACUUM, CLUSTER, REINDEX, REFRESH: words and options, then tables.
    pub(super) fn maintenance(&mut self) -> Result<Kind> {
        use Keyword::*;
        let first = self.advance();
        let mut verb = self.text_of(first).to_ascii_uppercase();
        if self.is_symbol("(") {
            self.skip_group()?;
        }
        self.eat_any(&[LOCAL]);
        self.eat_word("no_write_to_binlog");
        while self.colons() && self.is_any(&[FULL, FREEZE, VERBOSE, ANALYZE, ANALYSE]) {
            self.advance();
        }
        if self.eat_any(&[TABLE, TABLES]) {
            verb.push_str(" TABLE");
        } else if self.eat_all(&[MATERIALIZED, VIEW]) {
            verb.push_str(" MATERIALIZED VIEW");
        } else if first.keyword == REINDEX && self.eat(INDEX) {
            self.eat(CONCURRENTLY);
            let index = Some(self.object_name("an index")?);
            self.skip_rest();
            return Ok(Kind::Utility { verb, tables: Vec::new(), index, merge: None });
        } else if first.keyword == REINDEX {
            // SCHEMA, DATABASE, SYSTEM: what they name is no table.
            self.skip_rest();
        }
        self.eat(CONCURRENTLY);
        let mut tables = self.maintained_tables()?;
        let index = match first.keyword == CLUSTER {
            true => self.clustering(&mut tables)?,
            false => None,
        };
        self.skip_rest();
        Ok(Kind::Utility { verb, tables, index, merge: None })
    }

    /// Behind the name in `CLUSTER t USING index`, and in `CLUSTER index ON t`, where it was taken for the table's.
    fn clustering(&mut self, tables: &mut Vec<ObjectName>) -> Result<Option<ObjectName>> {
        if self.eat(Keyword::USING) {
            return self.object_name("an index").map(Some);
        }
        if !self.eat(Keyword::ON) {
            return Ok(None);
        }
        let index = tables.pop();
        tables.push(self.object_name("a table")?);
        Ok(index)
    }

    /// `a, b (c, d)`.
    fn maintained_tables(&mut self) -> Result<Vec<ObjectName>> {
        let mut tables = Vec::new();
        while self.is_identifier() {
            tables.push(self.object_name("a table")?);
            if self.is_symbol("(") {
                self.skip_group()?;
            }
            if !self.eat_symbol(",") {
                break;
            }
        }
        Ok(tables)
    }

    /// `GRANT … ON [TABLE] a, b TO …`, `REVOKE … ON … FROM …`.
    pub(super) fn grant(&mut self) -> Result<Kind> {
        use Keyword::*;
        let first = self.advance();
        let verb = self.text_of(first).to_ascii_uppercase();
        while !self.is_end() && !self.is(ON) {
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
        let explicit = self.eat(TABLE);
        const NO_TABLES: [Keyword; 12] = [
            ALL, SEQUENCE, DATABASE, DOMAIN, FOREIGN, FUNCTION, PROCEDURE, ROUTINE, LANGUAGE,
            SCHEMA, TABLESPACE, TYPE,
        ];
        let tables = match explicit || !self.is_any(&NO_TABLES) {
            true => self.names(),
            false => Vec::new(),
        };
        // `ON db.*` was read as the name `db`; it is no table.
        let tables = if self.is_symbol(".") { Vec::new() } else { tables };
        self.skip_rest();
        Ok(Kind::Utility { verb, tables, index: None, merge: None })
    }

    /// DISCARD ALL and the like: two words of verb.
    pub(super) fn two_words(&mut self) -> Kind {
        let first = self.advance();
        let mut verb = self.text_of(first).to_ascii_uppercase();
        if self.token().kind == TokenKind::Word {
            let second = self.advance();
            verb = format!("{verb} {}", self.text_of(second).to_ascii_uppercase());
        }
        self.utility_rest(&verb)
    }

    /// `FLUSH TABLES a, b WITH READ LOCK`, `FLUSH PRIVILEGES`.
    pub(super) fn flush(&mut self) -> Result<Kind> {
        self.advance();
        self.eat(Keyword::LOCAL);
        self.eat_word("no_write_to_binlog");
        let tables = match self.eat_any(&[Keyword::TABLE, Keyword::TABLES]) {
            true => self.maintained_tables()?,
            false => Vec::new(),
        };
        self.skip_rest();
        Ok(Kind::Utility { verb: "FLUSH".to_owned(), tables, index: None, merge: None })
    }

    /// `HANDLER t OPEN`.
    pub(super) fn handler(&mut self) -> Result<Kind> {
        self.advance();
        let tables = vec![self.object_name("a table")?];
        self.skip_rest();
        Ok(Kind::Utility { verb: "HANDLER".to_owned(), tables, index: None, merge: None })
    }

    /// One word of verb, nothing else known.
    pub(super) fn utility(&mut self) -> Kind {
        let first = self.advance();
        let verb = self.text_of(first).to_ascii_uppercase();
        self.utility_rest(&verb)
    }
}
