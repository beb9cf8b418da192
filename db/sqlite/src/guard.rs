//! What statements may reach with SQLite: a statement can open any file of the process, so none may. See [`pando_kernel::guard`].

use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::guard::{Guard, Scrutiny, denied, plain_rows};
use pando_sql::{Item, alike, reading};

use crate::dialect::SqliteDialect;

/// Functions that open files or load code. <https://www.sqlite.org/lang_corefunc.html#load_extension>
const OPENING: [&str; 4] = ["fts3_tokenizer", "load_extension", "readfile", "writefile"];

impl Guard for SqliteDialect {
    fn judge(&self, asked: &Scrutiny<'_>) -> Result<()> {
        let stmt = asked.statement;
        let items = reading(&stmt.text, self.tongue().syntax(), plain_rows(&stmt.kind))
            .map_err(|error| ErrorKind::Syntax { message: error.message, at: error.at })?;
        let is = |at: usize, word: &str| matches!(items.get(at), Some(Item::Name(name)) if name.is_word(word));
        let vacuums = is(0, "vacuum") && (0..items.len()).any(|at| is(at, "into"));
        if is(0, "attach") || is(0, "detach") || vacuums {
            return Err(denied("a file beside the database is not opened by a statement"));
        }
        for (at, item) in items.iter().enumerate() {
            let Item::Name(name) = item else { continue };
            let opens = OPENING.iter().any(|function| alike(function, name.last()));
            if opens && items.get(at + 1) == Some(&Item::Mark("(")) {
                return Err(denied(format!("`{}` opens files", name.last())));
            }
        }
        Ok(())
    }
}
