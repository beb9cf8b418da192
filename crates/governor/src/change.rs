//! A change of the configuration: thought out on the newest one, checked against the storage units, stored, served.

use std::time::Duration;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::DataNode;
use pando_kernel::runtime::within;
use pando_model::{Change, Check, Kind, Model, Refusal};
use pando_repository::Error as Failure;

use crate::cluster::Admits;
use crate::commit::Wanted;
use crate::error::{coded, refusal, refused, repository as failed};
use crate::governor::{ATTEMPTS, Governor, Now};
use crate::house::Found;
use crate::standing::{Looks, counted, told};
use crate::{commit, leaving, left, overtaken, tables};

/// How long a change waits for the one before it.
const TURN: Duration = Duration::from_secs(60);

impl Governor {
    /// Makes a change: what `think` makes of the newest configuration. When it returns, the change is stored and served here.
    ///
    /// # Errors
    /// A locked cluster; what `think` says; checks that do not hold; a repository that does not answer, or where others keep being faster. Nothing has changed then,
    /// but for `Unknown`, which says so.
    ///
    /// # Cancel safety
    /// Dropping it leaves the change made or not made.
    pub(crate) async fn change(
        &self,
        think: &(dyn Fn(&Model) -> Result<Change, Refusal> + Sync),
    ) -> Result<()> {
        self.refuse_unchangeable()?;
        self.changes(&|model| think(model).map(|change| vec![change])).await
    }

    /// Refuses a change whatever it is: of a locked cluster, and of files.
    ///
    /// # Errors
    /// As [`Governor::change`].
    pub(crate) fn refuse_unchangeable(&self) -> Result<()> {
        if self.repository().is_none() {
            return Err(of_files());
        }
        if self.cluster().admits != Admits::Everything {
            return Err(Error::forbidden(
                17020,
                "the cluster is locked, its configuration too",
                "UNLOCK CLUSTER ends that",
            ));
        }
        Ok(())
    }

    /// As [`Governor::change`] for changes that build on each other and are one: the last one's model counts. A locked cluster takes them too: IMPORT
    /// METADATA brings a backup back while nobody else writes, as in ShardingSphere.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cancel safety
    /// As there.
    pub(crate) async fn changes(
        &self,
        think: &(dyn Fn(&Model) -> Result<Vec<Change>, Refusal> + Sync),
    ) -> Result<()> {
        let Some(repository) = self.repository() else {
            return Err(of_files());
        };
        let turn = within(&*self.shared.runtime, TURN, self.shared.turn.lock()).await;
        let Some(mut turn) = turn else {
            return Err(coded(
                17010,
                "40001",
                "another change of the configuration takes too long",
            ));
        };
        for _ in 0..ATTEMPTS {
            let stored = self.read(&*repository).await.map_err(|error| failed(&error))?;
            self.adopt(stored.clone())?;
            let base = self.now().clone();
            let changes = think(&base.model).map_err(|why| refusal(&why))?;
            let Some(model) = changes.last().map(|change| change.model.clone()) else {
                return Ok(());
            };
            if model == base.model {
                return Ok(());
            }
            for change in &changes {
                self.check(&base, change).await?;
            }
            leaving::settled(self, &base, &model).await?;
            let entries = self.entries(&model)?;
            *turn += 1;
            let author = format!("{}-{}-{}", self.shared.id, stored.next(), *turn);
            let behind = left::behind(&base, &model).map_err(|error| failed(&error))?;
            let wanted = Wanted { entries: &entries, more: behind };
            let outcome =
                commit::commit(&*repository, &stored, wanted, &author, self.marks()).await;
            match self.settled(outcome, &author).await {
                Ok(()) => {
                    self.all_follow().await;
                    return overtaken::look(self, &base, &changes).await;
                }
                Err(Failure::Conflict(_)) => {}
                Err(error) => return Err(failed(&error)),
            }
        }
        Err(failed(&Failure::Conflict(
            crate::keys::fixed(crate::keys::VERSION).map_err(|error| failed(&error))?,
        )))
    }

    /// Looks what became of a commit, and serves it.
    async fn settled(
        &self,
        outcome: pando_repository::Result<()>,
        author: &str,
    ) -> pando_repository::Result<()> {
        let Some(repository) = self.repository() else { return Ok(()) };
        if let Err(error) = &outcome
            && !matches!(error, Failure::Unknown(_))
        {
            return outcome;
        }
        let stored = match (self.read(&*repository).await, outcome) {
            (Ok(stored), outcome) => {
                let is_ours = stored.version.as_ref().is_some_and(|now| now.author == author);
                match outcome {
                    Err(unknown) if !is_ours => return Err(unknown),
                    Err(_) | Ok(()) => stored,
                }
            }
            (Err(_), Err(unknown)) => return Err(unknown),
            (Err(error), Ok(())) => {
                self.is_in_trouble(&error.to_string());
                return Err(Failure::Unknown(format!(
                    "the change is stored, but could not be read back: {error}"
                )));
            }
        };
        self.adopt(stored).map_err(|error| {
            self.is_in_trouble(&error.to_string());
            Failure::Unknown(format!(
                "the change is stored, but this instance cannot serve it: {error}"
            ))
        })
    }

    /// Looks whether everything holds that only the storage units can tell.
    pub(crate) async fn check(&self, base: &Now, change: &Change) -> Result<()> {
        // A database that the change drops has none, and cannot be read any more.
        let Some(name) = change.database.as_ref().filter(|_| !change.checks.is_empty()) else {
            return Ok(());
        };
        let (after, _) =
            change.model.read(name, crate::governor::ENVIRONMENT).map_err(|why| refusal(&why))?;
        let before = base.database(name).map(|before| &**before);
        let mut looks = Looks::new(&*self.shared.house, before, &after);
        for check in &change.checks {
            if let Some(why) = self.unmet(base, name, check, &mut looks).await? {
                return Err(refusal(&check.unmet(name, &why)));
            }
        }
        Ok(())
    }

    /// Why a check does not hold; nothing when it does.
    async fn unmet(
        &self,
        base: &Now,
        name: &str,
        check: &Check,
        looks: &mut Looks<'_>,
    ) -> Result<Option<String>> {
        let after = looks.after;
        let house = &self.shared.house;
        match check {
            Check::Connects { unit, privileges } => {
                let Some(unit) = after.storage_unit(unit) else { return Ok(None) };
                let outcome = house.connects(unit, privileges).await;
                // The refusal names the unit already.
                Ok(outcome.err().map(|error| {
                    if let ErrorKind::Unavailable { message, .. } = error.kind() {
                        return message.clone();
                    }
                    error.to_string()
                }))
            }
            Check::HasNoSingleTable { unit } => {
                let found = &looks.at_source().await?.all;
                let served = self.singles(&base.model, name, found)?.served;
                let used = served.into_iter().find(|table| table.unit == *unit);
                Ok(used.map(|table| format!("`{}`", table.table)))
            }
            Check::HasTable { unit, schema, table } => {
                let members = tables::members(after, unit);
                let stands = looks.at_end().await?.all.iter().any(|one| {
                    members.contains(&one.unit)
                        && one.table.eq_ignore_ascii_case(table)
                        && schema.as_ref().is_none_or(|own| one.schema.as_ref() == Some(own))
                });
                Ok((!stands).then(|| "it does not exist".to_owned()))
            }
            Check::IsEmpty { nodes, .. } => self.inhabited(nodes, looks).await,
            Check::IsPlaced { table, nodes } => {
                for node in looks.at_end().await?.at(nodes) {
                    if let Some(why) = house.misplaced(after, table, node).await? {
                        return Ok(Some(why));
                    }
                }
                Ok(None)
            }
            Check::IsWhole { nodes, .. } => Ok(looks.at_end().await?.torn(nodes)),
            Check::IsAlike { nodes, .. } => {
                let found = looks.at_end().await?;
                if let Some(why) = found.torn(nodes) {
                    return Ok(Some(why));
                }
                let all: Vec<Found> = found.at(nodes).cloned().collect();
                match all.len() {
                    0 | 1 => Ok(None),
                    _ => house.differ(after, &all).await,
                }
            }
            Check::IsCarried { unit } => self.left_behind(unit, looks).await,
            Check::IsCopy { unit, of } => {
                // Who does not answer has nothing that anybody could reach now.
                let Ok(found) = looks.at_end().await else { return Ok(None) };
                let is_there = |one: &Found| {
                    let mut others = found.all.iter().filter(|other| other.unit == *of);
                    others.any(|other| (&other.schema, &other.table) == (&one.schema, &one.table))
                };
                let mut own = found.all.iter().filter(|one| one.unit == *unit);
                Ok(own.find(|one| !is_there(one)).map(|one| format!("`{}`", told(one))))
            }
        }
    }

    /// The first of the nodes that has rows, and how many.
    pub(crate) async fn inhabited(
        &self,
        nodes: &[DataNode],
        looks: &mut Looks<'_>,
    ) -> Result<Option<String>> {
        let database = looks.source();
        for table in looks.at_source().await?.at(nodes) {
            let rows = self.shared.house.rows(database, table).await?;
            if rows > 0 {
                return Ok(Some(format!("{} in `{}`", counted(rows), told(table))));
            }
        }
        Ok(None)
    }

    /// A table with fewer rows where a storage unit stands then than where it stands now. A place that does not answer cannot be asked: its server may be
    /// gone for good.
    async fn left_behind(&self, unit: &str, looks: &mut Looks<'_>) -> Result<Option<String>> {
        let house = &self.shared.house;
        let (before, after) = (looks.source(), looks.after);
        let Ok(old) = looks.at_source().await else { return Ok(None) };
        let old: Vec<Found> = old.all.iter().filter(|table| table.unit == unit).cloned().collect();
        for table in &old {
            let there = house.rows(before, table).await?;
            let here = match looks.at_end().await?.all.contains(table) {
                true => house.rows(after, table).await?,
                false => 0,
            };
            if here < there {
                let (name, here) = (told(table), counted(here));
                return Ok(Some(format!("`{name}` has {} now, and {here} there", counted(there))));
            }
        }
        Ok(None)
    }
}

fn of_files() -> Error {
    refused(
        Kind::NotSupported,
        "this server's configuration is its files; start it with `--data` to keep it in a store that statements can change",
    )
}
