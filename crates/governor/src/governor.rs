//! The governor itself: what it holds, how it begins, and how it takes up what the repository says.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pando_config::{Database, Environment, Global};
use pando_distsql::Language;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::runtime::SharedRuntime;
use pando_model::{Around, Keeping, Key, Model};
use pando_repository::{Prefix, Repository};

use crate::cluster::{Cluster, Instance};
use crate::commit::Wanted;
use crate::folder::Folder;
use crate::house::{House, Served};
use crate::member::{Before, Member};
use crate::refills::Refills;
use crate::stored::{Entries, Stored};
use crate::{commit, error, follow, leaving, member, overtaken};

/// Where the configuration is kept.
#[derive(Debug, Clone)]
pub enum Origin {
    /// In files that a person edits: statements show it and do not change it.
    Files,
    /// In a repository.
    Repository {
        /// It.
        repository: Arc<dyn Repository>,
        /// Its type and properties, as SHOW COMPUTE NODE MODE tells them.
        told: (String, Vec<(String, String)>),
        /// Whether other instances share it.
        is_shared: bool,
        /// Whether it is served whoever has written it.
        is_trusted: bool,
        /// What becomes of passwords.
        secrets: Secrets,
    },
}

/// How passwords are kept in a repository.
#[derive(Debug, Clone)]
pub enum Secrets {
    /// Sealed with this key.
    Sealed(Key),
    /// Refused, unless they are placeholders of the environment.
    Placeholders,
}

/// What a governor begins with.
#[derive(Debug)]
pub struct Options {
    /// This instance's id: unique in its cluster, the same after a restart where possible.
    pub id: String,
    /// What it says of itself to others.
    pub instance: Instance,
    /// Where the configuration is kept.
    pub origin: Origin,
    /// The configuration of the files: what an empty repository is filled with, and all there is without one.
    pub files: Model,
    /// The files win over what the repository has: `mode.overwrite`.
    pub overwrite: bool,
    /// How long the repository keeps an instance's entries without a sign of life; `None` when they go with the process.
    pub lease: Option<Duration>,
    /// The folder below which statements may read and write files; `None` lets them have none.
    pub exchange: Option<PathBuf>,
}

/// Holds the configuration. Cloning gives another handle of the same one.
#[derive(Clone)]
pub struct Governor {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) house: Arc<dyn House>,
    /// The statements there are, by the house's list of rooms.
    pub(crate) language: Language,
    pub(crate) runtime: SharedRuntime,
    pub(crate) id: Arc<str>,
    pub(crate) member: Mutex<Member>,
    pub(crate) origin: Origin,
    /// Where statements may read and write files.
    pub(crate) folder: Folder,
    now: Mutex<Now>,
    /// One change of this instance at a time.
    pub(crate) turn: tokio::sync::Mutex<u64>,
    /// What this instance stores otherwise.
    pub(crate) refills: Mutex<Refills>,
    /// One at a time puts what this instance says of itself.
    pub(crate) keeping: tokio::sync::Mutex<()>,
}

type Databases = BTreeMap<String, Arc<Database>>;

/// What is served.
#[derive(Clone, Default)]
pub(crate) struct Now {
    pub(crate) stored: Stored,
    pub(crate) model: Model,
    /// Of the model.
    pub(crate) checksum: String,
    global: Arc<Global>,
    databases: Databases,
    /// What keeps this instance from the newest configuration, or from its repository.
    pub(crate) trouble: Option<String>,
}

impl std::fmt::Debug for Governor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Governor").field("id", &self.shared.id).finish_non_exhaustive()
    }
}

/// Placeholders take this process's environment.
pub(crate) const ENVIRONMENT: Environment<'static> = &|name| std::env::var(name).ok();

/// Which configuration is served where the files and the repository both have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precedence {
    Files,
    Repository,
}

impl Governor {
    /// Takes up the configuration of the repository, or fills an empty one from the files, and serves it; then follows the repository until the
    /// governor is dropped.
    ///
    /// # Errors
    /// `Configuration` when the repository cannot be read or what it holds cannot be served: a server does not begin without its configuration.
    pub async fn start(
        options: Options,
        house: Arc<dyn House>,
        runtime: SharedRuntime,
    ) -> Result<Self> {
        let shared = Shared {
            language: Language::of(house.offers()),
            house,
            runtime,
            id: options.id.into(),
            member: Mutex::new(Member::new(options.instance, options.lease)),
            origin: options.origin,
            folder: Folder(options.exchange),
            now: Mutex::default(),
            turn: tokio::sync::Mutex::new(0),
            refills: Mutex::default(),
            keeping: tokio::sync::Mutex::default(),
        };
        let governor = Self { shared: Arc::new(shared) };
        match governor.repository() {
            None => governor.serve_files(&options.files)?,
            Some(repository) => {
                // No key of a generator before it is certain that no other instance makes the same.
                governor.shared.house.lease(None);
                let watch = repository.watch(&Prefix::root());
                let precedence = match options.overwrite {
                    true => Precedence::Files,
                    false => Precedence::Repository,
                };
                governor.begin(&*repository, &options.files, precedence).await?;
                follow::begin(&governor, watch);
            }
        }
        Ok(governor)
    }

    async fn begin(
        &self,
        repository: &dyn Repository,
        files: &Model,
        precedence: Precedence,
    ) -> Result<()> {
        let wrong = |error: pando_repository::Error| configuration(error.to_string());
        // Of several instances that begin at once, one fills the repository and the others find it filled.
        for _ in 0..ATTEMPTS {
            let stored = self.read(repository).await.map_err(wrong)?;
            if stored.version.is_some() && precedence == Precedence::Repository {
                if *files != Model::default()
                    && self.entries(files).is_ok_and(|own| own != *stored.entries)
                {
                    tracing::warn!(
                        "the repository's configuration is served, which is not that of the files"
                    );
                }
                return self.adopt(stored);
            }
            let is_foreign = stored.version.is_none() && !stored.entries.is_empty();
            if is_foreign && precedence == Precedence::Repository {
                return Err(configuration(
                    "the repository has a configuration that is not Pando's or has lost its `/version`; choose another namespace, or say `mode.overwrite`",
                ));
            }
            let entries = self.entries(files)?;
            let author = format!("{}-start", self.shared.id);
            let wanted = Wanted { entries: &entries, more: Vec::new() };
            match commit::commit(repository, &stored, wanted, &author, self.marks()).await {
                Ok(()) => return self.adopt(self.read(repository).await.map_err(wrong)?),
                Err(pando_repository::Error::Conflict(_)) => {}
                Err(error) => return Err(wrong(error)),
            }
        }
        Err(configuration("other instances keep changing the configuration"))
    }

    /// Serves the files as they are now; for a configuration that is kept in files.
    ///
    /// # Errors
    /// `Configuration`; what was served before goes on.
    fn serve_files(&self, files: &Model) -> Result<()> {
        self.take_up(Stored::default(), files.clone())
    }

    /// Serves files that have changed, unless rows would be put out of reach: as a statement that changes rules would be refused.
    ///
    /// # Errors
    /// `Configuration`, and what has rows; what was served before goes on. 17013 when it is served and rows came meanwhile.
    ///
    /// # Cancel safety
    /// Dropping it leaves the old or the new files served.
    pub async fn reload_files(&self, files: &Model) -> Result<()> {
        let base = self.now().clone();
        let changes = self.around("", |around| base.model.towards(files, around));
        for change in &changes {
            self.check(&base, change).await?;
        }
        leaving::settled(self, &base, files).await?;
        self.serve_files(files)?;
        overtaken::look(self, &base, &changes).await
    }

    /// Whether the configuration is kept in files.
    pub fn is_of_files(&self) -> bool {
        matches!(self.shared.origin, Origin::Files)
    }

    /// Tells the other instances that this one serves clients at this address. A repository that does not answer is told later.
    ///
    /// # Cancel safety
    /// Dropping it leaves that to the next look at the repository.
    pub async fn joins(&self, host: &str, port: u16) {
        self.member().stands_at(host, port);
        if let Err(error) = member::keep(self, Before::MayStand).await {
            tracing::warn!(%error, "this instance could not be registered; it tries again");
        }
    }

    /// The configuration that is served.
    pub fn model(&self) -> Model {
        self.now().model.clone()
    }

    /// What other instances and persons say.
    pub fn cluster(&self) -> Arc<Cluster> {
        Arc::clone(&self.now().stored.cluster)
    }

    /// Says good-bye to the other instances and ends following the repository.
    ///
    /// # Cancel safety
    /// Dropping the future leaves this instance's entries to the end of its session.
    pub async fn close(&self) {
        if let Some(repository) = self.repository() {
            repository.close().await;
        }
    }

    pub(crate) fn repository(&self) -> Option<Arc<dyn Repository>> {
        match &self.shared.origin {
            Origin::Files => None,
            Origin::Repository { repository, .. } => Some(Arc::clone(repository)),
        }
    }

    pub(crate) fn now(&self) -> MutexGuard<'_, Now> {
        self.shared.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the repository has now.
    ///
    /// # Errors
    /// As the repository says; `Damaged` when it has gone back to an earlier moment: a change thought out on what is served here would then be
    /// written over what somebody has just restored, and not be served.
    pub(crate) async fn read(
        &self,
        repository: &dyn Repository,
    ) -> pando_repository::Result<Stored> {
        let known = self.now().stored.revision;
        let view = repository.read(&Prefix::root()).await?;
        if view.revision < known {
            return Err(pando_repository::Error::Damaged(
                "it is as it was earlier; if a copy was restored, start this instance again".into(),
            ));
        }
        Stored::read(&view)
    }

    /// A model as it is to be stored.
    ///
    /// # Errors
    /// A password that must not be stored as it is.
    pub(crate) fn entries(&self, model: &Model) -> Result<Entries> {
        let keeping = match &self.shared.origin {
            Origin::Files => Keeping::Open,
            Origin::Repository { secrets: Secrets::Sealed(key), .. } => Keeping::Sealed(key),
            Origin::Repository { secrets: Secrets::Placeholders, .. } => Keeping::Placeholders,
        };
        model.entries(keeping).map_err(|refusal| error::refusal(&refusal))
    }

    /// What seals entries that only instances may read or make.
    pub(crate) fn secret(&self) -> Option<&Key> {
        match &self.shared.origin {
            Origin::Repository { secrets: Secrets::Sealed(key), .. } => Some(key),
            Origin::Repository { .. } | Origin::Files => None,
        }
    }

    /// What marks the configuration of a repository that others can reach as made by who has the cluster's key.
    pub(crate) fn marks(&self) -> Option<&Key> {
        match &self.shared.origin {
            Origin::Repository { is_shared: true, secrets: Secrets::Sealed(key), .. } => Some(key),
            Origin::Repository { .. } | Origin::Files => None,
        }
    }

    /// Whether an instance with the cluster's key has made this configuration, and later than the one that is served. Whoever else can write to the repository
    /// would make himself an administrator.
    ///
    /// # Errors
    /// `Configuration`.
    fn is_ours(&self, stored: &Stored, known: &Stored) -> Result<()> {
        let trusted = matches!(self.shared.origin, Origin::Repository { is_trusted: true, .. });
        let (Some(key), Some(version), false) = (self.marks(), &stored.version, trusted) else {
            return Ok(());
        };
        if !version.is_of(key, &stored.entries) {
            return Err(configuration(
                "the repository's configuration is not as an instance with this PANDO_SECRET_KEY has left it: somebody else has changed entries, or it is of a \
                 version before marks; put back what it was, let the files win (`mode.overwrite`), or look through it and say `trustUnmarked: true` in the \
                 repository's `props` for one start",
            ));
        }
        if known.version.as_ref().is_some_and(|known| version.number < known.number) {
            return Err(configuration(
                "the repository's configuration is an earlier one; if a copy was restored, start this instance again",
            ));
        }
        Ok(())
    }

    /// Serves what was read, unless something newer is served already.
    ///
    /// # Errors
    /// `Configuration`; what was served before goes on, and is told to be in trouble.
    pub(crate) fn adopt(&self, stored: Stored) -> Result<()> {
        let known = {
            let now = self.now();
            if stored.revision < now.stored.revision {
                return Ok(());
            }
            self.is_ours(&stored, &now.stored)?;
            // Nobody wants to serve nothing because somebody has emptied the repository.
            if stored.version.is_none() && now.stored.version.is_some() {
                return Err(configuration("the repository has lost its configuration"));
            }
            (stored.entries == now.stored.entries && now.stored.version.is_some())
                .then(|| now.model.clone())
        };
        let model = match known {
            Some(model) => model,
            None => {
                let key = match &self.shared.origin {
                    Origin::Repository { secrets: Secrets::Sealed(key), .. } => Some(key),
                    Origin::Repository { secrets: Secrets::Placeholders, .. } | Origin::Files => {
                        None
                    }
                };
                Model::from_entries(&stored.entries, key)
                    .map_err(|refusal| configuration(refusal.message))?
            }
        };
        self.take_up(stored, model)
    }

    fn take_up(&self, stored: Stored, model: Model) -> Result<()> {
        let mut now = self.now();
        if stored.revision < now.stored.revision {
            return Ok(());
        }
        let is_first = now.databases.is_empty() && now.model == Model::default();
        if is_first || model != now.model || stored.cluster != now.stored.cluster {
            let (global, databases) = now.typed(&model)?;
            let served = Served {
                global: Arc::clone(&global),
                databases: databases.values().cloned().collect(),
                cluster: Arc::clone(&stored.cluster),
                own: Arc::clone(&self.shared.id),
            };
            self.shared.house.serve(&served)?;
            now.checksum = model.checksum();
            if model != now.model {
                tracing::info!(
                    checksum = now.checksum,
                    "this configuration is served from here on"
                );
            }
            (now.global, now.databases) = (global, databases);
        }
        (now.stored, now.model, now.trouble) = (stored, model, None);
        Ok(())
    }

    /// What models are validated with, for a statement of a client behind a door of this family.
    pub(crate) fn around<T>(&self, family: &str, then: impl FnOnce(&Around<'_>) -> T) -> T {
        let house = &self.shared.house;
        let rooms = |database: &Database| house.rooms(database);
        let settings = |global: &Global| house.settings(global);
        let vendor = match family {
            "postgres" => pando_config::Vendor::Postgres,
            "sqlite" => pando_config::Vendor::Sqlite,
            _ => pando_config::Vendor::MySql,
        };
        then(&Around {
            environment: ENVIRONMENT,
            vendor,
            language: &self.shared.language,
            rooms: &rooms,
            settings: &settings,
        })
    }
}

/// How often a change is thought out anew because another one came first.
pub(crate) const ATTEMPTS: usize = 5;

impl Now {
    /// The typed configuration; databases that did not change are the same as before.
    fn typed(&self, model: &Model) -> Result<(Arc<Global>, Databases)> {
        let difference = model.since(&self.model);
        let wrong = |refusal: pando_model::Refusal| configuration(refusal.message);
        let is_first = self.databases.is_empty() && self.model == Model::default();
        let global = if difference.global || is_first {
            let (global, warnings) = model.read_global(ENVIRONMENT).map_err(wrong)?;
            warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
            Arc::new(global)
        } else {
            Arc::clone(&self.global)
        };
        let mut databases = Databases::new();
        for name in model.databases() {
            let kept = self
                .databases
                .get(name)
                .filter(|_| !difference.changed.iter().any(|changed| changed == name));
            let database = match kept {
                Some(kept) => Arc::clone(kept),
                None => {
                    let (database, warnings) = model.read(name, ENVIRONMENT).map_err(wrong)?;
                    warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
                    Arc::new(database)
                }
            };
            databases.insert(name.to_owned(), database);
        }
        Ok((global, databases))
    }

    /// The served databases.
    pub(crate) fn databases(&self) -> impl Iterator<Item = &Arc<Database>> {
        self.databases.values()
    }

    /// A served database, by its name in any case.
    pub(crate) fn database(&self, name: &str) -> Option<&Arc<Database>> {
        let exact = self.databases.get(name);
        exact.or_else(|| {
            let mut all = self.databases.iter();
            all.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, database)| database)
        })
    }
}

pub(crate) fn configuration(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Configuration(message.into()))
}
