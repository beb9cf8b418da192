//! The configuration as files of this machine, and back.

use pando_distsql::command::{Metadata, MetadataSource, Ral};
use pando_kernel::administration::{Answer, Caller};
use pando_kernel::error::Result;
use pando_model::{Conversion, Kind, Refusal, Rows, Singles};

use crate::answer::told;
use crate::desk::{chosen, may_change};
use crate::error::refusal;
use crate::governor::{ENVIRONMENT, Governor};

impl Governor {
    /// Carries out a statement about files, or about reading the repository anew.
    pub(crate) async fn files(
        &self,
        caller: &Caller,
        order: &Metadata,
        verb: &str,
    ) -> Result<Answer> {
        let folder = &self.shared.folder;
        match order {
            Metadata::RefreshDatabase { database, .. } => {
                self.refresh().await?;
                if let Some(database) = database {
                    self.database(&database.text)?;
                }
            }
            Metadata::ExportDatabase { database, .. } => {
                chosen(caller, database.as_ref().map(|name| name.text.as_str()))?;
                return self.export(caller, order);
            }
            Metadata::Export { .. } | Metadata::ExportStorageNodes { .. } => {
                return self.export(caller, order);
            }
            Metadata::ImportDatabase { file } => {
                may_change(caller)?;
                let text = folder.read(file)?;
                let import = |model: &pando_model::Model| {
                    let made = self.around(caller.family, |around| model.import(&text, around));
                    made.map_err(|why| veiled(file, &text, why))
                };
                self.change(&import).await?;
            }
            Metadata::Import(source) => {
                may_change(caller)?;
                let (text, file) = match source {
                    MetadataSource::Text(text) => (text.clone(), None),
                    MetadataSource::File(file) => (folder.read(file)?, Some(file)),
                };
                let import = |model: &pando_model::Model| {
                    let made =
                        self.around(caller.family, |around| model.import_metadata(&text, around));
                    made.map_err(|why| match file {
                        Some(file) => veiled(file, "", why),
                        None => why,
                    })
                };
                self.changes(&import).await?;
            }
            Metadata::ConvertYaml { file } => {
                let text = folder.read(file)?;
                let made = self.around(caller.family, |around| Conversion::of(&text, around));
                let made = made.map_err(|why| refusal(&veiled(file, &text, why)))?;
                return Ok(told(Rows::from(&made)));
            }
            Metadata::RefreshTable { .. } | Metadata::ShowTable { .. } => {
                return Err(pando_kernel::Error::internal("these are the session's"));
            }
        }
        Ok(Answer::Done(verb.to_owned()))
    }

    /// Reads the repository anew, where there is one.
    async fn refresh(&self) -> Result<()> {
        let Some(repository) = self.repository() else { return Ok(()) };
        let stored = self.read(&*repository).await;
        self.adopt(stored.map_err(|error| crate::error::repository(&error))?)
    }

    fn export(&self, caller: &Caller, order: &Metadata) -> Result<Answer> {
        let now = self.now().clone();
        let order = Ral::Metadata(order.clone());
        let database = caller.database.as_deref().unwrap_or_default();
        let export = self.with_facts(&now, caller, &Singles::default(), |facts| {
            now.model.export(database, &order, facts)
        })?;
        if let Some(export) = export {
            self.shared.folder.write(&export.file, &export.text)?;
        }
        self.show(caller, &order)
    }
}

/// What is wrong with a file's document, by place and not by a word of it: whoever names a file need not be who may read it.
fn veiled(file: &str, text: &str, why: Refusal) -> Refusal {
    if why.kind != Kind::InvalidDocument {
        return why;
    }
    let place = match pando_model::wrong_at(text, ENVIRONMENT) {
        Some((line, column)) => format!(" at line {line}, column {column}"),
        None => String::new(),
    };
    let message = format!(
        "`{file}` holds no configuration that can be taken{place}; `pando check` says all that is wrong with one"
    );
    Refusal { kind: why.kind, message }
}
