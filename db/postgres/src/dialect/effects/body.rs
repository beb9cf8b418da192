//! Whether the source of a routine can be read with certainty, and does nothing that outlives it on its session.

use pando_kernel::effects::{Leaves, Said, Stands, said};
use pando_sql::{Token, TokenKind, tokenize};

use crate::dialect::SYNTAX;

/// What a source is written in, as far as its statements can be told from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dialect) enum Language {
    Sql,
    PlPgSql,
    /// One of both, with something about it that is not judged.
    Other,
}

/// Further words of PL/pgSQL that call nothing before a parenthesis. Sorted.
pub(in crate::dialect) const UNCALLED: &[&str] = &[
    "assert", "cursor", "default", "else", "elseif", "elsif", "if", "next", "perform", "query",
    "return", "reverse", "while",
];

/// Keywords of what runs a statement that somebody else has made, or puts into rows what a command tells. They may
/// stand where a query is expected.
/// <https://www.postgresql.org/docs/current/plpgsql-cursors.html>
const RUNNING: [&str; 5] = ["call", "execute", "explain", "fetch", "show"];

/// Behind INTO, what makes a table.
const MAKING: [&str; 6] = ["global", "local", "table", "temp", "temporary", "unlogged"];

/// Statements of SQL that read and change rows.
const ROWS: [&str; 7] = ["select", "insert", "update", "delete", "merge", "values", "with"];

/// Those of PL/pgSQL that end with a semicolon and do no more than their expressions.
const SIMPLE: [&str; 8] =
    ["assert", "continue", "exit", "get", "null", "perform", "raise", "return"];

/// Words of statements that prepare others, define something or run what is put together. A keyword cannot be written
/// otherwise but in a text that one of these runs.
const DEFINING: [&str; 9] =
    ["alter", "create", "deallocate", "discard", "drop", "execute", "import", "prepare", "seed"];

/// What a routine may leave by itself, and the names in its source by which it may leave more.
pub(in crate::dialect) fn judged(language: Language, source: &str) -> (Leaves, Vec<Said>) {
    let Ok(tokens) = tokenize(source, &SYNTAX) else { return (Leaves::Definitions, Vec::new()) };
    // Where `standard_conforming_strings` is off they end elsewhere.
    let is_doubtful =
        |token: &Token| token.kind == TokenKind::String && token.span.of(source).contains('\\');
    let names = said(source, &tokens.list, UNCALLED);
    let Some(names) = names.filter(|_| !tokens.list.iter().any(is_doubtful)) else {
        return (Leaves::Definitions, Vec::new());
    };
    let body = Body::new(source, &tokens.list);
    let is_read = match language {
        Language::Sql => body.is_sql(),
        Language::PlPgSql => body.is_plpgsql(),
        Language::Other => false,
    };
    let leaves = match is_read && body.runs_none() && !names.iter().any(is_servers_own) {
        true => Leaves::Nothing,
        false if body.defines(source) || body.writes() && names.iter().any(is_servers_own) => {
            Leaves::Definitions
        }
        false => Leaves::State,
    };
    (leaves, names)
}

/// Whether a table of the server's own is named, or the schema of temporary ones: writing to some is SET, or defines
/// something.
fn is_servers_own(said: &Said) -> bool {
    said.stands != Stands::Called && said.name.starts_with("pg_") && said.name != "pg_catalog"
}

/// A source as its keywords, in lower case, and marks; what is neither is empty.
struct Body(Vec<String>);

impl Body {
    fn new(source: &str, list: &[Token]) -> Self {
        let piece = |token: &Token| match token.kind {
            TokenKind::Word => token.span.of(source).to_ascii_lowercase(),
            TokenKind::Operator | TokenKind::Punctuation => token.span.of(source).to_owned(),
            TokenKind::QuotedIdentifier
            | TokenKind::UnicodeIdentifier
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
        Self(list.iter().map(piece).collect())
    }

    fn word(&self, at: usize) -> &str {
        self.0.get(at).map_or("", |word| word)
    }

    /// Whether none of its words may run what stands elsewhere, or make a table.
    fn runs_none(&self) -> bool {
        self.0.iter().enumerate().all(|(at, word)| {
            let makes = word == "into" && MAKING.contains(&self.word(at + 1));
            !(makes || RUNNING.contains(&word.as_str()))
        })
    }

    /// Whether it may write: in the server's own tables that is a definition, to whom it is allowed.
    fn writes(&self) -> bool {
        let writes = ["copy", "delete", "insert", "merge", "update"];
        self.0.iter().any(|word| writes.contains(&word.as_str()))
    }

    /// Whether it may prepare statements or define something.
    fn defines(&self, source: &str) -> bool {
        let source = source.to_lowercase();
        let does = |(at, word): (usize, &String)| {
            word == "do" && !matches!(self.word(at + 1), "update" | "nothing")
        };
        DEFINING.iter().any(|word| source.contains(word)) || self.0.iter().enumerate().any(does)
    }

    /// Whether each statement reads or changes rows, and makes no table of them.
    fn is_sql(&self) -> bool {
        let mut begins = true;
        self.0.iter().enumerate().all(|(at, word)| {
            let is_first = std::mem::replace(&mut begins, word == ";");
            let before = at.checked_sub(1).map_or("", |before| self.word(before));
            match word.as_str() {
                "into" => matches!(before, "insert" | "merge"),
                ";" => true,
                word => !is_first || ROWS.contains(&word),
            }
        })
    }

    /// Whether each statement is one of those that are known. They are told from each other as the server does it,
    /// which reads to the next THEN, LOOP or semicolon without looking at what stands between.
    /// <https://www.postgresql.org/docs/current/plpgsql-structure.html>
    fn is_plpgsql(&self) -> bool {
        let mut at = 0;
        while at < self.0.len() {
            match self.behind(at) {
                Some(next) => at = next,
                None => return false,
            }
        }
        true
    }

    /// Where the next statement may begin behind what begins here; `None` where it is not known what this is.
    fn behind(&self, at: usize) -> Option<usize> {
        match self.word(at) {
            ";" | "begin" | "else" | "loop" | "exception" => Some(at + 1),
            "<<" => (self.word(at + 2) == ">>").then_some(at + 3),
            "declare" => self.declared(at + 1),
            "if" | "elsif" | "elseif" | "when" => self.reaches(at + 1, "then"),
            "case" => self.reaches(at + 1, "when").map(|when| when - 1),
            "while" | "for" | "foreach" => self.reaches(at + 1, "loop"),
            "end" => self.ended(at + 1),
            word if ROWS.contains(&word) || SIMPLE.contains(&word) => self.reaches(at + 1, ";"),
            _ => self.assigned(at).and_then(|at| self.reaches(at, ";")),
        }
    }

    /// Behind the next of these outside of parentheses. A semicolon ends every search.
    fn reaches(&self, from: usize, word: &str) -> Option<usize> {
        let mut depth = 0_usize;
        for (at, piece) in self.0.iter().enumerate().skip(from) {
            match piece.as_str() {
                piece if piece == word && depth == 0 => return Some(at + 1),
                "(" | "[" => depth += 1,
                ")" | "]" => depth = depth.checked_sub(1)?,
                ";" => return None,
                _ => {}
            }
        }
        None
    }

    /// Behind the declarations, at the block's BEGIN.
    fn declared(&self, from: usize) -> Option<usize> {
        let rest = self.0.iter().enumerate().skip(from);
        rest.into_iter().find(|(_, word)| *word == "begin").map(|(at, _)| at)
    }

    /// Behind `END [IF | LOOP | CASE] [label];`. The last semicolon may be missing.
    fn ended(&self, from: usize) -> Option<usize> {
        let rest = self.0.get(from..)?;
        let length = rest.iter().position(|word| word == ";").map_or(rest.len(), |at| at + 1);
        (length <= 3).then_some(from + length)
    }

    /// Behind the sign of an assignment, if a variable, with fields and subscripts, stands before it.
    fn assigned(&self, at: usize) -> Option<usize> {
        let mut at = at;
        self.is_name(at).then_some(())?;
        at += 1;
        loop {
            match self.word(at) {
                ":=" | "=" => return Some(at + 1),
                ":" if self.word(at + 1) == "=" => return Some(at + 2),
                "." if self.is_name(at + 1) => at += 2,
                "[" => at = self.reaches(at + 1, "]")?,
                _ => return None,
            }
        }
    }

    fn is_name(&self, at: usize) -> bool {
        let name = |word: &String| {
            word.is_empty() || word.starts_with(|c: char| c.is_alphabetic() || c == '_')
        };
        self.0.get(at).is_some_and(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: Language, cases: &[(&str, Leaves)]) {
        for (source, expected) in cases {
            assert_eq!(judged(language, source).0, *expected, "{source}");
        }
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(UNCALLED.is_sorted());
    }

    #[test]
    fn what_only_reads_and_changes_rows_leaves_nothing() {
        let nothing = |source| (source, Leaves::Nothing);
        check(
            Language::PlPgSql,
            &[
                nothing("begin NEW.at := now(); return NEW; end"),
                nothing("\nBEGIN\n  NEW.at = clock_timestamp();\n  RETURN NEW;\nEND;\n"),
                nothing("begin end"),
                nothing("begin null; end;"),
                nothing("declare n int := 0; t public.u%rowtype; begin n := n + 1; return n; end"),
                nothing(
                    "declare a int[]; begin a[1] := 2; a[n.x] = 3; t.r.a := 1; return null; end",
                ),
                nothing(
                    "begin if TG_OP = 'DELETE' then delete from l where id = old.id; return old; \
                         elsif (new.a > 1) then return null; else update l set n = n + 1; end if; return new; end",
                ),
                nothing(
                    "begin insert into log (a, b) values (new.a, lower(new.b)) on conflict (a) do update set b = excluded.b; return new; end",
                ),
                nothing(
                    "begin insert into log select (new).* on conflict do nothing; return null; end",
                ),
                nothing("begin for i in 1..3 loop perform i; end loop; return new; end"),
                nothing(
                    "declare r record; begin for r in select * from t where a = (new.a) loop n := r.b; end loop; end",
                ),
                nothing(
                    "<<top>> begin while n > 0 loop n := n - 1; exit top when n = 3; continue; end loop top; end top",
                ),
                nothing(
                    "begin case new.a when 1 then n := 1; when 2, 3 then n := 2; else n := 3; end case; return new; end",
                ),
                nothing("begin n := case when new.a > 1 then 2 else 3 end; return new; end"),
                nothing(
                    "begin select count(*) into n from t; select a into strict n from t; return n; end",
                ),
                nothing(
                    "begin begin insert into t values (1); exception when unique_violation or others then raise notice 'x %', sqlerrm; end; return new; end",
                ),
                nothing(
                    "begin raise exception 'no % of %', new.a, tg_table_name using errcode = '22000'; end",
                ),
                nothing(
                    "begin with w as (insert into l values (1) returning id) select id into n from w; return n; end",
                ),
                nothing(
                    "begin get diagnostics n = row_count; return query select * from t; return next; return; end",
                ),
                nothing("begin return (select set_at from t); end -- execute\n"),
                nothing("begin return E'it\\'s'; /* set role */ end"),
            ],
        );
        check(
            Language::Sql,
            &[
                nothing("select $1 + 1"),
                nothing("insert into t (a) values ($1); update u set a = 1; select 1;"),
                nothing("with w as (delete from t returning a) select a from w"),
                nothing("merge into t using u on true when matched then delete"),
                nothing("values (1)"),
            ],
        );
    }

    #[test]
    fn what_outlives_it_or_cannot_be_told_is_left() {
        let state = |source| (source, Leaves::State);
        check(
            Language::PlPgSql,
            &[
                state("begin set search_path = evil; return new; end"),
                state("begin if true then set role x; end if; end"),
                state("begin if true then null; else reset all; end if; end"),
                state("begin loop listen c; end loop; end"),
                state("begin begin lock table t; exception when others then listen c; end; end"),
                state("begin case a when 1 then listen c; end case; end"),
                // The server reads to the first THEN, wherever it stands.
                state("begin if case when a then listen c; b end then end if; end"),
                state("begin <<label>> listen c; end"),
                state("begin for r in show search_path loop null; end loop; end"),
                state("declare c cursor for explain analyze select 1; begin null; end"),
                state("begin return query fetch all from c; end"),
                state("begin load 'x'; end"),
                state("begin notify c; end"),
                state("begin truncate t; end"),
                state("begin call p(); end"),
                state("begin open c; end"),
                state("begin n := (select count(*) from pg_class); end"),
                state("begin commit; end"),
                state("begin select 1 into temp t; end"),
                state("begin n := 1 into unlogged t; end"),
                state("begin update t set a = (1; end"),
                state("#variable_conflict use_column\nbegin end"),
                state("begin new.a + 1; end"),
                state("begin end extra of it; end"),
            ],
        );
        check(
            Language::Sql,
            &[
                state("select 1; set search_path = evil"),
                state("select 1 into t"),
                state("select 1; listen c"),
                state("notify c"),
            ],
        );
        check(Language::Other, &[state("select 1"), state("begin return new; end")]);
    }

    #[test]
    fn what_may_prepare_or_define_is_told_apart() {
        let worst = |source| (source, Leaves::Definitions);
        check(
            Language::PlPgSql,
            &[
                worst("begin execute 'select 1'; end"),
                worst("begin update pg_settings set setting = 1; end"),
                worst("begin update \"pg_settings\" set setting = 1; end"),
                worst("begin update pg_catalog.pg_proc set prosrc = ''; end"),
                worst("begin insert into pg_temp.t values (1); end"),
                worst("begin for r in execute 'select 1' loop null; end loop; end"),
                worst("begin return query execute q; end"),
                worst("begin create temporary table t (a int); end"),
                worst(
                    "begin create trigger t before insert on u for each row execute function f(); end",
                ),
                worst("begin alter table t add a int; end"),
                worst("begin drop table t; end"),
                worst("begin do E'begin \\x65xecute 1; end'; end"),
                worst("begin do language plpgsql 'begin end'; end"),
                worst("begin discard all; end"),
                // Where this ends depends on a setting.
                worst("begin return 'a\\'; listen c; --'; end"),
                worst("begin return U&\"f\\0061\"(); end"),
                worst("begin return 'open; end"),
            ],
        );
        check(Language::Sql, &[worst("prepare p as select 1"), worst("create table t ()")]);
        check(Language::Other, &[worst("begin execute 1; end")]);
    }
}
