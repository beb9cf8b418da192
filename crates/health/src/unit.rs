//! What is believed of one storage unit: pure, from observation to observation.

use pando_kernel::health::{Role, Vitals};

use crate::damper::Damper;
use crate::{Happening, Moment, Observation, Seen, Settings};

/// What is believed of one storage unit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnitState {
    standing: Standing,
    since: Option<Moment>,
    vitals: Option<Box<Vitals>>,
    error: Option<String>,
    failures: u32,
    successes: u32,
    /// The first of the answers on end.
    answering: Option<Moment>,
    /// The last answer of all.
    answered: Option<Moment>,
    damper: Damper,
    /// What was missing when it was last told, so that it is told once.
    untold: Option<String>,
}

/// Whether a unit is believed to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Standing {
    /// Nothing is believed yet.
    #[default]
    Unseen,
    /// It answers.
    Up,
    /// It does not.
    Down,
}

impl UnitState {
    /// What is believed after one more observation, and what of it is news. The first answer of all is believed at once; otherwise see [`Settings`].
    #[must_use]
    pub fn observe(
        mut self,
        observation: &Observation,
        settings: &Settings,
    ) -> (Self, Vec<Happening>) {
        let mut news = Vec::new();
        match &observation.seen {
            Seen::Answers(vitals) => self.answered(observation, vitals, settings, &mut news),
            Seen::Silent(why) => self.silent(observation, why, settings, &mut news),
        }
        (self, news)
    }

    fn answered(
        &mut self,
        observation: &Observation,
        vitals: &Vitals,
        settings: &Settings,
        news: &mut Vec<Happening>,
    ) {
        let (unit, at) = (&observation.unit, observation.at);
        self.failures = 0;
        self.successes = self.successes.saturating_add(1);
        self.answered = Some(at);
        let first = *self.answering.get_or_insert(at);
        let before = self.vitals.replace(Box::new(vitals.clone()));
        let is_steady = self.successes >= settings.successes.max(1)
            && at.since(first) >= self.damper.hold(at, settings);
        match self.standing {
            Standing::Up => {
                let from = before.map_or(Role::Unknown, |before| before.role);
                if from != vitals.role {
                    news.push(Happening::Role { unit: unit.clone(), from, to: vitals.role });
                }
            }
            Standing::Unseen => self.stand(Standing::Up, at),
            Standing::Down if is_steady => self.stand(Standing::Up, at),
            Standing::Down => return,
        }
        self.error = None;
        if self.since == Some(at) {
            news.push(Happening::Up { unit: unit.clone(), role: vitals.role });
        }
        if let Some(what) =
            vitals.untold.as_ref().filter(|what| self.untold.as_ref() != Some(*what))
        {
            self.untold = Some(what.clone());
            news.push(Happening::Untold { unit: unit.clone(), what: what.clone() });
        }
    }

    fn silent(
        &mut self,
        observation: &Observation,
        why: &str,
        settings: &Settings,
        news: &mut Vec<Happening>,
    ) {
        let (unit, at) = (&observation.unit, observation.at);
        self.failures = self.failures.saturating_add(1);
        self.successes = 0;
        self.answering = None;
        self.error = Some(why.to_owned());
        if self.standing == Standing::Down || self.failures < settings.failures.max(1) {
            return;
        }
        if self.standing == Standing::Up {
            self.damper.note(at);
        }
        self.stand(Standing::Down, at);
        news.push(Happening::Down { unit: unit.clone(), why: why.to_owned() });
    }

    fn stand(&mut self, standing: Standing, at: Moment) {
        self.standing = standing;
        self.since = Some(at);
    }

    /// Whether it is believed to answer.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// Since when it stands so; `None` while nothing is believed.
    pub fn since(&self) -> Option<Moment> {
        self.since
    }

    /// What it last told of itself, however long ago.
    pub fn vitals(&self) -> Option<&Vitals> {
        self.vitals.as_deref()
    }

    /// The last probe's failure, until the unit is believed to answer again.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// When it last answered.
    pub(crate) fn last_answer(&self) -> Option<Moment> {
        self.answered
    }

    /// Whether its last probe was answered, or there was none.
    pub(crate) fn is_heard(&self) -> bool {
        self.failures == 0
    }

    /// What it tells of itself, as long as it is believed to answer.
    pub(crate) fn told(&self) -> Option<&Vitals> {
        self.vitals().filter(|_| self.standing == Standing::Up)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// One observation a second: `+` answers, `-` doesn't. Gives the standing after each.
    fn follow(settings: &Settings, seen: &str) -> String {
        let mut state = UnitState::default();
        let mut stands = String::new();
        for (second, seen) in seen.chars().enumerate() {
            let seen = match seen {
                '+' => Seen::Answers(Box::default()),
                _ => Seen::Silent("no".into()),
            };
            let at = Moment::default().after(Duration::from_secs(second as u64));
            let observation = Observation { unit: "u".into(), at, seen };
            state = state.observe(&observation, settings).0;
            stands.push(match state.standing() {
                Standing::Unseen => '?',
                Standing::Up => 'u',
                Standing::Down => 'd',
            });
        }
        stands
    }

    fn settings() -> Settings {
        Settings { interval: Duration::from_secs(1), calm: 2, ..Settings::default() }
    }

    #[test]
    fn a_unit_is_down_after_its_failures_and_up_after_its_successes() {
        assert_eq!(follow(&settings(), "+--+---+-+++"), "uuuuuudddduu");
        assert_eq!(follow(&settings(), "---+++"), "??dduu");
    }

    #[test]
    fn who_comes_and_goes_must_hold_out_longer_and_longer() {
        // The second change makes it hold out for two seconds, the third one for four.
        assert_eq!(follow(&settings(), "+---++"), "uuuddu");
        assert_eq!(follow(&settings(), "+---++---+++"), "uuudduuudddu");
        assert_eq!(follow(&settings(), "+---++---+++---+++++"), "uuudduuuddduuudddddu");
    }

    #[test]
    fn news_are_told_once() {
        let untold = Vitals { untold: Some("positions".into()), ..Vitals::default() };
        let mut state = UnitState::default();
        let mut all = Vec::new();
        let answers = |vitals: &Vitals| Seen::Answers(Box::new(vitals.clone()));
        let standby = Vitals { role: Role::Standby, ..untold.clone() };
        let seen = [answers(&untold), answers(&untold), answers(&standby), answers(&standby)];
        for (at, seen) in seen.into_iter().enumerate() {
            let observation = Observation { unit: "u".into(), at: Moment(at as u64), seen };
            let (next, news) = state.observe(&observation, &settings());
            state = next;
            all.extend(news.iter().map(ToString::to_string));
        }
        assert_eq!(
            all,
            [
                "storage unit `u` answers, its role is unknown",
                "storage unit `u` does not tell everything: positions",
                "storage unit `u` was unknown and is standby now"
            ]
        );
    }
}
