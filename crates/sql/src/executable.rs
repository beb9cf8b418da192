//! Comments that some servers run: `/*!80000 … */`. Which do is a matter of their versions, so it is settled as a client's text comes in: what runs stands there as
//! any other part of the statement, what does not is gone, and no storage unit is asked for its own view of it.
//! <https://dev.mysql.com/doc/refman/8.4/en/comments.html>, <https://mariadb.com/kb/en/comment-syntax/>

use memchr::memmem;

use crate::syntax::Syntax;

/// What a server goes by when it meets such a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// Its version as comments write it: 80031 for 8.0.31, 101119 for 10.11.19.
    pub version: u32,
    /// It runs `/*M! … */` too, reads versions of six digits, and passes over those from 50700 to 99999.
    pub is_fork: bool,
}

/// What becomes of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is one like any other.
    Plain,
    /// Its content runs; the mark has so many bytes.
    Runs(usize),
    /// Nothing of it runs, and one level of other comments may stand inside.
    Skipped,
    Unsure,
}

/// The versions that every server in use has reached: what is for older ones runs everywhere.
const EVERYWHERE: u32 = 50_700;
/// No server reaches this, in five digits.
const NOWHERE: u32 = 99_999;
/// Up to here a version had five digits whatever follows them.
const FIVE_DIGITS: u32 = 80_031;
/// From here on it has six where white space follows the sixth.
const SIX_DIGITS: u32 = 80_100;

/// Whether the text holds what may begin such a comment.
pub(crate) fn may_have_one(text: &str, syntax: &Syntax) -> bool {
    let has = |mark: &[u8]| memmem::find(text.as_bytes(), mark).is_some();
    syntax.executable_comments && (has(b"/*!") || has(b"/*M!"))
}

/// What these releases, or any where there are none, make of the comment that begins here.
pub(crate) fn verdict(comment: &[u8], releases: &[Release]) -> Verdict {
    let (bang, is_forks) = match comment {
        [b'/', b'*', b'!', ..] => (2, false),
        [b'/', b'*', b'M', b'!', ..] => (3, true),
        _ => return Verdict::Plain,
    };
    let behind = comment.get(bang + 1..).unwrap_or(&[]);
    let digits = behind.iter().take(6).take_while(|byte| byte.is_ascii_digit()).count();
    let mark = Mark { behind, digits, bang, is_forks };
    let mut verdicts = releases.iter().map(|release| mark.at(*release));
    let Some(first) = verdicts.next() else { return mark.anywhere() };
    if verdicts.all(|other| other == first) { first } else { Verdict::Unsure }
}

struct Mark<'a> {
    behind: &'a [u8],
    /// Of the first six bytes.
    digits: usize,
    bang: usize,
    is_forks: bool,
}

impl Mark<'_> {
    fn at(&self, release: Release) -> Verdict {
        if self.is_forks && !release.is_fork {
            return Verdict::Plain;
        }
        if self.digits < 5 {
            return self.runs(0);
        }
        if release.is_fork {
            let version = self.version(self.digits);
            return match (EVERYWHERE..=NOWHERE).contains(&version) && !self.is_forks {
                true => Verdict::Skipped,
                false => self.from(self.digits, release),
            };
        }
        let of_five = self.from(5, release);
        if self.digits < 6 || !self.behind.get(6).is_some_and(is_blank) {
            return of_five;
        }
        let of_six = self.from(6, release);
        match release.version {
            ..=FIVE_DIGITS => of_five,
            SIX_DIGITS.. => of_six,
            _ if of_five == of_six => of_five,
            _ => Verdict::Unsure,
        }
    }

    /// What every release makes of it.
    fn anywhere(&self) -> Verdict {
        if self.is_forks {
            return Verdict::Unsure;
        }
        match (self.digits, self.version(5)) {
            (..5, _) => self.runs(0),
            (5, version) if version < EVERYWHERE => self.runs(5),
            // `/*!999999\- …`: dumps hide lines for their own clients so.
            (5, NOWHERE) => Verdict::Skipped,
            (6, NOWHERE) if !self.behind.get(6).is_some_and(is_blank) => Verdict::Skipped,
            _ => Verdict::Unsure,
        }
    }

    fn version(&self, digits: usize) -> u32 {
        let digits = self.behind.iter().take(digits);
        digits.fold(0, |version, digit| version * 10 + u32::from(digit.wrapping_sub(b'0')))
    }

    /// It runs from the version of so many digits on.
    fn from(&self, digits: usize, release: Release) -> Verdict {
        match self.version(digits) <= release.version {
            true => self.runs(digits),
            false => Verdict::Skipped,
        }
    }

    fn runs(&self, digits: usize) -> Verdict {
        Verdict::Runs(self.bang + 1 + digits)
    }
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}
