//! What was run, what was refused and what was different.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// Reasons shown for the refused.
const REASONS: usize = 30;

#[derive(Debug, Default)]
pub(crate) struct Report {
    /// By kind of statement: how many, how many refused, how many failed alike.
    pub(crate) kinds: BTreeMap<&'static str, Count>,
    /// Reasons of refused SELECTs and of everything else.
    pub(crate) select_reasons: BTreeMap<String, (usize, String)>,
    pub(crate) other_reasons: BTreeMap<String, (usize, String)>,
    /// By the shape of the smallest case: how often, and its file.
    pub(crate) found: BTreeMap<String, (usize, String)>,
    pub(crate) disagreements: usize,
    /// Statements to which the straight server gives Pando's answer as well as another one.
    pub(crate) both: Vec<String>,
}

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Count {
    pub(crate) run: usize,
    pub(crate) refused: usize,
    pub(crate) failed: usize,
}

impl Report {
    pub(crate) fn refused(&mut self, kind: &'static str, reason: &str, sql: &str) {
        self.kinds.entry(kind).or_default().refused += 1;
        let reasons =
            if kind == "select" { &mut self.select_reasons } else { &mut self.other_reasons };
        let entry = reasons.entry(nameless(reason)).or_insert_with(|| (0, sql.to_owned()));
        entry.0 += 1;
        // The shortest statement says most.
        if sql.len() < entry.1.len() {
            sql.clone_into(&mut entry.1);
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (kind, count) in other.kinds {
            let own = self.kinds.entry(kind).or_default();
            own.run += count.run;
            own.refused += count.refused;
            own.failed += count.failed;
        }
        for (own, theirs) in [
            (&mut self.select_reasons, other.select_reasons),
            (&mut self.other_reasons, other.other_reasons),
            (&mut self.found, other.found),
        ] {
            for (reason, (count, sql)) in theirs {
                own.entry(reason).or_insert((0, sql)).0 += count;
            }
        }
        self.disagreements += other.disagreements;
        self.both.extend(other.both);
    }

    pub(crate) fn statements(&self) -> usize {
        self.kinds.values().map(|count| count.run).sum()
    }

    /// For people, ends with a line break.
    pub(crate) fn text(&self, server: &str, took: Duration) -> String {
        let mut text = String::new();
        let total = self.statements();
        let pace =
            f64::from(u32::try_from(total).unwrap_or(u32::MAX)) / took.as_secs_f64().max(0.001);
        let _ = writeln!(
            text,
            "{server}: {total} statements in {:.0} s, {pace:.0} a second",
            took.as_secs_f64()
        );
        for (kind, count) in &self.kinds {
            let Count { run, refused, failed } = count;
            let _ = writeln!(
                text,
                "  {kind:14} {run:8} run, {refused:7} refused, {failed:6} failed alike"
            );
        }
        if let Some(count) = self.kinds.get("select") {
            let share = 1000 * count.refused / count.run.max(1);
            let _ = writeln!(text, "  refused SELECTs: {}.{} %", share / 10, share % 10);
        }
        for (title, reasons) in
            [("SELECT", &self.select_reasons), ("other statements", &self.other_reasons)]
        {
            let mut ranked: Vec<_> = reasons.iter().collect();
            ranked.sort_by_key(|(_, (count, _))| usize::MAX - count);
            if !ranked.is_empty() {
                let _ = writeln!(text, "  reasons, {title}:");
            }
            for (reason, (count, sql)) in ranked.into_iter().take(REASONS) {
                let _ = writeln!(text, "  {count:8} {reason}");
                let _ =
                    writeln!(text, "           e.g. {}", sql.chars().take(200).collect::<String>());
            }
        }
        if !self.both.is_empty() {
            let _ = writeln!(text, "  two answers of the straight server: {}", self.both.len());
        }
        for sql in self.both.iter().take(REASONS) {
            let _ = writeln!(text, "           {}", sql.chars().take(400).collect::<String>());
        }
        let _ = writeln!(
            text,
            "  disagreements: {} of {} shapes",
            self.disagreements,
            self.found.len()
        );
        text
    }
}

/// Without the names and numbers that make each reason different.
pub(crate) fn nameless(reason: &str) -> String {
    let mut out = String::new();
    let mut quote = None;
    for c in reason.chars() {
        match (c, quote) {
            ('`' | '\'' | '"', None) => {
                quote = Some(c);
                out.push(c);
                out.push('…');
            }
            (c, Some(open)) if c == open => {
                quote = None;
                out.push(c);
            }
            (_, Some(_)) => {}
            (c, None) if c.is_ascii_digit() => {
                if !out.ends_with('#') {
                    out.push('#');
                }
            }
            (c, None) => out.push(c),
        }
    }
    out
}

/// The shape of a statement: the same for statements that differ in names and constants only.
pub(crate) fn shape(sql: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    let mut word = String::new();
    let flush = |word: &mut String, out: &mut String| {
        let is_name = word.len() <= 4
            && word.starts_with(|c: char| c.is_ascii_lowercase())
            && (word.ends_with(|c: char| c.is_ascii_digit())
                || ["ta", "tb", "tc", "td", "te", "tf", "id", "g", "s"].contains(&word.as_str()));
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        out.push_str(if is_name {
            "n"
        } else if is_number {
            "#"
        } else {
            word.as_str()
        });
        word.clear();
    };
    for c in sql.chars() {
        match c {
            '\'' => {
                flush(&mut word, &mut out);
                quoted = !quoted;
                if quoted {
                    out.push_str("'…'");
                }
            }
            _ if quoted => {}
            c if c.is_alphanumeric() || c == '_' => word.push(c),
            c => {
                flush(&mut word, &mut out);
                out.push(c);
            }
        }
    }
    flush(&mut word, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_lose_their_names() {
        assert_eq!(nameless("`a` of 12 and `b c`"), "`…` of # and `…`");
    }

    #[test]
    fn statements_of_one_shape_meet() {
        let a = shape("select x1.c2 from ta x1 where x1.id = 12 and s = 'o x'");
        let b = shape("select x3.c0 from tb x3 where x3.g = 7 and s = ''");
        assert_eq!(a, b);
    }
}
