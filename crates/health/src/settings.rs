//! How often units are asked, and how soon what they say is believed.

use std::time::Duration;

/// How often units are asked, and how soon what they say is believed.
///
/// **Damping.** Every time a unit is lost, and every time a group gets a primary back or another one, counts as a change. With `n` changes within the last
/// `window`, whoever comes back must have been fit without a break for
/// `min(longest_hold, interval × successes × 2^(n − calm))` before it is believed, as long as `n` is at least `calm`; below that the
/// plain count of `successes` suffices. What gets lost is believed after `failures`, whatever came before: damping never keeps a dead unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// From the beginning of one probe of a unit to the next, up to a tenth more or less. Default 2 s.
    pub interval: Duration,
    /// For a whole probe: connecting, logging in where need be, all questions. Default 1 s.
    pub timeout: Duration,
    /// Failed probes on end until a unit counts as down. Default 3; 0 is read as 1.
    pub failures: u32,
    /// Answered probes on end until it counts as up again. Default 2; 0 is read as 1.
    pub successes: u32,
    /// How long a change counts. Default 5 minutes.
    pub window: Duration,
    /// Changes within the window that are let pass undamped. Default 3.
    pub calm: u32,
    /// The longest that damping makes anyone wait. Default 1 minute.
    pub longest_hold: Duration,
    /// A replica that is further behind is not read; `None`, the default, reads it whatever its lag.
    pub most_lag: Option<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(2),
            timeout: Duration::from_secs(1),
            failures: 3,
            successes: 2,
            window: Duration::from_secs(300),
            calm: 3,
            longest_hold: Duration::from_secs(60),
            most_lag: None,
        }
    }
}

impl Settings {
    /// The longest from a unit's last answer until it is believed to be down. A promotion that is finished by then is followed at the new primary's
    /// next probe, one interval later at most.
    pub fn detection(&self) -> Duration {
        let rounds = self.failures.max(1);
        let slow = self.timeout.saturating_add(self.interval / 10);
        let round = self.longest_interval().max(slow);
        round.saturating_mul(rounds).saturating_add(self.timeout)
    }

    /// With its jitter.
    pub(crate) fn longest_interval(&self) -> Duration {
        self.interval.saturating_add(self.interval / 10)
    }

    /// How long who comes back must be fit, after so many changes within the window.
    pub(crate) fn hold(&self, changes: usize) -> Duration {
        let changes = u32::try_from(changes).unwrap_or(u32::MAX);
        let Some(beyond) = changes.checked_sub(self.calm) else { return Duration::ZERO };
        let doubled = 1u32.checked_shl(beyond).filter(|_| beyond < 31).unwrap_or(u32::MAX);
        let base = self.interval.saturating_mul(self.successes.max(1));
        base.saturating_mul(doubled).min(self.longest_hold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hold_doubles_with_each_change_and_ends_at_its_bound() {
        let settings = Settings::default();
        let seconds: Vec<u64> = (0..9).map(|changes| settings.hold(changes).as_secs()).collect();
        assert_eq!(seconds, [0, 0, 0, 4, 8, 16, 32, 60, 60]);
        assert_eq!(settings.hold(usize::MAX).as_secs(), 60);
    }

    #[test]
    fn the_detection_time_covers_all_failures_and_the_last_timeout() {
        assert_eq!(Settings::default().detection(), Duration::from_millis(7600));
    }
}
