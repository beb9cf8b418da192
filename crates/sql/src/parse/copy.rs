//! COPY: <https://www.postgresql.org/docs/current/sql-copy.html>, old option words included.

use super::Result;
use super::parser::Parser;
use crate::ast::{Copy, CopyDirection, Kind};
use crate::keyword::Keyword;

impl Parser<'_> {
    pub(super) fn copy(&mut self) -> Result<Kind> {
        use Keyword::*;
        self.advance();
        let mut copy = Copy {
            table: None,
            columns: None,
            query: None,
            change: None,
            direction: CopyDirection::ServerFile,
            options: Vec::new(),
            columns_at: 0,
            filter: None,
        };
        if self.is(BINARY) && self.is_identifier_at(1) {
            self.advance();
            copy.options.push(option("format", "binary"));
        }
        if self.is_symbol("(") {
            if self.copies_a_change() {
                copy.change = Some(self.skip_group()?);
            } else {
                self.advance();
                copy.query = Some(Box::new(self.query()?));
                self.expect_symbol(")")?;
            }
        } else {
            copy.table = Some(self.object_name("a table")?);
        }
        copy.columns_at = self.end();
        if self.is_symbol("(") {
            copy.columns = Some(self.identifiers_in_parentheses()?);
        }
        copy.direction = self.copy_direction()?;
        if copy.change.is_some() && copy.direction != CopyDirection::ToClient {
            return Ok(self.opaque());
        }
        self.copy_options(&mut copy.options)?;
        if self.eat(WHERE) {
            copy.filter = Some(self.expr()?);
        }
        Ok(Kind::Copy(Box::new(copy)))
    }

    /// `COPY (INSERT … RETURNING …) TO`: its rows come from a statement that changes rows.
    fn copies_a_change(&self) -> bool {
        use Keyword::*;
        matches!(self.keyword_at(1), INSERT | UPDATE | DELETE | MERGE)
    }

    fn copy_direction(&mut self) -> Result<CopyDirection> {
        use Keyword::*;
        let direction = match self.keyword() {
            FROM => CopyDirection::FromClient,
            TO => CopyDirection::ToClient,
            _ => return self.unexpected("`FROM` or `TO`"),
        };
        self.advance();
        if self.eat_any(&[STDIN, STDOUT]) {
            return Ok(direction);
        }
        self.eat(PROGRAM);
        self.string_text("`STDIN`, `STDOUT` or a file")?;
        Ok(CopyDirection::ServerFile)
    }

    fn copy_options(&mut self, options: &mut Vec<(String, String)>) -> Result<()> {
        if self.eat(Keyword::USING) && !self.is_word("delimiters") {
            return self.unexpected("`DELIMITERS`");
        }
        if self.eat_word("delimiters") {
            options.push(option("delimiter", &self.string_text("a delimiter")?));
        }
        self.eat(Keyword::WITH);
        if self.eat_symbol("(") {
            return self.bracketed_options(options);
        }
        while !self.is_end() && !self.is(Keyword::WHERE) {
            self.worded_option(options)?;
        }
        Ok(())
    }

    /// `(FORMAT csv, HEADER, NULL '', FORCE_QUOTE (a, b))`; the opening parenthesis was taken.
    fn bracketed_options(&mut self, options: &mut Vec<(String, String)>) -> Result<()> {
        loop {
            // One that is quoted has its own case, in which no server knows it.
            let name = self.any_name("an option")?.value;
            let value = if self.is_symbol(",") || self.is_symbol(")") {
                "true".to_owned()
            } else if self.is_symbol("(") {
                self.skip_group()?.of(self.text).to_owned()
            } else if self.eat_symbol("*") {
                "*".to_owned()
            } else {
                self.option_text()?
            };
            options.push((name, value));
            if !self.eat_symbol(",") {
                return self.expect_symbol(")");
            }
        }
    }

    /// `CSV`, `HEADER`, `DELIMITER AS ','`, `NULL AS ''`, `FORCE QUOTE a, b`.
    fn worded_option(&mut self, options: &mut Vec<(String, String)>) -> Result<()> {
        use Keyword::*;
        match self.keyword() {
            CSV | BINARY => {
                let format = self.advance();
                let format = self.text_of(format).to_ascii_lowercase();
                options.push(option("format", &format));
            }
            HEADER | FREEZE => {
                let name = self.advance();
                options.push((self.text_of(name).to_ascii_lowercase(), "true".to_owned()));
            }
            FORCE => {
                self.advance();
                let mut name = "force".to_owned();
                while self.is_any(&[NOT, NULL, QUOTE]) {
                    let word = self.advance();
                    name = format!("{name}_{}", self.text_of(word).to_ascii_lowercase());
                }
                let start = self.start();
                if !self.eat_symbol("*") {
                    self.names();
                }
                options.push((name, self.text_since(start)));
            }
            _ if self.eat_word("oids") => options.push(option("oids", "true")),
            _ => {
                let name = self.any_name("an option")?.value.to_ascii_lowercase();
                self.eat(AS);
                let value = self.string_text("an option's value")?;
                options.push((name, value));
            }
        }
        Ok(())
    }
}

fn option(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}
