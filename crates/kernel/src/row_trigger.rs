//! What a row trigger of MySQL's kind does, as far as that can be read in its text: whether it is the same on every part
//! of a table, and touches nothing but the row.
//! <https://dev.mysql.com/doc/refman/8.0/en/trigger-syntax.html>, <https://mariadb.com/kb/en/trigger-overview/>

use pando_sql::ast::ObjectName;
use pando_sql::{Span, Syntax, Token, TokenKind, parse, tokenize, visit};

use crate::effects::{Effects, Stands, said};

/// What a trigger's body says.
#[derive(Debug, Default)]
pub struct Body {
    /// The tables that it reads, in text order.
    pub reads: Vec<ObjectName>,
    /// The columns of NEW that it may set, as written.
    pub sets: Vec<String>,
    /// What is called in it, in lower case.
    pub calls: Vec<String>,
    /// All other words in it, in lower case: some call without parentheses.
    pub words: Vec<String>,
    /// A query in it takes a part of its rows.
    pub is_limited: bool,
    /// The trigger of the same table that FOLLOWS or PRECEDES names.
    pub neighbour: Option<Span>,
}

/// Further words that call nothing before a parenthesis. Sorted.
const UNCALLED: &[&str] = &["do", "elseif", "if", "return", "until", "while"];

/// Statements and clauses that change more than the row, or go by the session.
const ELSEWHERE: [&str; 21] = [
    "alter", "analyze", "call", "create", "delete", "drop", "dumpfile", "execute", "flush",
    "grant", "handler", "load", "lock", "optimize", "outfile", "prepare", "rename", "revoke",
    "table", "truncate", "unlock",
];

/// Functions whose value a session has, which is not the client's on a storage unit.
const OF_SESSION: [&str; 9] = [
    "connection_id",
    "database",
    "found_rows",
    "last_insert_id",
    "row_count",
    "schema",
    "session_user",
    "system_user",
    "user",
];
/// The same, which need no parentheses.
const OF_USER: [&str; 2] = ["current_role", "current_user"];

/// The same, which are functions where a parenthesis follows.
const WRITING: [&str; 3] = ["insert", "replace", "update"];

/// Reads the body of CREATE TRIGGER. `None` where that is not known: triggers of other languages call functions.
///
/// # Errors
/// What in it is more than the row's business.
pub fn body(
    text: &str,
    syntax: &Syntax,
    effects: Option<&dyn Effects>,
) -> Option<Result<Body, String>> {
    let effects = effects.filter(|_| syntax.limit_with_comma)?;
    let tokens = tokenize(text, syntax).ok()?.list;
    let words = ["for", "each", "row"];
    let is_head =
        |three: &[Token]| three.iter().zip(words).all(|(token, word)| is(text, token, word));
    let mut begin = tokens.windows(3).position(is_head)? + 3;
    let order = ["follows", "precedes"];
    let mut out = Body::default();
    if let Some([word, name]) = tokens.get(begin..begin + 2)
        && order.iter().any(|order| is(text, word, order))
    {
        out.neighbour = Some(name.span);
        begin += 2;
    }
    let reader = Reader { text, syntax, tokens: tokens.get(begin..)?, effects };
    Some(reader.read(&mut out).map(|()| out))
}

fn is(text: &str, token: &Token, word: &str) -> bool {
    token.kind == TokenKind::Word && token.span.of(text).eq_ignore_ascii_case(word)
}

struct Reader<'a> {
    text: &'a str,
    syntax: &'a Syntax,
    tokens: &'a [Token],
    effects: &'a dyn Effects,
}

impl Reader<'_> {
    fn is(&self, at: usize, word: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| is(self.text, token, word))
    }

    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.span.of(self.text))
    }

    /// Whether a name is a part of a longer one.
    fn is_member(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| self.word(before) == ".")
    }

    fn read(&self, out: &mut Body) -> Result<(), String> {
        for (at, token) in self.tokens.iter().enumerate() {
            if token.kind == TokenKind::Variable {
                return Err(format!("the variable `{}`", self.word(at)));
            }
            if token.kind == TokenKind::Word && !self.is_member(at) {
                self.statement(at)?;
            }
            if self.is(at, "select") && !self.is_member(at) {
                self.query(at, out)?;
            }
            if self.is(at, "set") && !self.is_member(at) {
                self.assignments(at, out)?;
            }
            let is_into = at.checked_sub(1).is_some_and(|before| self.is(before, "into"));
            if is_into && self.is_new(at) {
                out.sets.push(bare(self.word(at + 2)));
            }
        }
        self.calls(out)
    }

    fn statement(&self, at: usize) -> Result<(), String> {
        let word = self.word(at).to_ascii_lowercase();
        let is_call = self.word(at + 1) == "(";
        let is_elsewhere = ELSEWHERE.contains(&word.as_str());
        // `ON UPDATE` stands in no body, and FOR UPDATE locks rows of tables.
        if is_elsewhere || WRITING.contains(&word.as_str()) && !is_call {
            return Err(word.to_ascii_uppercase());
        }
        Ok(())
    }

    /// `NEW.`, which may be quoted.
    fn is_new(&self, at: usize) -> bool {
        bare(self.word(at)).eq_ignore_ascii_case("new") && self.word(at + 1) == "."
    }

    /// Whether the body has a variable of this name.
    fn declares(&self, name: &str) -> bool {
        (0..self.tokens.len()).filter(|at| self.is(*at, "declare")).any(|at| {
            // `DECLARE a, b INT`
            let mut names = (at + 1..self.tokens.len()).step_by(2);
            names.any(|place| {
                bare(self.word(place)).eq_ignore_ascii_case(name) && self.lists(at, place)
            })
        })
    }

    /// Whether nothing but names and commas stands between DECLARE and this one.
    fn lists(&self, declare: usize, place: usize) -> bool {
        (declare + 2..place).step_by(2).all(|comma| self.word(comma) == ",")
    }

    /// SET: its targets are columns of the row and variables of the body, or it would be a setting of the session.
    fn assignments(&self, set: usize, out: &mut Body) -> Result<(), String> {
        let is_type = self.word(set + 1) == "(";
        let is_charset = set
            .checked_sub(1)
            .is_some_and(|at| ["character", "char"].iter().any(|word| self.is(at, word)));
        if is_type || is_charset {
            return Ok(());
        }
        let (mut depth, mut is_target) = (0_usize, true);
        for at in set + 1..self.tokens.len() {
            if std::mem::take(&mut is_target) {
                let name = bare(self.word(at));
                match self.is_new(at) {
                    true => out.sets.push(bare(self.word(at + 2))),
                    false if self.declares(&name) || is_signalled(&name) => {}
                    false => return Err(format!("SET of `{name}`")),
                }
            }
            match self.word(at) {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                "," if depth == 0 => is_target = true,
                ";" => break,
                _ => {}
            }
        }
        Ok(())
    }

    /// The tables of a query, up to what ends it.
    fn query(&self, at: usize, out: &mut Body) -> Result<(), String> {
        let mut depth = 0_usize;
        let rest = self.tokens.get(at..).unwrap_or(&[]);
        let ends = |token: &&Token| {
            match token.span.of(self.text) {
                "(" => depth += 1,
                ")" if depth == 0 => return true,
                ")" => depth -= 1,
                ";" => return true,
                _ => {}
            }
            false
        };
        let behind = {
            let mut ends = ends;
            rest.iter().find(|token| ends(token)).copied()
        };
        let end = behind.map_or(self.text.len() as u32, |token| token.span.start);
        let start = rest.first().map_or(end, |first| first.span.start);
        let text = Span::new(start, end).of(self.text);
        let unread = || "a query that cannot be read".to_owned();
        let stmt = parse(text, self.syntax).map_err(|_| unread())?;
        let pando_sql::ast::Kind::Select(query) = &stmt.kind else { return Err(unread()) };
        if query.lock.is_some() {
            return Err("a locking query".to_owned());
        }
        out.is_limited |= text.to_ascii_lowercase().contains("limit");
        out.reads.extend(visit::tables(&stmt.kind).into_iter().map(|found| found.name.clone()));
        Ok(())
    }

    /// What it calls must be the vendor's own, and leave nothing.
    fn calls(&self, out: &mut Body) -> Result<(), String> {
        let names = said(self.text, self.tokens, UNCALLED);
        let names = names.ok_or_else(|| "a name that is too long".to_owned())?;
        for name in names {
            let is_call = name.stands == Stands::Called;
            if is_call && OF_SESSION.contains(&name.name.as_str())
                || OF_USER.contains(&name.name.as_str())
            {
                return Err(format!("`{}`, which is of the session", name.name));
            }
            if !is_call {
                out.words.push(name.name);
                continue;
            }
            if !self.effects.is_harmless(&name.name) {
                return Err(format!("the function `{}`", name.name));
            }
            out.calls.push(name.name);
        }
        // A function with its database in front is a user's.
        let qualified = (0..self.tokens.len()).find(|at| {
            self.word(*at) == "(" && at.checked_sub(1).is_some_and(|name| self.is_member(name))
        });
        match qualified {
            Some(at) => Err(format!("the function `{}`", self.word(at - 1))),
            None => Ok(()),
        }
    }
}

/// What SIGNAL sets of its condition.
fn is_signalled(name: &str) -> bool {
    const ITEMS: [&str; 12] = [
        "catalog_name",
        "class_origin",
        "column_name",
        "constraint_catalog",
        "constraint_name",
        "constraint_schema",
        "cursor_name",
        "message_text",
        "mysql_errno",
        "schema_name",
        "subclass_origin",
        "table_name",
    ];
    ITEMS.iter().any(|item| name.eq_ignore_ascii_case(item))
}

/// A name without its quotes.
fn bare(name: &str) -> String {
    match name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
        Some(quoted) => quoted.replace("``", "`"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use pando_sql::{Fold, Placeholder};

    use super::*;
    use crate::effects::Effectful;
    use crate::value::Value;

    const SYNTAX: Syntax = Syntax {
        fold: Fold::Keep,
        exact_tables: false,
        placeholder: Placeholder::Question,
        backtick_identifiers: true,
        double_quoted_strings: true,
        backslash_escapes: true,
        dollar_strings: false,
        hash_comments: true,
        dash_comment_needs_space: true,
        nested_comments: false,
        executable_comments: true,
        casts_with_colons: false,
        limit_with_comma: true,
        pipes_concatenate: false,
    };

    #[derive(Debug)]
    struct Known;

    impl Effects for Known {
        fn query(&self) -> &'static str {
            ""
        }

        fn read(&self, _rows: &[Vec<Value>]) -> Effectful {
            Effectful { calls: HashMap::new(), ..Effectful::default() }
        }

        fn is_harmless(&self, function: &str) -> bool {
            ["upper", "now", "user", "replace", "varchar"].contains(&function)
        }
    }

    fn read(text: &str) -> Result<Body, String> {
        let head = "CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW ";
        body(&format!("{head}{text}"), &SYNTAX, Some(&Known)).unwrap()
    }

    #[test]
    fn what_a_row_gets_is_read_off_the_body() {
        for (text, sets) in [
            ("SET NEW.a = UPPER(NEW.b)", &["a"][..]),
            ("follows `x y` set new.a = 1, `NEW`.`b``c` := (2, 3)", &["a", "b`c"]),
            ("BEGIN DECLARE x, `y` INT; SET x = 1, y = NEW.k, NEW.k = 2; END", &["k"]),
            (
                "BEGIN DECLARE x VARCHAR(3) CHARACTER SET utf8mb4; SET x = REPLACE(x, 'insert', 'set z'); END",
                &[],
            ),
            ("IF NEW.a = 1 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF", &[]),
        ] {
            assert_eq!(read(text).unwrap().sets, sets, "{text}");
        }
        let own = read("SET NEW.a = (SELECT v FROM r JOIN `s` USING (i) LIMIT 1)").unwrap();
        let tables: Vec<String> = own.reads.iter().map(ObjectName::key).collect();
        assert_eq!((&tables[..], own.is_limited), (&["r".to_owned(), "s".to_owned()][..], true));
    }

    #[test]
    fn what_is_more_than_the_rows_business_is_told() {
        for text in [
            "INSERT INTO log VALUES (1)",
            "BEGIN IF NEW.a THEN UPDATE u SET b = 1; END IF; END",
            "REPLACE log SELECT 1",
            "CALL p()",
            "SET @x = 1",
            "SET sql_mode = ''",
            "SET SESSION sql_mode = ''",
            "SET NEW.a = 1, autocommit = 0",
            "SET NEW.a = USER()",
            "SET NEW.a = f(1)",
            "SET NEW.a = db.upper(1)",
            "SET NEW.a = `f`(1)",
            "SET NEW.a = f (1)",
            "SET NEW.a = CURRENT_USER",
            "SET NEW.a = (SELECT 1 FROM r FOR UPDATE)",
            "BEGIN DECLARE x INT; SET NEW.a = @@sql_mode; END",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn triggers_of_other_languages_are_not_read() {
        let other = Syntax { limit_with_comma: false, ..SYNTAX };
        let text = "CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()";
        assert!(body(text, &other, Some(&Known)).is_none());
        assert!(body(text, &SYNTAX, None).is_none());
    }
}
