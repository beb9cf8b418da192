//! What persons say about instances, replicas, storage units and the cluster: kept beside the configuration.

use std::sync::Weak;

use pando_config::Database;
use pando_distsql::command::{ComputeNode, Labelling, Name, Node, Ral, State};
use pando_kernel::administration::Caller;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_model::Kind;
use pando_repository::{Change, Key};

use crate::cluster::{Admits, DISABLED};
use crate::desk::chosen;
use crate::error::{refused, repository as failed};
use crate::governor::{Governor, Shared};
use crate::keys;

impl Governor {
    /// Carries out one of the statements that change such a state.
    ///
    /// # Errors
    /// A name that is not there; a state that would leave nobody at work; a repository that does not answer.
    pub(crate) async fn set_state(&self, caller: &Caller, order: &Ral) -> Result<()> {
        let change = match order {
            Ral::ComputeNode(order) => self.node(order)?,
            Ral::SetReadUnitState { unit, state } => {
                let named = unit.database.as_ref().map(|name| name.text.as_str());
                let database = self.database(chosen(caller, named)?)?;
                replica(&database, unit.group.as_ref(), &unit.unit, *state)?
            }
            Ral::SetStorageUnitState { unit, state, database } => {
                let named = database.as_ref().map(|name| name.text.as_str());
                let database = self.database(chosen(caller, named)?)?;
                if database.storage_unit(&unit.text).is_none() {
                    return Err(missing_unit(&unit.text, &database.name.value));
                }
                let key = own(keys::key(keys::UNITS, &[&database.name.value, &unit.text]))?;
                switch(Change::new(), &key, *state)
            }
            Ral::LockCluster { strategy, .. } => {
                let admits = match strategy.kind.text.to_uppercase().as_str() {
                    "WRITE" => Admits::Reads,
                    "READ_WRITE" => Admits::Nothing,
                    other => {
                        let message = format!(
                            "unknown lock strategy `{other}`, expected `WRITE` or `READ_WRITE`"
                        );
                        return Err(refused(Kind::InvalidVariable, &message));
                    }
                };
                if self.cluster().admits != Admits::Everything {
                    return Err(refused(Kind::InvalidVariable, "the cluster is locked already"));
                }
                Change::new().put(&own(keys::fixed(keys::STATE))?, admits.word())
            }
            Ral::UnlockCluster { .. } => {
                if self.cluster().admits == Admits::Everything {
                    return Err(refused(Kind::InvalidVariable, "the cluster is not locked"));
                }
                Change::new().delete(&own(keys::fixed(keys::STATE))?)
            }
            Ral::SetVariable { .. }
            | Ral::ShowVariable(_)
            | Ral::ShowVariables { .. }
            | Ral::ShowReadUnits { .. }
            | Ral::ShowStatus { .. }
            | Ral::ShowInDoubt
            | Ral::ShowTransactionStatus
            | Ral::Resolve { .. }
            | Ral::Metadata(_)
            | Ral::ShowPlugins(_)
            | Ral::ShowGlobalRule(_)
            | Ral::AlterTransactionRule(_)
            | Ral::AlterParserRule(_)
            | Ral::AlterFederationRule(_)
            | Ral::AlterTranslatorRule(_)
            | Ral::AlterClockRule(_) => return Err(no_state()),
        };
        self.store(change).await
    }

    fn node(&self, order: &ComputeNode) -> Result<Change> {
        let cluster = self.cluster();
        let known = |node: &Node| {
            let id = node.0.text.as_str();
            let by_address = cluster
                .instances
                .iter()
                .find(|(_, instance)| format!("{}@{}", instance.host, instance.port) == id);
            let found =
                cluster.instances.get_key_value(id).or(by_address).map(|(id, _)| id.clone());
            let found = found.or_else(|| (id == &*self.shared.id).then(|| id.to_owned()));
            let missing = || format!("compute node `{id}` does not exist");
            found.ok_or_else(|| refused(Kind::UnknownVariable, &missing()))
        };
        match order {
            ComputeNode::SetState { node, state } => {
                let id = known(node)?;
                let is_last = cluster
                    .instances
                    .keys()
                    .all(|other| *other == id || cluster.broken.contains(other));
                if *state == State::Disabled && is_last {
                    return Err(refused(
                        Kind::InvalidVariable,
                        &format!("compute node `{id}` is the last one at work"),
                    ));
                }
                let key = own(keys::key(keys::STATUS, &[&id]))?;
                Ok(switch(Change::new(), &key, *state))
            }
            ComputeNode::Label { node, labels, labelling } => {
                let id = known(node)?;
                let mut all = match labelling {
                    Labelling::Adds => cluster.labels.get(&id).cloned().unwrap_or_default(),
                    Labelling::Replaces => Vec::new(),
                };
                for label in labels {
                    if !all.contains(&label.text) {
                        all.push(label.text.clone());
                    }
                }
                labelled(&id, &all)
            }
            ComputeNode::Unlabel { node, labels } => {
                let id = known(node)?;
                let mut all = cluster.labels.get(&id).cloned().unwrap_or_default();
                all.retain(|own| {
                    !labels.is_empty() && labels.iter().all(|label| label.text != *own)
                });
                labelled(&id, &all)
            }
            ComputeNode::Alter { settings, .. } => {
                let name = settings.first().map_or("", |(name, _)| name.text.as_str());
                Err(refused(
                    Kind::NotSupported,
                    &format!(
                        "`{name}` of a compute node is not to be set: worker ids are leased, so that no two instances have the same"
                    ),
                ))
            }
            ComputeNode::List | ComputeNode::Info | ComputeNode::Mode => Err(no_state()),
        }
    }

    /// A served database.
    ///
    /// # Errors
    /// `UnknownDatabase`.
    pub(crate) fn database(&self, name: &str) -> Result<std::sync::Arc<Database>> {
        let known = self.now().database(name).cloned();
        known.ok_or_else(|| ErrorKind::UnknownDatabase(name.to_owned()).into())
    }

    async fn store(&self, change: Change) -> Result<()> {
        let Some(repository) = self.repository() else {
            return Err(refused(
                Kind::NotSupported,
                "this server's configuration is its files; start it with `--data` to keep such states",
            ));
        };
        repository.commit(change).await.map_err(|error| failed(&error))?;
        let stored = self.read(&*repository).await.map_err(|error| failed(&error))?;
        self.adopt(stored)?;
        self.all_follow().await;
        Ok(())
    }
}

/// Keeps what groups remember over a restart. It does not keep the governor alive.
#[derive(Clone)]
pub struct Keeper(Weak<Shared>);

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").finish_non_exhaustive()
    }
}

impl Keeper {
    /// Stores what a group remembers, unless it stands there already or there is nowhere to keep it.
    ///
    /// # Errors
    /// As the repository says; what is remembered is then kept with the next change of it.
    ///
    /// # Cancel safety
    /// May be dropped at any time.
    pub async fn keep(&self, database: &str, group: &str, text: &str) -> Result<()> {
        let Some(governor) = self.0.upgrade().map(|shared| Governor { shared }) else {
            return Ok(());
        };
        let Some(repository) = governor.repository() else { return Ok(()) };
        let name = (database.to_owned(), group.to_owned());
        if governor.cluster().memories.get(&name).is_some_and(|kept| kept == text) {
            return Ok(());
        }
        let key = own(keys::key(keys::MEMORIES, &[database, group]))?;
        let change = Change::new().put(&key, text.to_owned());
        repository.commit(change).await.map(drop).map_err(|error| failed(&error))
    }
}

impl Governor {
    /// What keeps groups' memories.
    pub fn keeper(&self) -> Keeper {
        Keeper(std::sync::Arc::downgrade(&self.shared))
    }
}

/// The refusal of a storage unit that is not there.
pub(crate) fn missing_unit(unit: &str, database: &str) -> Error {
    let message = format!("storage unit `{unit}` does not exist in database `{database}`");
    refused(Kind::MissingStorageUnits, &message)
}

fn no_state() -> Error {
    Error::internal("no statement about a state")
}

fn labelled(id: &str, labels: &[String]) -> Result<Change> {
    if labels.iter().any(|label| label.contains('\n')) {
        return Err(refused(Kind::InvalidVariable, "a label is one line"));
    }
    let key = own(keys::key(keys::LABELS, &[id]))?;
    Ok(match labels {
        [] => Change::new().delete(&key),
        labels => Change::new().put(&key, labels.join("\n")),
    })
}

/// Takes a replica out of work in the groups that have it, or back.
fn replica(database: &Database, group: Option<&Name>, unit: &Name, state: State) -> Result<Change> {
    let groups = database.rules.readwrite.iter().flat_map(|section| section.groups.iter());
    let groups = groups.filter(|(name, _)| group.is_none_or(|group| group.text == name.value));
    let mut change = Change::new();
    let mut is_group_known = false;
    for (name, members) in groups {
        is_group_known = true;
        if members.read.iter().any(|member| member.value == unit.text) {
            let parts = [&*database.name.value, &*name.value, &*unit.text];
            change = switch(change, &own(keys::key(keys::REPLICAS, &parts))?, state);
        } else if members.write.value == unit.text {
            let message = format!(
                "storage unit `{}` is the primary of `{}`, which cannot be disabled",
                unit.text, name.value
            );
            return Err(refused(Kind::InvalidVariable, &message));
        }
    }
    if change.writes.is_empty() {
        let what = match group {
            Some(group) if !is_group_known => format!("group `{}` does not exist", group.text),
            Some(_) | None => format!("storage unit `{}` is no replica", unit.text),
        };
        let message = format!("{what} in database `{}`", database.name.value);
        return Err(refused(Kind::MissingRule, &message));
    }
    Ok(change)
}

fn switch(change: Change, key: &Key, state: State) -> Change {
    match state {
        State::Enabled => change.delete(key),
        State::Disabled => change.put(key, DISABLED),
    }
}

fn own<T>(made: pando_repository::Result<T>) -> Result<T> {
    made.map_err(|error| failed(&error))
}
