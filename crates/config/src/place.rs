//! Where a value stands: file, line, column and the path of keys that leads to it.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The keys and positions from the root to a value, as `rules[0].!SHARDING.tables.t_order`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Path(Option<Arc<Link>>);

#[derive(Debug, PartialEq, Eq)]
struct Link {
    parent: Path,
    step: Step,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(Arc<str>),
    Index(usize),
    Tag(Arc<str>),
}

impl Path {
    /// This path followed by a mapping's key.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.then(Step::Key(key.into()))
    }

    /// This path followed by a position in a list, from 0.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.then(Step::Index(index))
    }

    /// This path followed by a tag, written without its `!`.
    #[must_use]
    pub fn tag(&self, tag: &str) -> Self {
        self.then(Step::Tag(tag.into()))
    }

    fn then(&self, step: Step) -> Self {
        Self(Some(Arc::new(Link { parent: self.clone(), step })))
    }

    /// Whether it is the root itself.
    pub fn is_root(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(link) = &self.0 else { return Ok(()) };
        link.parent.fmt(f)?;
        let dot = if link.parent.is_root() { "" } else { "." };
        match &link.step {
            Step::Key(key) if is_simple(key) => write!(f, "{dot}{key}"),
            Step::Key(key) => write!(f, "{dot}{key:?}"),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Tag(tag) => write!(f, "{dot}!{tag}"),
        }
    }
}

fn is_simple(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'))
}

/// The place of a value in a configuration file. The default is nowhere: a value that came from no file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct At {
    file: Option<Arc<str>>,
    line: usize,
    column: usize,
    path: Path,
}

impl At {
    /// A place in `file`; line and column count from 1, the column in characters.
    pub fn new(file: Arc<str>, line: usize, column: usize, path: Path) -> Self {
        Self { file: Some(file), line, column, path }
    }

    /// The file's name without its folder; empty for a value from no file.
    pub fn file(&self) -> &str {
        self.file.as_deref().unwrap_or_default()
    }

    /// The line, from 1; 0 for a value from no file.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in characters, from 1; 0 for a value from no file.
    pub fn column(&self) -> usize {
        self.column
    }

    /// The keys that lead to the value.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn with_path(&self, path: Path) -> Self {
        Self { path, ..self.clone() }
    }

    /// A problem with what stands here.
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        Problem { at: self.clone(), message: message.into() }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            f.write_str(file)?;
        }
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        if !self.path.is_root() {
            let gap = if self.file.is_some() { ": " } else { "" };
            write!(f, "{gap}{}", self.path)?;
        }
        Ok(())
    }
}

/// A value together with its place, so that a later check can still say where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub at: At,
}

impl<T> Placed<T> {
    /// A value from no file, for configuration made by commands.
    pub fn nowhere(value: T) -> Self {
        Self { value, at: At::default() }
    }
}

impl<T> Deref for Placed<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it is wrong.
    pub at: At,
    /// What is wrong and what was expected.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at == At::default() {
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.at, self.message)
    }
}

/// Everything found wrong in one load; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Errors(Vec<Problem>);

impl Errors {
    /// The problems file by file, in each from top to bottom.
    pub fn problems(&self) -> &[Problem] {
        &self.0
    }
}

impl From<Problem> for Errors {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

/// Where problems are gathered while reading goes on.
#[derive(Debug, Default)]
pub struct Report {
    errors: Vec<Problem>,
    warnings: Vec<Problem>,
}

/// More problems than this are not collected: the reader of a list that long starts at its top anyway.
const MOST_PROBLEMS: usize = 100;

impl Report {
    /// Notes an error; the load will fail.
    pub fn error(&mut self, problem: Problem) {
        if self.errors.len() < MOST_PROBLEMS {
            self.errors.push(problem);
        }
    }

    /// Notes a warning; the load goes on.
    pub fn warn(&mut self, problem: Problem) {
        if self.warnings.len() < MOST_PROBLEMS {
            self.warnings.push(problem);
        }
    }

    /// Whether no error was noted.
    pub fn is_clean(&self) -> bool {
        self.errors.is_empty()
    }

    /// The warnings.
    ///
    /// # Errors
    /// All noted errors, if there is one.
    pub fn finish(self) -> Result<Vec<Problem>, Errors> {
        if self.errors.is_empty() {
            Ok(in_order(self.warnings))
        } else {
            Err(Errors(in_order(self.errors)))
        }
    }
}

/// By file as they came, then by position: checks over a whole section run after its fields were read.
fn in_order(mut problems: Vec<Problem>) -> Vec<Problem> {
    let mut files: Vec<Option<Arc<str>>> = Vec::new();
    for problem in &problems {
        if !files.contains(&problem.at.file) {
            files.push(problem.at.file.clone());
        }
    }
    problems.sort_by_key(|problem| {
        let file = files.iter().position(|file| *file == problem.at.file);
        (file, problem.at.line, problem.at.column)
    });
    problems
}
