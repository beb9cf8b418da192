//! Transaction verbs of both languages.

use super::Result;
use super::parser::Parser;
use crate::ast::{Kind, Transaction};
use crate::keyword::Keyword;

impl Parser<'_> {
    /// BEGIN, START TRANSACTION, COMMIT, END, ROLLBACK, ABORT, SAVEPOINT, RELEASE or XA is next.
    pub(super) fn transaction(&mut self) -> Result<Kind> {
        use Keyword::*;
        let transaction = match self.advance().keyword {
            BEGIN => {
                if self.are(&[NOT, ATOMIC]) {
                    return Ok(self.opaque());
                }
                self.eat_any(&[WORK, TRANSACTION]);
                Transaction::Begin(self.modes()?)
            }
            START => {
                if !self.eat(TRANSACTION) {
                    return Ok(self.utility_rest("START"));
                }
                Transaction::Begin(self.modes()?)
            }
            COMMIT | END => {
                if self.eat(PREPARED) {
                    self.skip_rest();
                    Transaction::TwoPhase
                } else {
                    self.eat_any(&[WORK, TRANSACTION]);
                    Transaction::Commit { chain: self.completion()? }
                }
            }
            ROLLBACK | ABORT => self.rollback()?,
            SAVEPOINT => Transaction::Savepoint(self.any_name("a savepoint")?),
            RELEASE => {
                self.eat(SAVEPOINT);
                Transaction::Release(self.any_name("a savepoint")?)
            }
            _ => {
                self.skip_rest();
                Transaction::TwoPhase
            }
        };
        Ok(Kind::Transaction(transaction))
    }

    fn rollback(&mut self) -> Result<Transaction> {
        use Keyword::*;
        if self.eat(PREPARED) {
            self.skip_rest();
            return Ok(Transaction::TwoPhase);
        }
        self.eat_any(&[WORK, TRANSACTION]);
        if self.eat(TO) {
            self.eat(SAVEPOINT);
            return Ok(Transaction::RollbackTo(self.any_name("a savepoint")?));
        }
        Ok(Transaction::Rollback { chain: self.completion()? })
    }

    /// `[AND [NO] CHAIN] [[NO] RELEASE]`.
    fn completion(&mut self) -> Result<bool> {
        use Keyword::*;
        let mut chain = false;
        if self.eat(AND) {
            chain = !self.eat(NO);
            self.expect(CHAIN)?;
        }
        if self.is(NO) {
            self.advance();
            self.expect(RELEASE)?;
        } else {
            self.eat(RELEASE);
        }
        Ok(chain)
    }

    /// The rest as upper-cased words, commas dropped.
    pub(super) fn modes(&mut self) -> Result<Vec<String>> {
        use crate::token::TokenKind;
        let mut words = Vec::new();
        while !self.is_end() {
            if self.eat_symbol(",") {
                continue;
            }
            if !matches!(self.token().kind, TokenKind::Word | TokenKind::String) {
                return self.unexpected("a transaction mode");
            }
            let token = self.advance();
            words.push(self.text_of(token).to_ascii_uppercase());
        }
        Ok(words)
    }
}
