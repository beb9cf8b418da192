//! A session as it was after its login: DISCARD, and what protocols reset.

use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::session::TransactionState;

use crate::session::Session;
use crate::session::errors::server_error;

impl Session {
    /// `DISCARD ALL`, and its parts: plans and sequences' last values are no session's.
    ///
    /// # Errors
    /// In a failed transaction, ALL in any; `Syntax` for another word.
    pub(in crate::session) async fn discard(&mut self, verb: &str) -> Result<()> {
        self.work.refuse_if_failed(false)?;
        let tag = match verb {
            "DISCARD ALL" => {
                if self.work.transaction.state() != TransactionState::Idle {
                    let message = "DISCARD ALL cannot run inside a transaction block";
                    return Err(server_error(0, "25001", message));
                }
                self.reset().await?;
                verb
            }
            "DISCARD TEMP" | "DISCARD TEMPORARY" => {
                self.discard_temporaries()?;
                "DISCARD TEMP"
            }
            "DISCARD PLANS" | "DISCARD SEQUENCES" => verb,
            _ => {
                let message = format!("`{verb}` is no statement that is known");
                return Err(ErrorKind::Syntax { message, at: 0 }.into());
            }
        };
        self.complete(tag);
        Ok(())
    }

    /// As after login, with user and database kept.
    pub(in crate::session) async fn reset(&mut self) -> Result<()> {
        if self.work.transaction.state() != TransactionState::Idle {
            self.end_transaction(false).await?;
        }
        self.close_cursors().await;
        self.temporary.drop_temporaries();
        self.memory.named.clear();
        self.settings.variables.clear();
        self.work.autocommit = true;
        self.place.facts_mut().autocommit = true;
        self.place.facts_mut().last_insert_id = 0;
        self.place.facts_mut().told.clear();
        self.work.modes.next.clear();
        self.work.modes.session.clear();
        self.work.kind = None;
        self.start_variables()
    }
}
