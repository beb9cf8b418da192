//! The configuration as files of this machine, and back.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use pando_distsql::command::{Metadata, MetadataSource, Ral};
use pando_kernel::administration::{Answer, Caller};
use pando_kernel::error::Result;
use pando_model::{Conversion, Export, Kind, Rows};

use crate::answer::told;
use crate::desk::{chosen, may_change};
use crate::error::{refusal, refused};
use crate::governor::Governor;

/// Bytes of a file that is read: as much as the configuration files themselves may have.
const MOST: u64 = 16 << 20;

impl Governor {
    /// Carries out a statement about files, or about reading the repository anew.
    pub(crate) async fn files(
        &self,
        caller: &Caller,
        order: &Metadata,
        verb: &str,
    ) -> Result<Answer> {
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
                let text = read(file)?;
                let import = |model: &pando_model::Model| {
                    self.around(caller.family, |around| model.import(&text, around))
                };
                self.change(&import).await?;
            }
            Metadata::Import(source) => {
                may_change(caller)?;
                let text = match source {
                    MetadataSource::Text(text) => text.clone(),
                    MetadataSource::File(file) => read(file)?,
                };
                let import = |model: &pando_model::Model| {
                    self.around(caller.family, |around| model.import_metadata(&text, around))
                };
                self.changes(&import).await?;
            }
            Metadata::ConvertYaml { file } => {
                let text = read(file)?;
                let made = self.around(caller.family, |around| Conversion::of(&text, around));
                return Ok(told(Rows::from(&made.map_err(|why| refusal(&why))?)));
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
        let export = self.with_facts(&now, caller, (&[], &[]), |facts| {
            now.model.export(database, &order, facts)
        })?;
        if let Some(export) = export {
            write(&export)?;
        }
        self.show(caller, &order)
    }
}

/// A new file that only this server's user can read: there are passwords in it.
fn write(export: &Export) -> Result<()> {
    let path = &export.file;
    let failed = |error: std::io::Error| {
        refused(Kind::InvalidDocument, &format!("cannot write `{path}`: {error}"))
    };
    let mut out =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    out.write_all(export.text.as_bytes()).and_then(|()| out.sync_all()).map_err(failed)
}

fn read(path: &str) -> Result<String> {
    let failed =
        |why: String| refused(Kind::InvalidDocument, &format!("cannot read `{path}`: {why}"));
    if !Path::new(path).is_file() {
        return Err(failed("it is no file".to_owned()));
    }
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    let mut text = String::new();
    let length =
        file.take(MOST + 1).read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    if length as u64 > MOST {
        return Err(failed(format!("it is larger than {MOST} bytes")));
    }
    Ok(text)
}
