//! Regular expressions, for `~` and REGEXP: SQLite has the operator but no function behind it. The usual operators of POSIX and the letter classes; what a
//! set of states cannot do (references back, looking around) is an error. Time is pattern times text, never more.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, Result};

use crate::arguments::{argument, failed};

/// Steps a pattern may have, repetitions written out.
const LONGEST: usize = 10_000;

/// Groups inside groups.
const DEEPEST: usize = 100;

/// A pattern, ready to be looked for.
#[derive(Debug)]
pub(crate) struct Pattern {
    steps: Vec<Step>,
    folds: bool,
}

#[derive(Debug, Clone)]
enum Step {
    /// One letter of a set.
    Letter(Set),
    Start,
    End,
    /// Both ways are open.
    Fork(usize, usize),
    Jump(usize),
    Found,
}

#[derive(Debug, Clone)]
struct Set {
    negated: bool,
    ranges: Vec<(char, char)>,
}

impl Set {
    fn one(letter: char) -> Self {
        Self { negated: false, ranges: vec![(letter, letter)] }
    }

    fn any() -> Self {
        Self { negated: true, ranges: Vec::new() }
    }

    fn has(&self, letter: char) -> bool {
        self.ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter)) != self.negated
    }
}

/// A parsed part.
#[derive(Debug, Clone)]
enum Part {
    Letter(Set),
    Start,
    End,
    All(Vec<Part>),
    Either(Vec<Part>),
    Repeat(Box<Part>, usize, Option<usize>),
}

/// Makes the function behind the operator known to a connection.
pub(crate) fn register(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("regexp", 2, flags, matches)
}

fn matches(ctx: &Context<'_>) -> Result<Option<bool>> {
    let (Some(pattern), Some(text)) = (argument(ctx, 0)?, argument(ctx, 1)?) else {
        return Ok(None);
    };
    let pattern = Pattern::new(&pattern)
        .map_err(|why| failed(format!("invalid regular expression `{pattern}`: {why}")))?;
    Ok(Some(pattern.is_in(&text)))
}

impl Pattern {
    /// Reads a pattern. The error says what is wrong with it.
    pub(crate) fn new(text: &str) -> std::result::Result<Self, String> {
        let (text, folds) = match text.strip_prefix("(?i)") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let letters: Vec<char> = text.chars().collect();
        let mut reader = Reader { letters: &letters, at: 0, depth: 0 };
        let part = reader.either()?;
        if reader.at < letters.len() {
            return Err("a `)` closes nothing".to_owned());
        }
        let mut steps = Vec::new();
        write(&part, &mut steps)?;
        steps.push(Step::Found);
        Ok(Self { steps, folds })
    }

    /// Whether it occurs anywhere in the text.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let mut now = States::new(self.steps.len());
        let mut next = States::new(self.steps.len());
        let mut letters = text.chars().peekable();
        let mut place = Place { is_start: true, is_end: false };
        loop {
            let letter = letters.next();
            place.is_end = letter.is_none();
            if self.follow(&mut now, 0, place) {
                return true;
            }
            let Some(letter) = letter else { return false };
            place = Place { is_start: false, is_end: letters.peek().is_none() };
            next.clear();
            for &at in &now.list {
                let Some(Step::Letter(set)) = self.steps.get(at) else { continue };
                if self.fits(set, letter) && self.follow(&mut next, at + 1, place) {
                    return true;
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
    }

    fn fits(&self, set: &Set, letter: char) -> bool {
        if !self.folds {
            return set.has(letter);
        }
        let both = letter.to_lowercase().chain(letter.to_uppercase());
        let mut found =
            both.map(|letter| set.ranges.iter().any(|(a, b)| (*a..=*b).contains(&letter)));
        found.any(|found| found) != set.negated
    }

    /// Adds what can be reached without a letter; whether the end is.
    fn follow(&self, states: &mut States, from: usize, place: Place) -> bool {
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if !states.add(at) {
                continue;
            }
            match self.steps.get(at) {
                Some(Step::Found) => return true,
                Some(Step::Jump(to)) => open.push(*to),
                Some(Step::Fork(a, b)) => open.extend([*b, *a]),
                Some(Step::Start) if place.is_start => open.push(at + 1),
                Some(Step::End) if place.is_end => open.push(at + 1),
                Some(Step::Start | Step::End | Step::Letter(_)) | None => {}
            }
        }
        false
    }
}

/// Where in a text something stands.
#[derive(Debug, Clone, Copy)]
struct Place {
    is_start: bool,
    is_end: bool,
}

/// Steps that are reached, each once.
struct States {
    list: Vec<usize>,
    has: Vec<bool>,
}

impl States {
    fn new(steps: usize) -> Self {
        Self { list: Vec::new(), has: vec![false; steps] }
    }

    fn add(&mut self, at: usize) -> bool {
        match self.has.get_mut(at) {
            Some(has) if !*has => {
                *has = true;
                self.list.push(at);
                true
            }
            _ => false,
        }
    }

    fn clear(&mut self) {
        for at in self.list.drain(..) {
            self.has[at] = false;
        }
    }
}

fn write(part: &Part, steps: &mut Vec<Step>) -> std::result::Result<(), String> {
    if steps.len() > LONGEST {
        return Err(format!("it has more than {LONGEST} steps"));
    }
    match part {
        Part::Letter(set) => steps.push(Step::Letter(set.clone())),
        Part::Start => steps.push(Step::Start),
        Part::End => steps.push(Step::End),
        Part::All(parts) => parts.iter().try_for_each(|part| write(part, steps))?,
        Part::Either(parts) => {
            let mut jumps = Vec::new();
            for (at, part) in parts.iter().enumerate() {
                if at + 1 == parts.len() {
                    write(part, steps)?;
                    break;
                }
                let fork = steps.len();
                steps.push(Step::Fork(fork + 1, fork + 1));
                write(part, steps)?;
                jumps.push(steps.len());
                steps.push(Step::Jump(0));
                steps[fork] = Step::Fork(fork + 1, steps.len());
            }
            for jump in jumps {
                steps[jump] = Step::Jump(steps.len());
            }
        }
        Part::Repeat(part, least, most) => {
            for _ in 0..*least {
                write(part, steps)?;
            }
            let Some(most) = most else {
                let fork = steps.len();
                steps.push(Step::Fork(fork + 1, fork + 1));
                write(part, steps)?;
                steps.push(Step::Jump(fork));
                steps[fork] = Step::Fork(fork + 1, steps.len());
                return Ok(());
            };
            for _ in *least..*most {
                let fork = steps.len();
                steps.push(Step::Fork(fork + 1, fork + 1));
                write(part, steps)?;
                steps[fork] = Step::Fork(fork + 1, steps.len());
            }
        }
    }
    Ok(())
}

struct Reader<'a> {
    letters: &'a [char],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn eat(&mut self, letter: char) -> bool {
        let is = self.peek() == Some(letter);
        self.at += usize::from(is);
        is
    }

    fn either(&mut self) -> std::result::Result<Part, String> {
        let mut parts = vec![self.all()?];
        while self.eat('|') {
            parts.push(self.all()?);
        }
        Ok(Part::Either(parts))
    }

    fn all(&mut self) -> std::result::Result<Part, String> {
        let mut parts = Vec::new();
        while let Some(letter) = self.peek()
            && !matches!(letter, '|' | ')')
        {
            let part = self.one()?;
            parts.push(self.repeated(part)?);
        }
        Ok(Part::All(parts))
    }

    fn repeated(&mut self, mut part: Part) -> std::result::Result<Part, String> {
        loop {
            let (least, most) = match self.peek() {
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('?') => (0, Some(1)),
                Some('{') if self.letters.get(self.at + 1).is_some_and(char::is_ascii_digit) => {
                    self.at += 1;
                    let bounds = self.bounds()?;
                    part = Part::Repeat(Box::new(part), bounds.0, bounds.1);
                    self.eat('?');
                    continue;
                }
                _ => return Ok(part),
            };
            self.at += 1;
            // Whether as much or as little as can be is taken does not change whether there is a match.
            self.eat('?');
            part = Part::Repeat(Box::new(part), least, most);
        }
    }

    /// `m}`, `m,}` or `m,n}`.
    fn bounds(&mut self) -> std::result::Result<(usize, Option<usize>), String> {
        let least = self.number().ok_or("a number is expected behind `{`")?;
        let most = match self.eat(',') {
            true => self.number(),
            false => Some(least),
        };
        let in_order = most.is_none_or(|most| least <= most && most <= 255) && least <= 255;
        if !in_order || !self.eat('}') {
            return Err("bounds must be `{m}`, `{m,}` or `{m,n}`, of 255 at most".to_owned());
        }
        Ok((least, most))
    }

    fn number(&mut self) -> Option<usize> {
        let from = self.at;
        while self.peek().is_some_and(|letter| letter.is_ascii_digit()) {
            self.at += 1;
        }
        let text: String = self.letters.get(from..self.at)?.iter().collect();
        text.parse().ok()
    }

    fn one(&mut self) -> std::result::Result<Part, String> {
        let Some(letter) = self.peek() else { return Err("it ends too early".to_owned()) };
        self.at += 1;
        Ok(match letter {
            '^' => Part::Start,
            '$' => Part::End,
            '.' => Part::Letter(Set::any()),
            '(' => return self.group(),
            '[' => Part::Letter(self.set()?),
            '\\' => Part::Letter(self.escaped()?),
            '*' | '+' | '?' => return Err(format!("`{letter}` repeats nothing")),
            other => Part::Letter(Set::one(other)),
        })
    }

    fn group(&mut self) -> std::result::Result<Part, String> {
        if self.peek() == Some('?') {
            self.at += 1;
            if !self.eat(':') {
                return Err("looking around is not supported".to_owned());
            }
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("more than {DEEPEST} groups are nested"));
        }
        let part = self.either()?;
        self.depth -= 1;
        if self.eat(')') { Ok(part) } else { Err("a `(` is never closed".to_owned()) }
    }

    fn escaped(&mut self) -> std::result::Result<Set, String> {
        let Some(letter) = self.peek() else { return Err("it ends with a backslash".to_owned()) };
        self.at += 1;
        let class = class(letter.to_ascii_lowercase());
        Ok(match (letter, class) {
            (_, Some(ranges)) => Set { negated: letter.is_ascii_uppercase(), ranges },
            ('n', _) => Set::one('\n'),
            ('t', _) => Set::one('\t'),
            ('r', _) => Set::one('\r'),
            (other, _) if other.is_ascii_alphanumeric() => {
                return Err(format!("`\\{other}` is not supported"));
            }
            (other, _) => Set::one(other),
        })
    }

    fn set(&mut self) -> std::result::Result<Set, String> {
        let mut set = Set { negated: self.eat('^'), ranges: Vec::new() };
        let mut is_first = true;
        loop {
            let Some(letter) = self.peek() else { return Err("a `[` is never closed".to_owned()) };
            self.at += 1;
            match letter {
                ']' if !is_first => return Ok(set),
                '[' if self.peek() == Some(':') => set.ranges.extend(self.named()?),
                '\\' => set.ranges.extend(self.escaped()?.ranges),
                from if self.peek() == Some('-')
                    && self.letters.get(self.at + 1).is_some_and(|next| *next != ']') =>
                {
                    self.at += 1;
                    let to = self.peek().unwrap_or(from);
                    self.at += 1;
                    set.ranges.push((from, to));
                }
                other => set.ranges.push((other, other)),
            }
            is_first = false;
        }
    }

    /// `:alpha:]` inside a set.
    fn named(&mut self) -> std::result::Result<Vec<(char, char)>, String> {
        self.at += 1;
        let from = self.at;
        while self.peek().is_some_and(|letter| letter != ':') {
            self.at += 1;
        }
        let name: String = self.letters.get(from..self.at).unwrap_or_default().iter().collect();
        if !(self.eat(':') && self.eat(']')) {
            return Err("a `[:` is never closed".to_owned());
        }
        Ok(match name.as_str() {
            "alpha" => vec![('a', 'z'), ('A', 'Z')],
            "digit" => vec![('0', '9')],
            "alnum" => vec![('a', 'z'), ('A', 'Z'), ('0', '9')],
            "lower" => vec![('a', 'z')],
            "upper" => vec![('A', 'Z')],
            "space" => vec![(' ', ' '), ('\t', '\r')],
            "blank" => vec![(' ', ' '), ('\t', '\t')],
            "punct" => vec![('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
            "xdigit" => vec![('0', '9'), ('a', 'f'), ('A', 'F')],
            _ => return Err(format!("class `{name}` is not known")),
        })
    }
}

fn class(letter: char) -> Option<Vec<(char, char)>> {
    match letter {
        'd' => Some(vec![('0', '9')]),
        'w' => Some(vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]),
        's' => Some(vec![(' ', ' '), ('\t', '\r')]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_what_posix_says() {
        let cases = [
            ("^(t_order)$", "t_order", true),
            ("^(t_order)$", "t_order_0", false),
            ("^pg_toast", "pg_toast_1", true),
            ("a.*c", "xxabbbc", true),
            ("^(t_.*|v)$", "v", true),
            ("^(t_.*|v)$", "w", false),
            ("[^a-c]", "abc", false),
            ("[[:digit:]]{2,3}$", "a1", false),
            ("[[:digit:]]{2,3}$", "a12", true),
            ("(?i)^ABC$", "aBc", true),
            ("(?i)[^a]", "A", false),
            (r"\.", "ab", false),
            (r"^\w+\s\d+$", "ab 12", true),
            ("", "", true),
            ("(a*)*b", &"a".repeat(200), false),
            ("x?y", "y", true),
            ("a{2}", "a", false),
            ("é+$", "caféé", true),
        ];
        for (pattern, text, expected) in cases {
            let found = Pattern::new(pattern).unwrap().is_in(text);
            assert_eq!(found, expected, "{pattern} in {text}");
        }
    }

    #[test]
    fn what_cannot_be_matched_is_an_error() {
        for pattern in
            ["(", ")", "[a", "*", "a{3,2}", "(?=a)", r"(a)\1", "(((a{255}){255}){255})", "[[:x:]]"]
        {
            assert!(Pattern::new(pattern).is_err(), "{pattern}");
        }
        assert!(Pattern::new(&"(".repeat(100_000)).is_err());
    }
}
