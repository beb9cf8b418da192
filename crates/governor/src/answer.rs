//! Questions: rows from the model and from what is running.

use pando_distsql::command::{Counted, Ral, Rql, Subject};
use pando_kernel::administration::{Answer, Caller};
use pando_kernel::error::Result;
use pando_kernel::room;
use pando_model::{ComputeNode, Facts, Model, Rows, SingleTable, Singles};

use crate::cluster::{Admits, Instance};
use crate::desk::chosen;
use crate::error::refusal;
use crate::governor::{Governor, Now, Origin};
use crate::house::Found;

impl Governor {
    pub(crate) async fn answer(&self, caller: &Caller, question: &Rql) -> Result<Answer> {
        let named = question.database.as_ref().map(|name| name.text.as_str());
        let name = chosen(caller, named)?;
        let singles = if asks_for_tables(&question.subject) {
            let database = self.database(name)?;
            let found = self.shared.house.tables(&database).await?;
            self.singles(&self.model(), name, &found)?
        } else {
            Singles::default()
        };
        let now = self.now().clone();
        self.with_facts(&now, caller, &singles, |facts| now.model.answer(name, question, facts))
            .map(told)
    }

    /// The single tables among those found, as the rooms that route statements see them.
    ///
    /// # Errors
    /// `UnknownDatabase`, and a database that cannot be built.
    pub(crate) fn singles(
        &self,
        model: &Model,
        database: &str,
        found: &[Found],
    ) -> Result<Singles> {
        let found: Vec<SingleTable> = found
            .iter()
            .map(|one| SingleTable {
                table: one.table.clone(),
                unit: one.unit.clone(),
                schema: one.schema.clone(),
            })
            .collect();
        let singles = self.around("", |around| model.single_tables(database, &found, around));
        singles.map_err(|why| refusal(&why))
    }

    pub(crate) fn show(&self, caller: &Caller, question: &Ral) -> Result<Answer> {
        let database = if let Ral::ShowReadUnits { database, .. } = question {
            chosen(caller, database.as_ref().map(|name| name.text.as_str()))?
        } else {
            caller.database.as_deref().unwrap_or_default()
        };
        let now = self.now().clone();
        let none = Singles::default();
        self.with_facts(&now, caller, &none, |facts| now.model.show(database, question, facts))
            .map(told)
    }

    pub(crate) fn with_facts<T>(
        &self,
        now: &Now,
        caller: &Caller,
        singles: &Singles,
        ask: impl FnOnce(&Facts<'_>) -> pando_model::Result<T>,
    ) -> Result<T> {
        let nodes = self.nodes(now);
        let own = nodes.iter().position(|node| node.id == *self.shared.id).unwrap_or_default();
        let disabled = &now.stored.cluster.replicas;
        let algorithms = room::algorithms(self.shared.house.offers());
        let moment = jiff::Timestamp::try_from(self.shared.runtime.wall()).unwrap_or_default();
        let moment = moment.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%S");
        let moment = moment.to_string();
        let answer = self.around(caller.family, |around| {
            ask(&Facts {
                around: *around,
                single_tables: &singles.served,
                unloaded: &singles.unloaded,
                nodes: &nodes,
                own,
                disabled,
                algorithms: &algorithms,
                now: &moment,
            })
        });
        answer.map_err(|why| refusal(&why))
    }

    /// The instances of the cluster as rows tell them; this one among them even when the repository does not answer.
    fn nodes(&self, now: &Now) -> Vec<ComputeNode> {
        let cluster = &now.stored.cluster;
        let own = self.member().instance().clone();
        let mut instances: Vec<(&str, &Instance)> =
            cluster.instances.iter().map(|(id, instance)| (id.as_str(), instance)).collect();
        if !cluster.instances.contains_key(&*self.shared.id) {
            instances.push((&self.shared.id, &own));
        }
        let (mode, repository) = match &self.shared.origin {
            Origin::Files => ("Standalone", None),
            Origin::Repository { told, is_shared, .. } => {
                (if *is_shared { "Cluster" } else { "Standalone" }, Some(told.clone()))
            }
        };
        let node = |(id, instance): (&str, &Instance)| ComputeNode {
            id: id.to_owned(),
            kind: instance.kind.word().to_owned(),
            host: instance.host.clone(),
            port: instance.port,
            status: self.status(now, id),
            mode: mode.to_owned(),
            worker_id: match id == &*self.shared.id {
                true => self.worker(),
                false => cluster.workers.iter().find(|(_, own)| *own == id).map(|(n, _)| *n),
            },
            labels: cluster.labels.get(id).cloned().unwrap_or_default(),
            version: instance.version.clone(),
            repository: repository.clone(),
        };
        instances.into_iter().map(node).collect()
    }

    /// `OK`, `CIRCUIT_BREAK` as ShardingSphere has them, and `BEHIND` for an instance that serves another configuration than the newest.
    fn status(&self, now: &Now, id: &str) -> String {
        let is_behind = match id == &*self.shared.id {
            true => now.trouble.is_some(),
            false => now
                .stored
                .cluster
                .instances
                .get(id)
                .is_some_and(|instance| instance.serves != now.checksum),
        };
        match now.stored.cluster.admitted(id) {
            _ if now.stored.cluster.broken.contains(id) => "CIRCUIT_BREAK",
            Admits::Reads => "READ_ONLY",
            Admits::Nothing => "UNAVAILABLE",
            Admits::Everything if is_behind => "BEHIND",
            Admits::Everything => "OK",
        }
        .to_owned()
    }

    /// Whether the units of a database have schemas between themselves and their tables.
    pub(crate) fn has_schemas(&self, named: Option<&str>, caller: &Caller) -> bool {
        let now = self.now();
        let name = named.or(caller.database.as_deref());
        let database = name.and_then(|name| now.database(name));
        let first = database.and_then(|database| database.storage_units.first());
        first.is_some_and(|unit| match unit.url.vendor {
            pando_config::Vendor::Postgres | pando_config::Vendor::OpenGauss => true,
            pando_config::Vendor::MySql
            | pando_config::Vendor::MariaDb
            | pando_config::Vendor::Sqlite => false,
        })
    }
}

pub(crate) fn told(rows: Rows) -> Answer {
    let labels = rows.columns.into_iter().map(str::to_owned).collect();
    Answer::Rows { labels, rows: rows.rows }
}

/// Only these need a look at the storage units.
fn asks_for_tables(subject: &Subject) -> bool {
    matches!(
        subject,
        Subject::LogicalTables(_)
            | Subject::SingleTables(_)
            | Subject::UnloadedSingleTables { .. }
            | Subject::Count(Counted::SingleTable | Counted::Every)
    )
}
