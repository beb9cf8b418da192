//! How far behind a standby is, by where its primary was when.

use std::collections::VecDeque;
use std::time::Duration;

use pando_kernel::Position;

use crate::Moment;

/// Where a primary was when, for logs that have places. A standby's own account of its lag is wrong while nothing is written (the last transaction may be
/// an hour old) and while nothing is received (it has replayed all it has); this one needs only that both are asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Trail {
    /// Ascending in both.
    steps: VecDeque<(Moment, u64)>,
}

/// When there are so many, the one goes that is missed least: the nearer its neighbours are to each other, measured by its age.
const MOST: usize = 128;

impl Trail {
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
    }

    pub(crate) fn note(&mut self, at: Moment, position: Option<&Position>) {
        let Some(Position::Log { at: place, .. }) = position else { return };
        match self.steps.back() {
            Some((_, last)) if last == place => return,
            Some((_, last)) if last > place => self.clear(),
            Some(_) | None => {}
        }
        if self.steps.len() == MOST {
            self.thin(at);
        }
        self.steps.push_back((at, *place));
    }

    fn thin(&mut self, now: Moment) {
        let time = |at: usize| self.steps.get(at).map_or(now, |(at, _)| *at);
        // Gap by age, compared without dividing: a/b < c/d where a·d < c·b.
        let weight = |at: &usize| {
            let gap = time(at + 1).since(time(at - 1)).as_millis();
            (gap, now.since(time(*at)).as_millis())
        };
        let inner = 1..self.steps.len().saturating_sub(1);
        let least = inner.min_by(|one, other| {
            let ((gap, age), (other_gap, other_age)) = (weight(one), weight(other));
            (gap * other_age).cmp(&(other_gap * age))
        });
        if let Some(least) = least {
            self.steps.remove(least);
        }
    }

    /// How long ago the primary was seen where this standby has not come yet; `None` when there is nothing to compare.
    pub(crate) fn lag(&self, now: Moment, position: Option<&Position>) -> Option<Duration> {
        let Some(Position::Log { at: place, .. }) = position else { return None };
        self.steps.back()?;
        let reached = self.steps.partition_point(|(_, step)| step <= place);
        Some(self.steps.get(reached).map_or(Duration::ZERO, |(at, _)| now.since(*at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(at: u64) -> Position {
        Position::Log { timeline: 1, at }
    }

    fn trail(steps: impl IntoIterator<Item = (u64, u64)>) -> Trail {
        let mut trail = Trail::default();
        steps.into_iter().for_each(|(at, place)| trail.note(Moment(at), Some(&log(place))));
        trail
    }

    #[test]
    fn a_standby_is_as_late_as_the_first_place_it_has_not_reached_is_old() {
        let trail = trail([(1000, 10), (2000, 10), (3000, 20), (4000, 30)]);
        let lag = |place| trail.lag(Moment(5000), Some(&log(place))).unwrap().as_millis();
        assert_eq!([lag(30), lag(25), lag(10), lag(9)], [0, 1000, 2000, 4000]);
        assert_eq!(trail.lag(Moment(5000), None), None);
        assert_eq!(Trail::default().lag(Moment(5000), Some(&log(1))), None);
    }

    #[test]
    fn a_trail_keeps_its_beginning_and_its_bound() {
        let trail = trail((0..10_000).map(|step| (step * 1000, step)));
        assert!(trail.steps.len() <= MOST);
        for late in [2, 10, 100, 1000, 9000] {
            let lag = trail.lag(Moment(10_000_000), Some(&log(10_000 - late - 1))).unwrap();
            assert!((late * 85 / 100..=late).contains(&lag.as_secs()), "{late}: {lag:?}");
        }
    }
}
