//! LOAD DATA: <https://dev.mysql.com/doc/refman/8.4/en/load-data.html>.

use super::Result;
use super::parser::Parser;
use crate::ast::{Ident, Kind, Literal, Load};
use crate::keyword::Keyword;
use crate::literal::literal;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn load(&mut self) -> Result<Kind> {
        use Keyword::*;
        self.advance();
        if !self.eat(DATA) {
            // LOAD XML, LOAD INDEX INTO CACHE; LOAD 'library' in the other language.
            return Ok(if self.token().kind.is_string() {
                self.utility_rest("LOAD")
            } else {
                self.opaque()
            });
        }
        self.eat_any(&[LOW_PRIORITY]);
        self.eat_word("concurrent");
        let local = self.eat(LOCAL);
        self.expect(INFILE)?;
        let file = self.string_text("a file name")?;
        let duplicates = if self.is_any(&[REPLACE, IGNORE]) {
            let word = self.advance();
            Some(self.text_of(word).to_ascii_uppercase())
        } else {
            None
        };
        self.expect(INTO)?;
        self.expect(TABLE)?;
        let mut load = Load {
            local,
            file,
            duplicates,
            table: self.object_name("a table")?,
            options: Vec::new(),
            columns: None,
            assignments: Vec::new(),
            columns_at: 0,
        };
        self.partitions(&mut Vec::new())?;
        self.load_options(&mut load.options)?;
        load.columns_at = self.end();
        if self.is_symbol("(") {
            load.columns = Some(self.load_columns()?);
        }
        if self.eat(SET) {
            load.assignments = self.column_assignments()?;
        }
        Ok(Kind::Load(Box::new(load)))
    }

    fn load_options(&mut self, options: &mut Vec<(String, String)>) -> Result<()> {
        use Keyword::*;
        if self.eat_all(&[CHARACTER, SET]) || self.eat(CHARSET) {
            options.push(("character set".to_owned(), self.option_text()?));
        }
        if self.eat_any(&[FIELDS, COLUMNS]) {
            while self.is_any(&[TERMINATED, OPTIONALLY, ENCLOSED, ESCAPED]) {
                self.delimiter_option("fields", options)?;
            }
        }
        if self.eat(LINES) {
            while self.is_any(&[TERMINATED, STARTING]) {
                self.delimiter_option("lines", options)?;
            }
        }
        if self.eat(IGNORE) {
            options.push(("ignore".to_owned(), self.option_text()?));
            if !self.eat_any(&[LINES, ROWS]) {
                return self.unexpected("`LINES` or `ROWS`");
            }
        }
        Ok(())
    }

    /// `TERMINATED BY '…'`, `OPTIONALLY ENCLOSED BY '…'`.
    fn delimiter_option(&mut self, of: &str, options: &mut Vec<(String, String)>) -> Result<()> {
        if self.eat(Keyword::OPTIONALLY) {
            options.push((format!("{of} optionally"), "true".to_owned()));
        }
        let word = self.advance();
        let name = format!("{of} {} by", self.text_of(word).to_ascii_lowercase());
        self.expect(Keyword::BY)?;
        options.push((name, self.delimiter()?));
        Ok(())
    }

    /// A string of any form, `0x2C` among them.
    fn delimiter(&mut self) -> Result<String> {
        let token = self.token();
        let octets = match token.kind {
            TokenKind::HexString | TokenKind::BitString => literal(self.text, &token, self.syntax),
            _ => return self.string_text("a delimiter"),
        };
        let text = match octets {
            Some(Literal::Bytes(octets)) => String::from_utf8(octets).ok(),
            _ => None,
        };
        let Some(text) = text else { return self.unexpected("a delimiter in UTF-8") };
        self.advance();
        Ok(text)
    }

    /// `(a, @b, c)`.
    fn load_columns(&mut self) -> Result<Vec<Ident>> {
        self.expect_symbol("(")?;
        let mut columns = Vec::new();
        while !self.is_symbol(")") {
            if self.token().kind == TokenKind::Variable {
                let token = self.advance();
                let value = self.text_of(token).to_owned();
                columns.push(Ident {
                    span: token.span,
                    value,
                    quoted: false,
                    exact: self.syntax.exact_tables,
                });
            } else {
                columns.push(self.any_name("a column")?);
            }
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect_symbol(")")?;
        Ok(columns)
    }
}
