//! The configuration as files of this machine, and back.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use pando_distsql::command::{Metadata, Name};
use pando_kernel::administration::{Answer, Caller};
use pando_kernel::error::Result;
use pando_model::Kind;

use crate::desk::chosen;
use crate::error::{refusal, refused};
use crate::governor::{Governor, Origin};

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
            Metadata::RefreshDatabase { .. } => {
                if let (Origin::Repository { .. }, Some(repository)) =
                    (&self.shared.origin, self.repository())
                {
                    let stored = self.read(&*repository).await;
                    let stored = stored.map_err(|error| crate::error::repository(&error))?;
                    self.adopt(stored)?;
                }
            }
            Metadata::ExportDatabase { database, file } => {
                let name = chosen(caller, named(database.as_ref()))?;
                let text = self.model().yaml(name).map_err(|why| refusal(&why))?;
                return handed("result", text, file.as_deref(), verb);
            }
            Metadata::ImportDatabase { file } => {
                crate::desk::may_change(caller)?;
                let text = read(file)?;
                self.change(&|model| {
                    self.around(caller.family, |around| model.import(&text, around))
                })
                .await?;
            }
            Metadata::Export { .. }
            | Metadata::Import(_)
            | Metadata::ExportStorageNodes { .. }
            | Metadata::ConvertYaml { .. }
            | Metadata::RefreshTable { .. }
            | Metadata::ShowTable { .. } => {
                return Err(refused(
                    Kind::NotSupported,
                    &format!("{verb} is not supported yet by this version"),
                ));
            }
        }
        Ok(Answer::Done(verb.to_owned()))
    }
}

fn named(name: Option<&Name>) -> Option<&str> {
    name.map(|name| name.text.as_str())
}

/// A text to the client, or into a new file that only this server's user can read: there are passwords in it.
fn handed(label: &str, text: String, file: Option<&str>, verb: &str) -> Result<Answer> {
    let Some(path) = file else {
        return Ok(Answer::Rows { labels: vec![label.to_owned()], rows: vec![vec![Some(text)]] });
    };
    let failed = |error: std::io::Error| {
        refused(Kind::InvalidDocument, &format!("cannot write `{path}`: {error}"))
    };
    let mut out =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    out.write_all(text.as_bytes()).and_then(|()| out.sync_all()).map_err(failed)?;
    Ok(Answer::Done(verb.to_owned()))
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
