//! Which variables of a body stand open at a place of its text: those of each BEGIN … END around it.
//! <https://dev.mysql.com/doc/refman/8.4/en/local-variable-scope.html>

use std::collections::HashMap;

use super::{Reader, bare};

/// Words behind which a statement begins.
const BEFORE_STATEMENT: [&str; 6] = ["begin", "do", "else", "loop", "repeat", "then"];
/// What END ends that neither BEGIN nor CASE has begun.
const OTHERS: [&str; 5] = ["for", "if", "loop", "repeat", "while"];

/// What an END is waited for.
#[derive(Debug)]
enum Open {
    /// BEGIN, with the variables that are declared in it so far, in lower case.
    Block(Vec<String>),
    /// A CASE that is a statement: others stand in it.
    Statement,
    /// One that is a value.
    Value,
}

/// What is open at the place that has been read up to.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    open: Vec<Open>,
    /// How many open blocks have a variable of this name, in lower case.
    declared: HashMap<String, usize>,
}

impl Scopes {
    /// Reads the word at a place, which is no part of a longer name.
    pub(super) fn word(&mut self, body: &Reader<'_>, at: usize) {
        let is_value = matches!(self.open.last(), Some(Open::Value));
        let begins = !is_value && begins(body, at);
        // Handlers, where BEGIN stands elsewhere, too, are refused.
        if body.is(at, "begin") && begins {
            self.open.push(Open::Block(Vec::new()));
        } else if body.is(at, "case") && !at.checked_sub(1).is_some_and(|end| body.is(end, "end")) {
            self.open.push(if begins { Open::Statement } else { Open::Value });
        } else if body.is(at, "end") {
            let ends_other = OTHERS.iter().any(|word| body.is(at + 1, word));
            if is_value || !ends_other {
                self.close();
            }
        } else if body.is(at, "declare") && begins {
            self.declare(body, at);
        }
    }

    /// Whether a variable of this name is open.
    pub(super) fn has(&self, name: &str) -> bool {
        self.declared.contains_key(&name.to_lowercase())
    }

    /// Whether something is open still.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    fn close(&mut self) {
        let Some(Open::Block(names)) = self.open.pop() else { return };
        for name in names {
            let count = self.declared.get_mut(&name).map_or(0, |count| {
                *count -= 1;
                *count
            });
            if count == 0 {
                self.declared.remove(&name);
            }
        }
    }

    /// `DECLARE a, b INT`; cursors and conditions are no variables.
    fn declare(&mut self, body: &Reader<'_>, at: usize) {
        let Some(Open::Block(own)) = self.open.last_mut() else { return };
        let mut last = at + 1;
        while body.word(last + 1) == "," {
            last += 2;
        }
        if ["condition", "cursor"].iter().any(|word| body.is(last + 1, word)) {
            return;
        }
        for place in (at + 1..=last).step_by(2) {
            let name = bare(body.word(place)).to_lowercase();
            *self.declared.entry(name.clone()).or_default() += 1;
            own.push(name);
        }
    }
}

/// Whether a statement begins here.
fn begins(body: &Reader<'_>, at: usize) -> bool {
    at.checked_sub(1).is_none_or(|before| {
        matches!(body.word(before), ";" | ":")
            || BEFORE_STATEMENT.iter().any(|word| body.is(before, word))
    })
}
