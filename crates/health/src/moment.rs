//! Points in time as the prober's clock tells them.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970-01-01 UTC. The prober reads the wall clock once and counts on from there, so moments never go backwards.
///
/// # Example
/// ```
/// let moment = pando_health::Moment(1_790_000_000_000);
/// assert_eq!(moment.to_string(), "2026-09-21 14:13:20 UTC");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Moment(pub u64);

impl Moment {
    /// This wall-clock time; times before 1970 become 1970.
    pub fn of(wall: SystemTime) -> Self {
        Self(millis(wall.duration_since(UNIX_EPOCH).unwrap_or_default()))
    }

    /// So much later.
    #[must_use]
    pub fn after(self, by: Duration) -> Self {
        Self(self.0.saturating_add(millis(by)))
    }

    /// How long ago `earlier` was; nothing when it is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1000;
        let (year, month, day) = date(seconds / 86_400);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        write!(f, "{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
    }
}

/// The Gregorian date so many days after 1970-01-01. Years are taken to begin in March, so that the leap day is the last of its year.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days.saturating_add(719_468);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_shown_as_dates() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
            (1_795_293_296, "2026-11-21 20:34:56 UTC"),
        ] {
            assert_eq!(Moment(seconds * 1000).to_string(), text);
        }
        let _ = Moment(u64::MAX).to_string();
    }
}
