//! Which statement it is, by its first words.

use super::Result;
use super::parser::Parser;
use crate::ast::Kind;
use crate::keyword::Keyword;
use crate::span::Span;

impl Parser<'_> {
    /// The statement that starts here.
    pub(super) fn statement(&mut self) -> Result<Kind> {
        use Keyword::*;
        if self.is_symbol("(") {
            return self.data_statement();
        }
        match self.keyword() {
            SELECT | VALUES | TABLE | WITH | INSERT | UPDATE | DELETE => self.data_statement(),
            REPLACE if self.commas() => self.data_statement(),
            BEGIN | START | COMMIT | ROLLBACK | ABORT | SAVEPOINT | RELEASE => self.transaction(),
            END if self.colons() => self.transaction(),
            XA if self.commas() => self.transaction(),
            SET => self.set(),
            RESET => self.reset(),
            SHOW => self.show(),
            EXPLAIN | DESCRIBE | DESC => self.explain(),
            USE => self.use_database(),
            DROP if self.keyword_at(1) == PREPARE => self.deallocate(),
            CREATE | ALTER | DROP | TRUNCATE | RENAME | COMMENT => self.define(),
            COPY if self.colons() => self.copy(),
            LOAD => self.load(),
            PREPARE => self.prepare(),
            EXECUTE => self.execute(),
            DEALLOCATE => self.deallocate(),
            DECLARE => self.declare(),
            FETCH | MOVE => self.fetch(),
            CLOSE => self.close(),
            LOCK => self.lock(),
            UNLOCK => self.unlock(),
            KILL => self.kill(),
            PREVIEW => self.preview(),
            _ => self.rarer_statement(),
        }
    }

    /// Statements about the server rather than about rows.
    fn rarer_statement(&mut self) -> Result<Kind> {
        use Keyword::*;
        match self.keyword() {
            ANALYZE | ANALYSE => self.analyze(),
            OPTIMIZE | CHECK | CHECKSUM | REPAIR | VACUUM | CLUSTER | REINDEX | REFRESH => {
                self.maintenance()
            }
            GRANT | REVOKE => self.grant(),
            MERGE => self.merge(),
            HANDLER => self.handler(),
            FLUSH => self.flush(),
            DISCARD | SECURITY | REASSIGN => Ok(self.two_words()),
            LISTEN | NOTIFY | UNLISTEN | CALL | DO | CHECKPOINT | IMPORT | INSTALL | UNINSTALL
            | PURGE | CHANGE | STOP | BINLOG | CACHE | HELP | SIGNAL | RESIGNAL | SHUTDOWN
            | RESTART | CLONE | GET => Ok(self.utility()),
            _ => Ok(self.opaque()),
        }
    }

    fn use_database(&mut self) -> Result<Kind> {
        self.advance();
        self.identifier("a database").map(Kind::Use)
    }

    /// From the next token to the end of the last one.
    pub(super) fn since_to_end(&self) -> Span {
        Span::new(self.start(), self.last_end())
    }

    /// A statement of which only the verb is known.
    pub(super) fn utility_rest(&mut self, verb: &str) -> Kind {
        self.skip_rest();
        Kind::Utility { verb: verb.to_owned(), tables: Vec::new(), index: None, merge: None }
    }
}
