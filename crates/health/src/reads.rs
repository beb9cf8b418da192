//! Which members of a group may answer reads.

use std::collections::BTreeMap;
use std::time::Duration;

use pando_kernel::health::{Copying, Vitals};
use pando_kernel::route::UnitName;

use crate::claim::View;
use crate::damper::Damper;
use crate::memory::{leads, standing, told};
use crate::trail::Trail;
use crate::verdict::Verdict;
use crate::{Happening, Moment, Settings, Standing};

/// Who may answer reads, and who is kept from it. Members of which nothing is known may.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Reads {
    trail: Trail,
    /// When the primary last answered: from then on nobody has got any later.
    heard: Option<Moment>,
    /// The lag that a member last told of itself, and when.
    told: BTreeMap<UnitName, (Moment, Duration)>,
    out: BTreeMap<UnitName, Out>,
    dampers: BTreeMap<UnitName, Damper>,
}

#[derive(Debug, Clone, PartialEq)]
struct Out {
    /// Whether the log has heard of it here; it hears of units that are down elsewhere.
    is_told: bool,
    /// Since when nothing speaks against it any more.
    fit: Option<Moment>,
}

/// What speaks against reading a member.
enum Against {
    Nothing,
    /// It has been said already.
    Known,
    This(String),
    /// It can't be told now: as it was.
    Undecided,
}

impl Reads {
    /// Whether a member may answer.
    pub(crate) fn allows(&self, unit: &UnitName) -> bool {
        !self.out.contains_key(unit)
    }

    /// Another primary: where the last one was when says nothing any more.
    pub(crate) fn forget(&mut self) {
        self.trail.clear();
        self.told.clear();
        self.heard = None;
    }

    /// By how much a member is behind the primary, at most: by where the primary was, else by what the member says, else by what it said last and the time
    /// since.
    pub(crate) fn lag(&self, unit: &UnitName, vitals: &Vitals) -> Option<Duration> {
        let heard = self.heard?;
        let last = || self.told.get(unit).map(|(at, lag)| lag.saturating_add(heard.since(*at)));
        self.trail.lag(heard, vitals.position.as_ref()).or(vitals.lag).or_else(last)
    }

    pub(crate) fn decide(
        &mut self,
        view: View<'_>,
        verdict: &Verdict,
        now: Moment,
        settings: &Settings,
    ) -> Vec<Happening> {
        let primary = verdict.primary.as_ref();
        self.listen(view, primary);
        let mut news = Vec::new();
        for unit in &view.place.members {
            let against = if verdict.split.contains(unit) {
                Against::Known
            } else {
                self.against(view, unit, primary, settings)
            };
            let group = &view.place.name;
            match against {
                Against::Undecided => {}
                Against::Nothing => news.extend(self.take_back(group, unit, now, settings)),
                Against::Known => self.keep_out(unit, now),
                Against::This(why) => {
                    let is_new = self.allows(unit);
                    self.keep_out(unit, now);
                    if let Some(out) = self.out.get_mut(unit).filter(|_| is_new) {
                        out.is_told = true;
                        news.push(Happening::Unread {
                            group: group.clone(),
                            unit: unit.clone(),
                            why,
                        });
                    }
                }
            }
        }
        news
    }

    /// Takes in what the members told last, at the moments when they did.
    fn listen(&mut self, view: View<'_>, primary: Option<&UnitName>) {
        for unit in &view.place.members {
            let state = view.units.get(unit);
            let answer = state.and_then(|state| Some((state.last_answer()?, state.told()?)));
            let Some((at, vitals)) = answer else { continue };
            if Some(unit) == primary {
                self.heard = Some(at);
                self.trail.note(at, vitals.position.as_ref());
            } else if let Some(lag) = vitals.lag {
                self.told.insert(unit.clone(), (at, lag));
            }
        }
    }

    fn against(
        &self,
        view: View<'_>,
        unit: &UnitName,
        primary: Option<&UnitName>,
        settings: &Settings,
    ) -> Against {
        let Some(vitals) = told(view.units, unit) else {
            return match standing(view.units, unit) {
                Standing::Down => Against::Known,
                Standing::Unseen | Standing::Up => Against::Undecided,
            };
        };
        if let Some(why) = &vitals.unfit {
            return Against::This(why.clone());
        }
        let Some(most) = settings.most_lag.filter(|_| Some(unit) != primary && !leads(vitals))
        else {
            return Against::Nothing;
        };
        match (self.lag(unit, vitals), &vitals.copying) {
            (Some(lag), _) if lag > most => Against::This(format!("it is {lag:?} behind")),
            (None, Copying::Stopped(why)) if self.heard.is_some() => Against::This(why.clone()),
            (Some(_) | None, _) => Against::Nothing,
        }
    }

    fn keep_out(&mut self, unit: &UnitName, now: Moment) {
        match self.out.get_mut(unit) {
            Some(out) => out.fit = None,
            None => {
                self.out.insert(unit.clone(), Out { is_told: false, fit: None });
                self.dampers.entry(unit.clone()).or_default().note(now);
            }
        }
    }

    fn take_back(
        &mut self,
        group: &UnitName,
        unit: &UnitName,
        now: Moment,
        settings: &Settings,
    ) -> Option<Happening> {
        let out = self.out.get_mut(unit)?;
        let since = *out.fit.get_or_insert(now);
        let hold = self.dampers.get(unit).map(|damper| damper.hold(now, settings));
        if now.since(since) < hold.unwrap_or_default() {
            return None;
        }
        let is_told = out.is_told;
        self.out.remove(unit);
        is_told.then(|| Happening::Reads { group: group.clone(), unit: unit.clone() })
    }
}
