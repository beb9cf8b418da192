//! Texts that a collation calls equal, written as one text.

use std::fmt::Debug;

/// How the texts of a collation fold.
pub trait Folds: Send + Sync + Debug {
    /// The same for collations that fold alike.
    fn name(&self) -> &'static str;

    /// The one text that stands for all that are equal to this one, but for spaces at the end; `None` where that is not known of some character in it.
    fn folded(&self, text: &str) -> Option<String>;

    /// A condition that most texts of a column (its name quoted) satisfy that do not stand for themselves.
    fn respelt(&self, column: &str) -> String;
}

/// How the texts of a column fold.
#[derive(Debug, Clone, Copy)]
pub struct Folding {
    /// By these rules.
    pub by: &'static dyn Folds,
    /// Spaces at the end do not count.
    pub padded: bool,
}

impl Folding {
    /// The one text that stands for all that the column calls equal to this one; `None` where that is not known of some character in it.
    pub fn folded(self, text: &str) -> Option<String> {
        let mut folded = self.by.folded(text)?;
        if self.padded {
            folded.truncate(folded.trim_end_matches(' ').len());
        }
        Some(folded)
    }
}

impl PartialEq for Folding {
    fn eq(&self, other: &Self) -> bool {
        self.padded == other.padded && self.by.name() == other.by.name()
    }
}

impl Eq for Folding {}
