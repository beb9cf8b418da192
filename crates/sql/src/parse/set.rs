//! SET and RESET in every form of both languages.

use super::Result;
use super::parser::Parser;
use crate::ast::{Assignment, Expr, Kind, Literal, Node, Scope, SetFor, Transaction};
use crate::keyword::Keyword;
use crate::span::Span;
use crate::token::TokenKind;
use crate::variable::user_name;

impl Parser<'_> {
    pub(super) fn set(&mut self) -> Result<Kind> {
        use Keyword::*;
        self.advance();
        if let Some(kind) = self.set_of_its_own()? {
            return Ok(kind);
        }
        let mut list = Vec::new();
        // A scope word holds for the names behind it as well, until another comes.
        let mut scope = Scope::Session;
        loop {
            let assignment = self.assignment(&mut scope)?;
            list.push(assignment);
            if !self.commas() || !self.eat_symbol(",") {
                break;
            }
        }
        if self.commas() && self.is(FOR) {
            return Ok(self.opaque());
        }
        Ok(Kind::Set(list))
    }

    /// SET statements that set no variable.
    fn set_of_its_own(&mut self) -> Result<Option<Kind>> {
        use Keyword::*;
        let scoped = usize::from(self.is_any(&[SESSION, GLOBAL, LOCAL]));
        if self.keyword_at(scoped) == TRANSACTION && !self.is_symbol_at(scoped + 1, "=") {
            let session = self.is_any(&[SESSION, GLOBAL]);
            self.skip(scoped + 1);
            let modes = self.modes()?;
            return Ok(Some(Kind::Transaction(Transaction::Set { session, modes })));
        }
        if self.eat_all(&[SESSION, CHARACTERISTICS, AS, TRANSACTION]) {
            let modes = self.modes()?;
            return Ok(Some(Kind::Transaction(Transaction::Set { session: true, modes })));
        }
        let verb = match self.keyword() {
            CONSTRAINTS if self.colons() => "SET CONSTRAINTS",
            PASSWORD if self.commas() => "SET PASSWORD",
            DEFAULT if self.keyword_at(1) == ROLE => "SET DEFAULT ROLE",
            RESOURCE if self.keyword_at(1) == GROUP => "SET RESOURCE GROUP",
            STATEMENT if self.commas() => return self.set_for().map(Some),
            _ => return Ok(None),
        };
        Ok(Some(self.utility_rest(verb)))
    }

    /// `SET STATEMENT a = 1, b = 2 FOR statement`.
    fn set_for(&mut self) -> Result<Kind> {
        use Keyword::*;
        self.advance();
        let mut assignments = Vec::new();
        loop {
            let start = self.start();
            let name = self.setting_name()?;
            if !self.eat_symbol("=") && !self.eat_symbol(":=") {
                return self.unexpected("`=`");
            }
            assignments.push(self.valued(name, Scope::Session, start)?);
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect(FOR)?;
        if self.is_end() {
            return self.unexpected("a statement");
        }
        let body = self.since_to_end();
        self.skip_rest();
        Ok(Kind::SetFor(Box::new(SetFor { assignments, body })))
    }

    fn assignment(&mut self, held: &mut Scope) -> Result<Assignment> {
        use Keyword::*;
        let start = self.start();
        let token = self.token();
        if token.kind == TokenKind::Variable {
            return self.variable_assignment();
        }
        let scope = self.scope_word().unwrap_or(*held);
        *held = scope;
        let name = match self.keyword() {
            NAMES if !self.is_assigned_at(1) => {
                self.advance();
                if self.colons() {
                    return self.names_of_clients(scope, start);
                }
                return self.named_setting("names", scope, start);
            }
            CHARSET if self.commas() && !self.is_assigned_at(1) => {
                self.advance();
                return self.named_setting("character set", scope, start);
            }
            CHARACTER if self.keyword_at(1) == SET => {
                self.skip(2);
                return self.named_setting("character set", scope, start);
            }
            TIME if self.keyword_at(1) == ZONE => {
                self.skip(2);
                // Its default is the variable's; its values may be words that the variable does not take.
                let name = if self.keyword() == DEFAULT { "timezone" } else { "time zone" };
                return self.named_setting(name, scope, start);
            }
            SCHEMA if self.colons() && self.peek(1).kind.is_string() => {
                self.advance();
                return self.named_setting("search_path", scope, start);
            }
            _ if self.is_word("xml") && self.is_word_at(1, "option") => {
                self.skip(2);
                return self.named_setting("xmloption", scope, start);
            }
            ROLE if !self.is_assigned_at(1) => {
                self.advance();
                return self.named_setting("role", scope, start);
            }
            AUTHORIZATION | SESSION if self.colons() && !self.is_assigned_at(1) => {
                self.eat(SESSION);
                self.expect(AUTHORIZATION)?;
                return self.named_setting("session authorization", scope, start);
            }
            _ => self.setting_name()?,
        };
        if !self.eat_symbol("=") && !self.eat_symbol(":=") && !self.eat(TO) {
            return self.unexpected("`=`");
        }
        self.valued(name, scope, start)
    }

    fn is_assigned_at(&self, ahead: usize) -> bool {
        self.is_symbol_at(ahead, "=")
            || self.is_symbol_at(ahead, ":=")
            || self.keyword_at(ahead) == Keyword::TO
    }

    /// GLOBAL, SESSION, LOCAL, PERSIST in front of a name.
    fn scope_word(&mut self) -> Option<Scope> {
        use Keyword::*;
        if self.is_assigned_at(1) {
            return None;
        }
        let scope = match self.keyword() {
            GLOBAL | PERSIST | PERSIST_ONLY if self.commas() => Scope::Global,
            SESSION => Scope::Session,
            // Where there are user variables, LOCAL is another word for SESSION.
            LOCAL if self.commas() => Scope::Session,
            LOCAL => Scope::Local,
            _ => return None,
        };
        self.advance();
        Some(scope)
    }

    /// `@a = 1`, `@@session.b := 2`.
    fn variable_assignment(&mut self) -> Result<Assignment> {
        let token = self.advance();
        let text = self.text_of(token);
        let (scope, name) = match text.strip_prefix("@@") {
            Some(name) => scoped_name(name),
            None => (Scope::User, user_name(text, self.syntax).unwrap_or_default()),
        };
        if !self.eat_symbol("=") && !self.eat_symbol(":=") {
            return self.unexpected("`=`");
        }
        self.valued(name, scope, token.span.start)
    }

    /// A dotted name in lower case.
    pub(super) fn setting_name(&mut self) -> Result<String> {
        let name = self.object_name("a variable")?;
        let parts: Vec<&str> = name.parts.iter().map(|part| part.value.as_str()).collect();
        Ok(parts.join(".").to_ascii_lowercase())
    }

    /// PostgreSQL's `SET NAMES`, alone or with a value: the client's encoding.
    /// <https://www.postgresql.org/docs/current/multibyte.html#MULTIBYTE-AUTOMATIC-CONVERSION>
    fn names_of_clients(&mut self, scope: Scope, start: u32) -> Result<Assignment> {
        let name = "client_encoding".to_owned();
        if !self.is_end() {
            return self.valued(name, scope, start);
        }
        let (value_span, span) = (Span::at(self.start()), self.since(start));
        Ok(Assignment { scope, name, value: None, value_span, span })
    }

    /// `SET NAMES value`, `SET TIME ZONE value`, …: a value without an equals sign.
    fn named_setting(&mut self, name: &str, scope: Scope, start: u32) -> Result<Assignment> {
        let mut assignment = self.valued(name.to_owned(), scope, start)?;
        if self.eat(Keyword::COLLATE)
            && let Some(operand) = assignment.value.take()
        {
            let token = self.advance();
            let collation = self.ident_of(token);
            let collation = self.object_name_after(collation)?;
            let span = self.since(operand.span.start);
            let operand = Box::new(operand);
            assignment.value = Some(Expr { span, node: Node::Collate { operand, collation } });
            assignment.value_span = span;
            assignment.span = self.since(start);
        }
        Ok(assignment)
    }

    fn valued(&mut self, name: String, scope: Scope, start: u32) -> Result<Assignment> {
        let from = self.start();
        if self.eat(Keyword::DEFAULT) {
            let (value_span, span) = (self.since(from), self.since(start));
            return Ok(Assignment { scope, name, value: None, value_span, span });
        }
        let mut list = vec![self.setting_value()?];
        while self.colons() && self.eat_symbol(",") {
            list.push(self.setting_value()?);
        }
        let value_span = self.since(from);
        let value = match list.pop() {
            Some(only) if list.is_empty() => only,
            Some(last) => {
                list.push(last);
                Expr { span: value_span, node: Node::Row(list) }
            }
            None => return self.unexpected("a value"),
        };
        Ok(Assignment { scope, name, value: Some(value), value_span, span: self.since(start) })
    }

    /// A value: any word stands for itself here (`on`, `local`, `utf8`).
    fn setting_value(&mut self) -> Result<Expr> {
        use Keyword::*;
        let token = self.token();
        let next = self.peek(1);
        let alone = next.kind == TokenKind::End
            || self.is_symbol_at(1, ",")
            || matches!(next.keyword, COLLATE | FOR);
        if token.kind != TokenKind::Word || !alone {
            return self.expr();
        }
        match token.keyword {
            TRUE | FALSE | NULL => self.expr(),
            _ if self.commas() && self.is_call_without_parentheses(token.keyword) => self.expr(),
            _ => {
                let name = self.any_name("a value")?;
                let name = self.object_name_after(name)?;
                Ok(Expr { span: name.span, node: Node::Column(name) })
            }
        }
    }

    fn is_call_without_parentheses(&self, keyword: Keyword) -> bool {
        use Keyword::*;
        matches!(
            keyword,
            CURRENT_DATE | CURRENT_TIME | CURRENT_TIMESTAMP | CURRENT_USER | LOCALTIME
        )
    }

    /// RESET x, RESET ALL, RESET ROLE, …
    pub(super) fn reset(&mut self) -> Result<Kind> {
        use Keyword::*;
        self.advance();
        if self.commas() {
            let persist = self.keyword() == PERSIST;
            return Ok(self.utility_rest(if persist { "RESET PERSIST" } else { "RESET" }));
        }
        let start = self.start();
        let name = if self.eat(ALL) {
            "all".to_owned()
        } else if self.eat_all(&[TIME, ZONE]) {
            "timezone".to_owned()
        } else if self.eat_all(&[SESSION, AUTHORIZATION]) {
            "session authorization".to_owned()
        } else {
            self.setting_name()?
        };
        let value_span = Span::at(self.end());
        let span = self.since(start);
        Ok(Kind::Set(vec![Assignment {
            scope: Scope::Session,
            name,
            value: None,
            value_span,
            span,
        }]))
    }

    /// `ON`, `'x'`, `5` as text, for options.
    pub(super) fn option_text(&mut self) -> Result<String> {
        let token = self.token();
        if token.kind.is_string() {
            return self.string_text("a value");
        }
        if matches!(token.kind, TokenKind::QuotedIdentifier | TokenKind::UnicodeIdentifier) {
            // `"binary"` is a value as any other, in its own case.
            self.advance();
            return Ok(self.ident_of(token).value);
        }
        if token.kind == TokenKind::Word || token.kind.is_literal() {
            self.advance();
            return Ok(self.text_of(token).to_ascii_lowercase());
        }
        let expr = self.expr()?;
        Ok(match expr.node {
            Node::Literal(Literal::Text(text)) => text,
            _ => expr.span.of(self.text).to_owned(),
        })
    }
}

/// `session.x`, `global.x`, `x`; quotes taken off.
fn scoped_name(name: &str) -> (Scope, String) {
    let lower = name.to_ascii_lowercase().replace('`', "");
    let scopes = [
        ("global.", Scope::Global),
        ("persist.", Scope::Global),
        ("persist_only.", Scope::Global),
        ("session.", Scope::Session),
        ("local.", Scope::Session),
    ];
    for (prefix, scope) in scopes {
        if let Some(rest) = lower.strip_prefix(prefix) {
            return (scope, rest.to_owned());
        }
    }
    (Scope::Session, lower)
}
