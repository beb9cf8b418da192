//! A session as it was after its login: DISCARD, and what protocols reset.

use pando_kernel::error::{ErrorKind, Result};

use crate::session::Session;
use crate::session::connections::{locks, table_locks};
use crate::session::cursors::close;
use crate::session::errors::server_error;
use crate::session::reply::made;
use crate::session::statement::stand;
use crate::session::transaction::end;
use crate::session::transaction::temporary::look;

/// `DISCARD ALL`, and its parts: plans are no session's.
///
/// # Errors
/// In a failed transaction, ALL in any; `Syntax` for another word.
pub(in crate::session) async fn discard(session: &mut Session, verb: &str) -> Result<()> {
    session.work.refuse_if_failed()?;
    let tag = match verb {
        "DISCARD ALL" => {
            if !session.work.is_idle() {
                let message = "DISCARD ALL cannot run inside a transaction block";
                return Err(server_error(0, "25001", message));
            }
            reset(session).await?;
            verb
        }
        "DISCARD TEMP" | "DISCARD TEMPORARY" => {
            look::discard_temporaries(session)?;
            "DISCARD TEMP"
        }
        "DISCARD SEQUENCES" => {
            session.settings.sequence_values_mut().forget();
            verb
        }
        "DISCARD PLANS" => verb,
        _ => {
            let message = format!("`{verb}` is no statement that is known");
            return Err(ErrorKind::Syntax { message, at: 0 }.into());
        }
    };
    made::complete(session, tag);
    Ok(())
}

/// As after login, with user and database kept.
pub(in crate::session) async fn reset(session: &mut Session) -> Result<()> {
    if !session.work.is_idle() {
        end::roll_back_with_cursors(session).await?;
    }
    close::close_cursors(session).await;
    session.temporary.drop_temporaries();
    session.settings.sequence_values_mut().forget();
    Box::pin(locks::forget_all(session)).await;
    Box::pin(table_locks::forget(session)).await;
    session.work.channels_mut().leave_all();
    session.memory.named_mut().clear();
    session.settings.forget();
    session.work.forget_choices();
    session.place.forget_facts();
    stand::start_variables(session)
}

/// COM_RESET_CONNECTION goes back to the server's values, and not to the collation of the login; DISCARD ALL to those
/// of the start-up packet.
/// <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_reset_connection.html>
pub(in crate::session) async fn reset_connection(session: &mut Session) -> Result<()> {
    session.place.forget_login_variables();
    reset(session).await
}
