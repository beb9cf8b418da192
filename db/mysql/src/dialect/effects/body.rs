//! Whether the text of a stored function, trigger or view can be read with certainty, and does nothing that outlives it
//! on its session.

use pando_kernel::effects::{Said, said};
use pando_sql::{Token, TokenKind, tokenize};

use crate::dialect::SYNTAX;
use crate::modes::READING;

/// What a text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Function,
    Trigger,
    View,
}

/// Further words that call nothing before a parenthesis. Sorted.
const UNCALLED: &[&str] = &["do", "elseif", "if", "return", "until", "while"];

/// Words of what leaves something behind without being called: a file, a number of rows, a key.
const LEAVING: [&str; 4] = ["dumpfile", "last_insert_id", "outfile", "sql_calc_found_rows"];

/// Statements that end with a semicolon and do no more than read and change rows, or go elsewhere in the text.
const SIMPLE: [&str; 17] = [
    "close", "delete", "do", "fetch", "get", "insert", "iterate", "leave", "open", "replace",
    "resignal", "return", "select", "signal", "update", "values", "with",
];

/// Behind END, what it ends.
const ENDED: [&str; 5] = ["case", "if", "loop", "repeat", "while"];

/// The names in a text that leaves nothing but by them; `None` for any other. `mode` is the `sql_mode` under which its
/// server reads it.
pub(super) fn judged(owner: Owner, mode: &str, text: &str) -> Option<Vec<Said>> {
    let is_read_otherwise = mode.split(',').any(|mode| READING.contains(&mode));
    // A version decides what these are.
    if is_read_otherwise || text.contains("/*!") || text.contains("/*M!") {
        return None;
    }
    let tokens = tokenize(text, &SYNTAX).ok()?;
    let is_doubtful = |token: &Token| {
        let has_escapes = token.kind.is_string() && token.span.of(text).contains('\\');
        has_escapes || token.kind == TokenKind::Variable
    };
    if tokens.list.iter().any(is_doubtful) {
        return None;
    }
    let names = said(text, &tokens.list, UNCALLED)?;
    if names.iter().any(|said| LEAVING.contains(&&*said.name)) {
        return None;
    }
    let mut body = Body::new(text, &tokens.list);
    let is_read = match owner {
        Owner::Function => body.is_read(),
        Owner::Trigger => {
            body.has_rows = true;
            body.is_read()
        }
        Owner::View => {
            ["select", "with"].contains(&body.word(0)) && !body.pieces.contains(&";".to_owned())
        }
    };
    is_read.then_some(names)
}

/// A text as its words, in lower case, and marks; quoted names have a backtick in front, and everything else is empty.
struct Body {
    pieces: Vec<String>,
    /// Of each block that is open, its variables.
    scopes: Vec<Vec<String>>,
    /// NEW is a row here.
    has_rows: bool,
}

impl Body {
    fn new(text: &str, list: &[Token]) -> Self {
        let piece = |token: &Token| match token.kind {
            TokenKind::Word => token.span.of(text).to_lowercase(),
            TokenKind::QuotedIdentifier => {
                format!("`{}", token.span.of(text).trim_matches('`').to_lowercase())
            }
            TokenKind::Operator | TokenKind::Punctuation => token.span.of(text).to_owned(),
            TokenKind::UnicodeIdentifier
            | TokenKind::Number
            | TokenKind::String
            | TokenKind::EscapeString
            | TokenKind::UnicodeString
            | TokenKind::NationalString
            | TokenKind::BitString
            | TokenKind::HexString
            | TokenKind::DollarString
            | TokenKind::Parameter
            | TokenKind::Variable
            | TokenKind::End => String::new(),
        };
        Self { pieces: list.iter().map(piece).collect(), scopes: Vec::new(), has_rows: false }
    }

    fn word(&self, at: usize) -> &str {
        self.pieces.get(at).map_or("", |piece| piece)
    }

    fn is_name(&self, at: usize) -> bool {
        self.word(at).starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '`')
    }

    /// Whether each statement is one of those that are known.
    /// <https://dev.mysql.com/doc/refman/8.4/en/sql-compound-statements.html>
    fn is_read(&mut self) -> bool {
        let mut at = 0;
        while at < self.pieces.len() {
            match self.behind(at) {
                Some(next) => at = next,
                None => return false,
            }
        }
        true
    }

    /// Where the next statement may begin behind what begins here; `None` where it is not known what this is.
    fn behind(&mut self, at: usize) -> Option<usize> {
        match self.word(at) {
            ";" | "else" | "loop" | "repeat" => Some(at + 1),
            "begin" => {
                self.scopes.push(Vec::new());
                Some(at + 1)
            }
            "end" => self.ended(at + 1),
            "if" | "elseif" | "when" => self.reaches(at + 1, "then"),
            "case" => self.reaches(at + 1, "when").map(|when| when - 1),
            "while" => self.reaches(at + 1, "do"),
            "until" => self.reaches(at + 1, "end").map(|end| end - 1),
            "declare" => self.declared(at + 1),
            "set" => self.set(at + 1),
            word if SIMPLE.contains(&word) => self.finish(at + 1),
            _ if self.is_name(at) && self.word(at + 1) == ":" => Some(at + 2),
            _ => None,
        }
    }

    /// Behind the next of these outside of parentheses and of CASE that is an expression. A semicolon ends every
    /// search.
    fn reaches(&self, from: usize, word: &str) -> Option<usize> {
        let (mut depth, mut cases) = (0_usize, 0_usize);
        for (at, piece) in self.pieces.iter().enumerate().skip(from) {
            let is_part = self.word(at.checked_sub(1)?) == ".";
            match piece.as_str() {
                piece if piece == word && depth == 0 && cases == 0 && !is_part => {
                    return Some(at + 1);
                }
                "(" => depth += 1,
                ")" => depth = depth.checked_sub(1)?,
                "case" if !is_part => cases += 1,
                "end" if !is_part => cases = cases.checked_sub(1)?,
                ";" => return None,
                _ => {}
            }
        }
        None
    }

    /// Behind the semicolon of a statement, or the text's last.
    fn finish(&self, from: usize) -> Option<usize> {
        let rest = self.pieces.iter().enumerate().skip(from);
        let mut depth = 0_usize;
        for (at, piece) in rest {
            match piece.as_str() {
                "(" => depth += 1,
                ")" => depth = depth.checked_sub(1)?,
                ";" => return (depth == 0).then_some(at + 1),
                _ => {}
            }
        }
        (depth == 0).then_some(self.pieces.len())
    }

    /// Behind `END [IF | …] [label];`.
    fn ended(&mut self, from: usize) -> Option<usize> {
        let mut at = from;
        match ENDED.contains(&self.word(at)) {
            true => at += 1,
            false => drop(self.scopes.pop()?),
        }
        if self.is_name(at) {
            at += 1;
        }
        let is_last = at == self.pieces.len();
        (is_last || self.word(at) == ";").then_some(at + usize::from(!is_last))
    }

    /// Behind a declaration, or before the statement of a handler.
    fn declared(&mut self, from: usize) -> Option<usize> {
        if self.word(from + 1) == "handler" {
            return self.handled(from + 2);
        }
        let (mut at, mut names) = (from, Vec::new());
        loop {
            self.is_name(at).then(|| names.push(self.word(at).to_owned()))?;
            at += 1;
            match self.word(at) {
                "," => at += 1,
                "cursor" | "condition" => break,
                _ => {
                    self.scopes.last_mut()?.append(&mut names);
                    break;
                }
            }
        }
        self.finish(at)
    }

    /// Behind the conditions of a handler.
    fn handled(&self, from: usize) -> Option<usize> {
        (self.word(from) == "for").then_some(())?;
        let mut at = from + 1;
        loop {
            at += match (self.word(at), self.word(at + 1)) {
                ("sqlstate", "value") => 3,
                ("sqlstate", _) | ("not", "found") => 2,
                // A number, or a condition's name.
                _ => 1,
            };
            match self.word(at) {
                "," => at += 1,
                _ => return (at < self.pieces.len()).then_some(at),
            }
        }
    }

    /// Behind the assignments of SET, to columns of NEW and to variables of the blocks around: any other name is a
    /// setting of the session.
    fn set(&self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let is_row = self.has_rows && matches!(self.word(at), "new" | "`new");
            at += match (is_row, self.word(at + 1)) {
                (true, ".") if self.is_name(at + 2) => 3,
                _ if self.is_variable(self.word(at)) => 1,
                _ => return None,
            };
            at += match (self.word(at), self.word(at + 1)) {
                ("=" | ":=", _) => 1,
                (":", "=") => 2,
                _ => return None,
            };
            match self.assigned(at)? {
                comma if self.word(comma) == "," => at = comma + 1,
                end => return Some((end + 1).min(self.pieces.len())),
            }
        }
    }

    /// The comma or semicolon behind an expression, or the text's end.
    fn assigned(&self, from: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for (at, piece) in self.pieces.iter().enumerate().skip(from) {
            match piece.as_str() {
                "(" => depth += 1,
                ")" => depth = depth.checked_sub(1)?,
                "," if depth == 0 => return Some(at),
                ";" => return (depth == 0).then_some(at),
                _ => {}
            }
        }
        (depth == 0).then_some(self.pieces.len())
    }

    fn is_variable(&self, word: &str) -> bool {
        let alike = |name: &String| name.trim_start_matches('`') == word.trim_start_matches('`');
        !word.is_empty() && self.scopes.iter().flatten().any(alike)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRICT: &str = "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION";

    fn check(owner: Owner, (texts, is_harmless): (&[&str], bool)) {
        for text in texts {
            assert_eq!(judged(owner, STRICT, text).is_some(), is_harmless, "{text}");
        }
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(UNCALLED.is_sorted());
    }

    #[test]
    fn what_only_reads_and_changes_rows_leaves_nothing() {
        let texts = [
            "set new.at = now()",
            "SET NEW.a = 1, `NEW`.`b` := (select max(x) from t), new.c = if(new.a > 1, 2, 3)",
            "begin insert into log values (new.a); update n set c = c + 1; delete from o where id = old.id; end",
            "begin declare n, m int default 0; set n = 1; set `m` = n + 1; begin set n = 2; end; end",
            "begin if new.a > 1 then set new.b = 1; elseif (new.a = 0) then set new.b = 2; else set new.b = 3; end if; end",
            "if case when new.a then 1 else 0 end then set new.b = 1; end if",
            "begin case new.a when 1 then set new.b = 1; else begin end; end case; end",
            "begin declare exit handler for sqlexception, not found, sqlstate value '23000', 1062 begin end; insert into t values (1); end",
            "begin declare c cursor for select a from t; declare done int default 0; declare continue handler for not found set done = 1; \
             open c; read_loop: loop fetch c into done; if done then leave read_loop; end if; end loop read_loop; close c; end",
            "begin declare i int default 3; while i > 0 do set i = i - 1; end while; repeat set i = i + 1; until i > 3 end repeat; end",
            "begin if new.a is null then signal sqlstate '45000' set message_text = 'no'; end if; end",
            "insert into log (a, b) values (new.a, lower(new.b)) on duplicate key update b = values(b)",
        ];
        check(Owner::Trigger, (&texts, true));
        check(
            Owner::Function,
            (
                &[
                    "return concat(a, 'b')",
                    "begin declare n int; select count(*) into n from t; return n; end",
                ],
                true,
            ),
        );
        check(Owner::View, (&["select `d`.`t`.`a` AS `a`,lower('B') AS `b` from `d`.`t`"], true));
    }

    #[test]
    fn what_outlives_it_or_cannot_be_told_is_left() {
        let texts = [
            "set @a = 1",
            "set sort_buffer_size = 1",
            "set session sql_mode = ''",
            "set new.a = 1, sort_buffer_size = 1",
            "set new.a = 1, @b = 2",
            "begin begin declare sort_buffer_size int; end; set sort_buffer_size = 1; end",
            "begin declare sort_buffer_size condition for 1234; set sort_buffer_size = 1; end",
            "begin declare sort_buffer_size cursor for select 1; set sort_buffer_size = 1; end",
            "begin if new.a then set names latin1; end if; end",
            "begin if case when new.a then 1 end then create temporary table t (a int); end if; end",
            "begin case new.a when 1 then set role x; end case; end",
            "begin declare exit handler for sqlexception set time_zone = '+00:00'; end",
            "begin declare exit handler for sqlexception, 1062 create temporary table t (a int); end",
            "begin l: loop create temporary table t (a int); end loop; end",
            "begin while new.a do drop temporary table t; end while; end",
            "begin repeat call p(); until new.a end repeat; end",
            "set statement max_statement_time = 1 for select 1",
            "set password = 'x'",
            "set transaction read only",
            "insert into t values (last_insert_id(7))",
            "select sql_calc_found_rows a from t into outfile '/tmp/x'",
            "call p()",
            "prepare s from 'select 1'",
            "begin not atomic set new.a = 1; end",
            "for i in 1..3 do set new.a = i; end for",
            "insert into t values ('a\\' , (select 1)",
            "/*!50000 set @a = 1 */",
            "insert into t values (@a)",
            "insert into t values (@@sql_mode)",
            "begin insert into t values (1;); end",
            "lock tables t write",
        ];
        check(Owner::Trigger, (&texts, false));
        check(Owner::Function, (&["begin set new.key_buffer_size = 1; return 1; end"], false));
        check(Owner::View, (&["", "select last_insert_id() AS `a`", "select 1; select 2"], false));
        for mode in ["ANSI_QUOTES,STRICT_TRANS_TABLES", "NO_BACKSLASH_ESCAPES", "ORACLE"] {
            assert_eq!(judged(Owner::Trigger, mode, "set new.a = 1"), None, "{mode}");
        }
    }
}
