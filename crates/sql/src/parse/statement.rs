//! Which statement it is, by its first words.

use super::Result;
use super::cursor::Parser;
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
        Kind::Utility { verb: verb.to_owned(), tables: Vec::new() }
    }
}
