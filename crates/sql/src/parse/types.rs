//! Type names, skipped but for where they end.

use super::Result;
use super::parser::Parser;
use crate::keyword::Keyword;
use crate::span::Span;

impl Parser<'_> {
    /// `int`, `varchar(10)`, `double precision`, `timestamp(3) with time zone`, `int[]`, `pg_catalog.text`.
    pub(super) fn type_name(&mut self) -> Result<Span> {
        use Keyword::*;
        let start = self.start();
        self.eat(SETOF);
        let first = self.keyword();
        self.any_name("a type")?;
        while self.is_symbol(".") {
            self.advance();
            self.any_name("a type behind the dot")?;
        }
        match first {
            DOUBLE => {
                self.eat(PRECISION);
            }
            NATIONAL => {
                self.eat_any(&[CHAR, CHARACTER]);
                self.eat(VARYING);
            }
            CHAR | CHARACTER | BIT | NCHAR => {
                self.eat(VARYING);
            }
            INTERVAL => self.interval_fields()?,
            _ => {}
        }
        if self.is_symbol("(") {
            self.skip_group()?;
        }
        if matches!(first, TIME | TIMESTAMP)
            && self.is_any(&[WITH, WITHOUT])
            && self.keyword_at(1) == TIME
        {
            self.skip(3);
        }
        self.array_suffix()?;
        if self.is_symbol("%") && self.keyword_at(1) == TYPE {
            self.skip(2);
        }
        Ok(self.since(start))
    }

    fn array_suffix(&mut self) -> Result<()> {
        while self.is_symbol("[") {
            self.skip_group()?;
        }
        if self.eat(Keyword::ARRAY) && self.is_symbol("[") {
            self.skip_group()?;
        }
        Ok(())
    }
}
