//! What an expression of the sources says as text, as far as it stands there.

use crate::lexer::Token;

/// What is only known when a statement comes.
pub(super) const UNKNOWN: &str = "…";

/// What names mean where an expression stands.
pub(super) struct Scope<'a> {
    /// The file.
    pub(super) file: &'a [Token],
    /// The expression's first token; what is searched for backwards is searched from here.
    pub(super) at: usize,
    /// The parameters of the helper that holds the expression, with what a call gives them.
    pub(super) given: &'a [(String, String)],
}

impl Scope<'_> {
    /// Every text the expression may be.
    pub(super) fn texts(&self, expr: &[Token]) -> Vec<String> {
        let expr = without_wrapping(expr);
        match expr {
            [Token::Text(text)] => vec![text.clone()],
            [Token::Word(word)] if word.chars().all(|c| c.is_ascii_digit() || c == '_') => {
                vec![word.replace('_', "")]
            }
            [Token::Word(name)] => self.named(name),
            [Token::Word(word), Token::Sign('!'), Token::Sign('('), Token::Text(form), ..]
                if word == "format" =>
            {
                vec![self.filled(form)]
            }
            _ => vec![UNKNOWN.to_owned()],
        }
    }

    fn named(&self, name: &str) -> Vec<String> {
        if let Some((_, text)) = self.given.iter().find(|(given, _)| given == name) {
            return vec![text.clone()];
        }
        if let Some(text) = self.constant(name) {
            return vec![text];
        }
        let mut found = self.local(name).unwrap_or_default();
        if found.is_empty() {
            found.push(UNKNOWN.to_owned());
        }
        found
    }

    fn constant(&self, name: &str) -> Option<String> {
        let is_it = |window: &&[Token]| window[0].is("const") && window[1].is(name);
        let from = self.file.windows(7).find(is_it)?;
        match from {
            [_, _, Token::Sign(':'), Token::Sign('&'), _, Token::Sign('='), Token::Text(text)] => {
                Some(text.clone())
            }
            _ => None,
        }
    }

    /// The texts of `let name = …;` in the same function, or of the table `reasons` that it searches.
    fn local(&self, name: &str) -> Option<Vec<String>> {
        let before = &self.file[..self.at];
        let start = before.iter().rposition(|token| token.is("fn"))?;
        let body = &before[start..];
        let value_of = |name: &str| {
            let at = body.windows(3).rposition(|window| {
                window[0].is("let") && window[1].is(name) && window[2].is("=")
            })?;
            let value = &body[at + 3..];
            value.split(|token| token.is(";")).next()
        };
        match value_of(name) {
            Some(value) => Some(match without_wrapping(value) {
                [Token::Text(_)] | [Token::Word(_), Token::Sign('!'), ..] => self.texts(value),
                value => alternatives(value),
            }),
            None => value_of("reasons").map(table),
        }
    }

    /// A format string with the parts that are known put in.
    fn filled(&self, form: &str) -> String {
        let mut out = String::new();
        let mut rest = form;
        while let Some(open) = rest.find(['{', '}']) {
            out.push_str(&rest[..open]);
            let sign = &rest[open..=open];
            rest = &rest[open + 1..];
            if let Some(after) = rest.strip_prefix(sign) {
                out.push_str(sign);
                rest = after;
            } else if let Some((name, after)) = rest.split_once('}') {
                let name = name.split(':').next().unwrap_or_default();
                let given = self.given.iter().find(|(given, _)| given == name);
                let known = given.map(|(_, text)| text.clone()).or_else(|| self.constant(name));
                out.push_str(known.as_deref().unwrap_or(UNKNOWN));
                rest = after;
            }
        }
        out + rest
    }
}

/// Without `&` before and method calls behind that keep the text.
fn without_wrapping(mut expr: &[Token]) -> &[Token] {
    while let [Token::Sign('&' | '*'), rest @ ..] = expr {
        expr = rest;
    }
    if let [rest @ .., Token::Sign('.'), Token::Word(_), Token::Sign('('), Token::Sign(')')] = expr
    {
        return without_wrapping(rest);
    }
    expr
}

/// The strings of an expression that takes one of several.
fn alternatives(expr: &[Token]) -> Vec<String> {
    let texts = expr.iter().filter_map(|token| match token {
        Token::Text(text) => Some(text.clone()),
        Token::Word(_) | Token::Sign(_) => None,
    });
    texts.collect()
}

/// The second parts of pairs.
fn table(pairs: &[Token]) -> Vec<String> {
    let seconds = pairs.windows(3).filter_map(|window| match window {
        [Token::Sign(','), Token::Text(text), Token::Sign(')')] => Some(text.clone()),
        _ => None,
    });
    seconds.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::tokens;

    fn texts(file: &str, expr: &str) -> Vec<String> {
        let file = tokens(file);
        let given = [("what".to_owned(), "WITH".to_owned())];
        Scope { file: &file, at: file.len(), given: &given }.texts(&tokens(expr))
    }

    #[test]
    fn what_is_known_is_put_in_and_the_rest_is_left_open() {
        assert_eq!(texts("", "&format!(\"{what} of `{}` {{x}}\", a.b)"), ["WITH of `…` {x}"]);
        assert_eq!(texts("const N: &str = \"narrow\";", "N"), ["narrow"]);
        assert_eq!(texts("const N: &str = \"n\";", "format!(\"{N}: {M}\")"), ["n: …"]);
        assert_eq!(texts("fn f() {", "computed(1)"), ["…"]);
    }

    #[test]
    fn a_table_of_reasons_gives_each_of_them() {
        let file =
            "fn f() { let reasons = [(a == \"x\", \"HAVING\"), (b, \"UNION\")]; Some((_, why))";
        assert_eq!(texts(file, "why"), ["HAVING", "UNION"]);
    }

    #[test]
    fn a_choice_gives_each_of_its_strings() {
        assert_eq!(texts("fn f() { let why = if a { \"x\" } else { \"y\" };", "why"), ["x", "y"]);
    }
}
