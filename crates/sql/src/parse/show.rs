//! SHOW, DESCRIBE and EXPLAIN.

use super::Result;
use super::parser::Parser;
use crate::ast::{Kind, Show};
use crate::keyword::Keyword;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn show(&mut self) -> Result<Kind> {
        self.advance();
        let mut show =
            Show { what: String::new(), table: None, database: None, like: None, filter: None };
        if self.colons() && self.shows_setting() {
            show.what = self.shown_setting()?;
        } else {
            self.show_words(&mut show)?;
        }
        Ok(Kind::Show(Box::new(show)))
    }

    /// One dotted name, or one of the settings of several words.
    fn shows_setting(&self) -> bool {
        use Keyword::*;
        let mut ahead = 1;
        while self.is_symbol_at(ahead, ".") {
            ahead += 2;
        }
        self.peek(ahead).kind == TokenKind::End
            || self.are(&[TIME, ZONE])
            || self.are(&[SESSION, AUTHORIZATION])
            || self.are(&[TRANSACTION]) && self.is_word_at(1, "isolation")
    }

    fn shown_setting(&mut self) -> Result<String> {
        use Keyword::*;
        if self.eat_all(&[TIME, ZONE]) {
            return Ok("timezone".to_owned());
        }
        if self.eat_all(&[SESSION, AUTHORIZATION]) {
            return Ok("session_authorization".to_owned());
        }
        if self.is(TRANSACTION) && self.is_word_at(1, "isolation") {
            self.skip(3);
            return Ok("transaction_isolation".to_owned());
        }
        if self.eat(ALL) {
            return Ok("all".to_owned());
        }
        self.setting_name()
    }

    /// `[words] [FROM | IN name] [FROM | IN database] [LIKE '…' | WHERE …] [anything]`.
    fn show_words(&mut self, show: &mut Show) -> Result<()> {
        use Keyword::*;
        let mut words = Vec::new();
        while self.token().kind == TokenKind::Word
            && !self.is_any(&[FROM, IN, LIKE, WHERE, LIMIT, FOR])
        {
            let token = self.advance();
            words.push(self.text_of(token).to_ascii_uppercase());
            if token.keyword == COUNT && self.is_symbol("(") {
                self.skip_group()?;
            }
            if words.first().is_some_and(|first| first == "CREATE")
                && words.len() > 1
                && token.keyword != IF
            {
                return self.show_create(words, show);
            }
        }
        show.what = words.join(" ");
        if show.what == "ENGINE" || words.is_empty() {
            self.skip_rest();
            return Ok(());
        }
        self.shown_from(&words, show)?;
        if self.is(LIKE) && self.peek(1).kind.is_string() {
            self.advance();
            show.like = Some(self.string_text("a pattern")?);
        } else if self.eat(WHERE) {
            show.filter = Some(self.expr()?);
        }
        self.skip_rest();
        Ok(())
    }

    fn shown_from(&mut self, words: &[String], show: &mut Show) -> Result<()> {
        use Keyword::*;
        const OF_A_TABLE: [&str; 5] = ["COLUMNS", "FIELDS", "INDEX", "INDEXES", "KEYS"];
        let of_table = words.last().is_some_and(|last| OF_A_TABLE.contains(&last.as_str()));
        if self.is_any(&[FROM, IN]) && of_table {
            self.advance();
            let mut name = self.object_name("a table")?;
            if let (Some(database), true) = (name.parts.first().cloned(), name.parts.len() > 1) {
                show.database = Some(database);
            }
            name.span = name.parts.iter().fold(name.span, |span, part| span.to(part.span));
            show.table = Some(name);
        }
        if self.is_any(&[FROM, IN]) && self.is_identifier_at(1) {
            self.advance();
            show.database = Some(self.identifier("a database")?);
        }
        Ok(())
    }

    /// `SHOW CREATE TABLE t`, `SHOW CREATE DATABASE d`, `SHOW CREATE TRIGGER d.tr`.
    fn show_create(&mut self, words: Vec<String>, show: &mut Show) -> Result<()> {
        use Keyword::*;
        let of = Keyword::of(words.last().map_or("", String::as_str));
        show.what = words.join(" ");
        match of {
            TABLE | VIEW => show.table = Some(self.object_name("a table")?),
            DATABASE | SCHEMA => {
                self.eat_all(&[IF, NOT, EXISTS]);
                show.database = Some(self.identifier("a database")?);
            }
            TRIGGER => {
                let name = self.object_name("a trigger")?;
                show.database = name.parts.first().filter(|_| name.parts.len() > 1).cloned();
            }
            _ => {}
        }
        self.skip_rest();
        Ok(())
    }

    /// DESCRIBE, DESC or EXPLAIN: of a table or of a statement.
    pub(super) fn explain(&mut self) -> Result<Kind> {
        use Keyword::*;
        self.advance();
        let mut analyze = false;
        if self.is_symbol("(") && self.lists_explain_options() {
            analyze = self.explain_options()?;
        }
        loop {
            match self.keyword() {
                ANALYZE | ANALYSE => {
                    self.advance();
                    analyze = true;
                }
                VERBOSE | EXTENDED | PARTITIONS if !self.ends_at(1) => {
                    self.advance();
                }
                FORMAT if self.is_symbol_at(1, "=") => self.skip(3),
                FOR if self.keyword_at(1) == CONNECTION => {
                    return Ok(self.utility_rest("EXPLAIN FOR CONNECTION"));
                }
                _ => break,
            }
        }
        if self.starts_explained() {
            let body = self.since_to_end();
            let inner = Box::new(self.deeper(1, Self::statement)?);
            return Ok(Kind::Explain { body, inner, analyze });
        }
        let table = Some(self.object_name("a table or a statement")?);
        self.skip_rest();
        let what = "DESCRIBE".to_owned();
        let show = Show { what, table, database: None, like: None, filter: None };
        Ok(Kind::Show(Box::new(show)))
    }

    fn ends_at(&self, ahead: usize) -> bool {
        self.peek(ahead).kind == TokenKind::End
    }

    /// `(ANALYZE, FORMAT json)` rather than `(SELECT …)`.
    fn lists_explain_options(&self) -> bool {
        self.colons()
            && matches!(
                self.peek(1).kind,
                TokenKind::Word | TokenKind::QuotedIdentifier | TokenKind::UnicodeIdentifier
            )
            && !matches!(
                self.keyword_at(1),
                Keyword::SELECT | Keyword::WITH | Keyword::VALUES | Keyword::TABLE
            )
    }

    fn explain_options(&mut self) -> Result<bool> {
        let mut analyze = false;
        self.expect_symbol("(")?;
        loop {
            let option = self.any_name("an option")?.value;
            let is_analyze = ["analyze", "analyse"].contains(&option.as_str());
            let value = match self.is_symbol(",") || self.is_symbol(")") {
                true => "true".to_owned(),
                false => self.option_text()?,
            };
            if is_analyze {
                analyze = !matches!(value.to_ascii_lowercase().as_str(), "false" | "off" | "0");
            }
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect_symbol(")")?;
        Ok(analyze)
    }

    fn starts_explained(&self) -> bool {
        use Keyword::*;
        self.is_symbol("(")
            || self.is_any(&[
                SELECT, INSERT, REPLACE, UPDATE, DELETE, WITH, VALUES, TABLE, MERGE, CREATE,
                EXECUTE, DECLARE, REFRESH,
            ])
    }
}
