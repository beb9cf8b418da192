//! CREATE TABLE: columns, keys, references, and the query rows may come from.

use crate::ast::{ColumnDefinition, Define, InnerKind, InnerName};
use crate::keyword::Keyword;
use crate::parse::Result;
use crate::parse::parser::Parser;
use crate::span::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn create_table(&mut self, define: &mut Define) -> Result<()> {
        use Keyword::*;
        self.if_exists(define);
        define.names.push(self.object_name("a table")?);
        if self.eat(LIKE) {
            define.referenced.push(self.object_name("a table")?);
            self.skip_rest();
            return Ok(());
        }
        if self.eat_all(&[PARTITION, OF]) {
            define.referenced.push(self.object_name("a table")?);
        } else if self.colons() && self.eat(OF) {
            self.object_name("a type")?;
        }
        if self.is_symbol("(") && !self.is_query_in_group() {
            self.table_elements(define)?;
        }
        self.table_options(define)
    }

    /// `(SELECT`, `((SELECT`.
    fn is_query_in_group(&self) -> bool {
        let mut ahead = 0;
        while self.is_symbol_at(ahead, "(") {
            ahead += 1;
        }
        matches!(self.keyword_at(ahead), Keyword::SELECT | Keyword::WITH)
    }

    /// `(element, …)`.
    pub(super) fn table_elements(&mut self, define: &mut Define) -> Result<()> {
        self.expect_symbol("(")?;
        // `CREATE TABLE t () INHERITS (u)`.
        if self.eat_symbol(")") {
            return Ok(());
        }
        loop {
            self.table_element(define)?;
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect_symbol(")")
    }

    /// A column, a key or a constraint, up to the next comma or bracket.
    pub(super) fn table_element(&mut self, define: &mut Define) -> Result<()> {
        use Keyword::*;
        if self.eat(LIKE) {
            define.referenced.push(self.object_name("a table")?);
            return self.skip_item();
        }
        if self.eat(CONSTRAINT) && !self.is_any(&[PRIMARY, UNIQUE, FOREIGN, CHECK]) {
            self.eat_all(&[IF, NOT, EXISTS]);
            self.inner_name(define, InnerKind::Constraint)?;
        }
        if self.is_key_definition() {
            return self.key_definition(define);
        }
        if self.is_any(&[CHECK, EXCLUDE]) && !self.is_identifier_at(1) {
            return self.element_tail(define, None);
        }
        if self.is(EXCLUDE) && self.keyword_at(1) == USING
            || self.is_word("period") && self.keyword_at(1) == FOR
        {
            return self.expression_item(define);
        }
        self.column_definition(define)
    }

    fn is_key_definition(&self) -> bool {
        use Keyword::*;
        match self.keyword() {
            PRIMARY | UNIQUE | FOREIGN => true,
            INDEX | KEY => self.commas(),
            FULLTEXT | SPATIAL => self.commas() && !self.is_symbol_at(1, ","),
            _ => false,
        }
    }

    /// `PRIMARY KEY (…)`, `UNIQUE [KEY] [name] (…)`, `INDEX [name] (…)`, `FOREIGN KEY [name] (…) REFERENCES t …`.
    fn key_definition(&mut self, define: &mut Define) -> Result<()> {
        use Keyword::*;
        let first = self.advance().keyword;
        if !matches!(first, INDEX | KEY) {
            self.eat_any(&[KEY, INDEX]);
        }
        self.eat_all(&[IF, NOT, EXISTS]);
        if self.commas() && self.is_identifier() && !self.is(USING) {
            let name = self.identifier("a name")?;
            let kind = if first == FOREIGN { InnerKind::Constraint } else { InnerKind::Index };
            // The name of a primary key is accepted and ignored by the server.
            if first != PRIMARY {
                define.inner_names.push(InnerName { name, kind });
            }
        }
        if first == PRIMARY {
            self.primary_columns(define)?;
        }
        self.element_tail(define, None)
    }

    /// Marks the columns of `PRIMARY KEY (a, b)`.
    fn primary_columns(&mut self, define: &mut Define) -> Result<()> {
        while !self.is_symbol("(") {
            if self.is_end()
                || self.is_symbol(",")
                || self.is_symbol(")")
                || self.is(Keyword::USING) && self.keyword_at(1) == Keyword::INDEX
            {
                return Ok(());
            }
            self.advance();
        }
        self.advance();
        let columns = self.index_columns(define)?;
        for column in &mut define.columns {
            column.primary_key |=
                columns.iter().any(|name| name.eq_ignore_ascii_case(&column.name.value));
        }
        Ok(())
    }

    fn column_definition(&mut self, define: &mut Define) -> Result<()> {
        use Keyword::*;
        let name = self.any_name("a column")?;
        let mut type_span = Span::at(self.end());
        let has_type = matches!(
            self.token().kind,
            TokenKind::Word | TokenKind::QuotedIdentifier | TokenKind::UnicodeIdentifier
        ) && !self.is_any(&[
            WITH, GENERATED, AS, CONSTRAINT, NOT, NULL, DEFAULT, PRIMARY, UNIQUE, CHECK, REFERENCES,
        ]);
        if has_type {
            type_span = self.type_name()?;
            while self.eat_any(&[UNSIGNED]) || self.eat_word("zerofill") || self.eat_word("signed")
            {
            }
            type_span = self.since(type_span.start);
        }
        let auto_increment = is_serial(type_span.of(self.text));
        let column = ColumnDefinition { name, type_span, primary_key: false, auto_increment };
        define.columns.push(column);
        let index = define.columns.len() - 1;
        self.element_tail(define, Some(index))
    }

    /// Everything behind a column's type or a key's columns, up to the next comma or bracket of this level.
    fn element_tail(&mut self, define: &mut Define, column: Option<usize>) -> Result<()> {
        use Keyword::*;
        loop {
            let token = self.token();
            match token.kind {
                TokenKind::End => return Ok(()),
                TokenKind::Punctuation => match self.text_of(token) {
                    "," | ")" => return Ok(()),
                    "(" | "[" | "{" => {
                        self.expression_group(define)?;
                    }
                    _ => self.skip(1),
                },
                _ => {
                    self.advance();
                    match token.keyword {
                        REFERENCES => define.referenced.push(self.object_name("a table")?),
                        CONSTRAINT if self.is_identifier() => {
                            self.inner_name(define, InnerKind::Constraint)?;
                        }
                        USING
                            if self.eat(INDEX) && self.is_identifier() && !self.is(TABLESPACE) =>
                        {
                            self.inner_name(define, InnerKind::Index)?;
                        }
                        UNIQUE => {
                            self.eat(KEY);
                        }
                        word => self.mark_column(define, column, word),
                    }
                }
            }
        }
    }

    /// PRIMARY KEY, AUTO_INCREMENT or AS IDENTITY of a column; the word was taken.
    fn mark_column(&mut self, define: &mut Define, column: Option<usize>, word: Keyword) {
        use Keyword::*;
        let Some(column) = column.and_then(|index| define.columns.get_mut(index)) else { return };
        match word {
            PRIMARY => {
                column.primary_key = true;
                self.eat(KEY);
            }
            KEY if self.commas() => column.primary_key = true,
            AUTO_INCREMENT => column.auto_increment = true,
            AS => column.auto_increment |= self.eat(IDENTITY),
            _ => {}
        }
    }

    /// Behind the elements: INHERITS, options, partitions, AS query.
    fn table_options(&mut self, define: &mut Define) -> Result<()> {
        use Keyword::*;
        while !self.is_end() {
            let starts_query = self.is(SELECT)
                || self.is(AS) && (self.keyword_at(1) != EXECUTE)
                || self.is(WITH) && self.is_identifier_at(1) && self.keyword_at(2) == AS
                || self.is_symbol("(") && self.is_query_in_group();
            if starts_query {
                self.eat(AS);
                if self.is_symbol("(") || self.starts_query() || self.is(VALUES) {
                    define.query = Some(Box::new(self.query()?));
                }
                self.skip_rest();
                return Ok(());
            }
            if self.is_symbol("(") {
                self.skip_group()?;
                continue;
            }
            let names_tables = self.is(INHERITS) || self.commas() && self.is(UNION);
            self.advance();
            if names_tables {
                self.eat_symbol("=");
                self.expect_symbol("(")?;
                let names = self.names();
                define.referenced.extend(names);
                self.expect_symbol(")")?;
            }
        }
        Ok(())
    }
}

fn is_serial(type_text: &str) -> bool {
    const SERIALS: [&str; 6] =
        ["serial", "bigserial", "smallserial", "serial2", "serial4", "serial8"];
    SERIALS.iter().any(|serial| type_text.eq_ignore_ascii_case(serial))
}
