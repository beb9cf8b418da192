//! What a row trigger of MySQL's kind does, as far as that can be read in its text: whether it is the same on every part
//! of a table, and touches nothing but the row.
//! <https://dev.mysql.com/doc/refman/8.0/en/trigger-syntax.html>, <https://mariadb.com/kb/en/trigger-overview/>

mod scopes;

use std::collections::HashSet;

use pando_sql::ast::ObjectName;
use pando_sql::{Span, Syntax, Token, TokenKind, parse, tokenize, visit};

use self::scopes::Scopes;
use crate::effects::{Effects, Stands, said};
use crate::feature::Context;
use crate::table::TableKind;

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
}

impl Body {
    /// A table that it reads and that is not the same on every unit.
    pub fn elsewhere(&self, ctx: &Context<'_>) -> Option<&ObjectName> {
        let syntax = ctx.dialect.syntax();
        let all = ctx.database.features.iter().flat_map(|feature| feature.tables());
        let broadcast: HashSet<String> = all
            .filter(|known| known.kind == TableKind::Broadcast)
            .map(|known| syntax.table_key(&known.name))
            .collect();
        // Behind a database's name is a table that no rule has.
        let is_everywhere =
            |name: &ObjectName| name.parts.len() == 1 && broadcast.contains(&name.key());
        self.reads.iter().find(|name| !is_everywhere(name))
    }
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
    let mut begin = head(text, &tokens)?;
    if ordered(text, &tokens, begin).is_some() {
        begin += 2;
    }
    let mut out = Body::default();
    let reader = Reader { text, syntax, tokens: tokens.get(begin..)?, effects };
    Some(reader.read(&mut out).map(|()| out))
}

/// The trigger of the same table that FOLLOWS or PRECEDES names in CREATE TRIGGER.
pub fn neighbour(text: &str, syntax: &Syntax) -> Option<Span> {
    let tokens = tokenize(text, syntax).ok()?.list;
    let name = ordered(text, &tokens, head(text, &tokens)?)?;
    Some(name.span)
}

/// What stands behind FOR EACH ROW.
fn head(text: &str, tokens: &[Token]) -> Option<usize> {
    let words = ["for", "each", "row"];
    let is_head =
        |three: &[Token]| three.iter().zip(words).all(|(token, word)| is(text, token, word));
    Some(tokens.windows(3).position(is_head)? + 3)
}

/// The name behind FOLLOWS or PRECEDES, which stands here.
fn ordered<'a>(text: &str, tokens: &'a [Token], at: usize) -> Option<&'a Token> {
    let [word, name] = tokens.get(at..at + 2)? else { return None };
    ["follows", "precedes"].iter().any(|order| is(text, word, order)).then_some(name)
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
        let mut scopes = Scopes::default();
        for (at, token) in self.tokens.iter().enumerate() {
            if token.kind == TokenKind::Variable {
                return Err(format!("the variable `{}`", self.word(at)));
            }
            if token.kind == TokenKind::Word && !self.is_member(at) {
                self.statement(at)?;
                scopes.word(self, at);
            }
            if self.is(at, "select") && !self.is_member(at) {
                self.query(at, out)?;
            }
            if self.is(at, "set") && !self.is_member(at) {
                self.assignments(at, &scopes, out)?;
            }
            let is_into = at.checked_sub(1).is_some_and(|before| self.is(before, "into"));
            if is_into && self.is_new(at) {
                out.sets.push(bare(self.word(at + 2)));
            }
        }
        if scopes.is_open() {
            return Err("a BEGIN or a CASE without its END".to_owned());
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
        let is_of_sequence = ["next", "previous"].contains(&word.as_str());
        if is_of_sequence && self.is(at + 1, "value") && self.is(at + 2, "for") {
            return Err(format!("{} VALUE FOR", word.to_ascii_uppercase()));
        }
        Ok(())
    }

    /// `NEW.`, which may be quoted.
    fn is_new(&self, at: usize) -> bool {
        bare(self.word(at)).eq_ignore_ascii_case("new") && self.word(at + 1) == "."
    }

    /// SET: its targets are columns of the row and variables of the body, or it would be a setting of the session.
    fn assignments(&self, set: usize, scopes: &Scopes, out: &mut Body) -> Result<(), String> {
        let is_type = self.word(set + 1) == "(";
        if is_type || self.is_charset(set) {
            return Ok(());
        }
        let (mut depth, mut is_target) = (0_usize, true);
        for at in set + 1..self.tokens.len() {
            if std::mem::take(&mut is_target) {
                let name = bare(self.word(at));
                match self.is_new(at) {
                    true => out.sets.push(bare(self.word(at + 2))),
                    // Behind SESSION, GLOBAL, NAMES and their kin stands something else.
                    false if self.is_assigned(at) && (scopes.has(&name) || is_signalled(&name)) => {
                    }
                    false => return Err(format!("SET of `{name}`")),
                }
            }
            match self.word(at) {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                "," if depth == 0 => is_target = true,
                ";" => break,
                // A statement within a statement: each token is read for one of them.
                _ if self.is(at, "set") && !self.is_member(at) && !self.is_charset(at) => {
                    return Err("SET within SET".to_owned());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// `CHARACTER SET`.
    fn is_charset(&self, set: usize) -> bool {
        set.checked_sub(1)
            .is_some_and(|at| ["character", "char"].iter().any(|word| self.is(at, word)))
    }

    /// Whether `=` or `:=` stands behind a name.
    fn is_assigned(&self, at: usize) -> bool {
        matches!(self.word(at + 1), "=" | ":=")
            || self.word(at + 1) == ":" && self.word(at + 2) == "="
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
            (
                "BEGIN DECLARE x INT; l: BEGIN SET x := CASE x WHEN 1 THEN 2 END; END l; SET X = 3; END",
                &[],
            ),
            (
                "BEGIN DECLARE x INT; CASE NEW.k WHEN 1 THEN BEGIN IF x THEN SET x = 1; END IF; END; END CASE; \
                 WHILE x DO SET x = 0; END WHILE; SET NEW.k = x; END",
                &["k"],
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
            "SET NEW.a = NEXT VALUE FOR s",
            "SET NEW.a = (SELECT previous value FOR s)",
            "BEGIN DECLARE session INT; SET SESSION foreign_key_checks = 0; END",
            "BEGIN DECLARE global INT; SET GLOBAL max_connections = 1; END",
            "BEGIN DECLARE names INT; SET NAMES latin1; END",
            "BEGIN DECLARE character INT; SET CHARACTER SET latin1; END",
            "BEGIN BEGIN DECLARE autocommit INT; END; SET autocommit = 0; END",
            "BEGIN SET autocommit = 0; BEGIN DECLARE autocommit INT; END; END",
            "BEGIN DECLARE sql_mode CURSOR FOR SELECT 1; SET sql_mode = ''; END",
            "BEGIN DECLARE autocommit CONDITION FOR 1051; SET autocommit = 0; END",
            "BEGIN BEGIN DECLARE autocommit INT; SET NEW.a = CASE WHEN 1 THEN begin END; END; SET autocommit = 0; END",
            "BEGIN DECLARE x INT; SET x = 1",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn many_variables_take_no_time() {
        let count = 20_000;
        let declared: String = (0..count).map(|n| format!("DECLARE v{n} INT; ")).collect();
        let set: Vec<String> = (0..count).map(|n| format!("v{n} = {n}")).collect();
        let text = format!("BEGIN {declared} SET {}; END", set.join(", "));
        assert!(read(&text).is_ok());
        assert!(read(&"SET x ".repeat(count)).is_err());
    }

    #[test]
    fn the_trigger_beside_is_named() {
        let head = "CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW";
        let beside = |rest: &str| {
            let text = format!("{head} {rest}");
            neighbour(&text, &SYNTAX).map(|span| span.of(&text).to_owned())
        };
        assert_eq!(beside("PRECEDES `x y` SET NEW.a = 1").as_deref(), Some("`x y`"));
        assert_eq!(beside("SET NEW.a = 1"), None);
    }

    #[test]
    fn triggers_of_other_languages_are_not_read() {
        let other = Syntax { limit_with_comma: false, ..SYNTAX };
        let text = "CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()";
        assert!(body(text, &other, Some(&Known)).is_none());
        assert!(body(text, &SYNTAX, None).is_none());
    }
}
