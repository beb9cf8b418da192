//! The server's side of proving who a client is.

use std::sync::Arc;

use pando_kernel::session::{Credential, Doorway};

use super::Door;
use super::end::End;
use super::login::Facts;
use super::wire::Wire;
use crate::auth::{Plugin, Privacy, ServerLogin, ServerStep};
use crate::error::ClientError;

/// Who wants to log in, and with what answer to the scramble.
pub(super) struct Claim<'a> {
    pub(super) user: &'a [u8],
    pub(super) database: &'a [u8],
    pub(super) plugin: &'a [u8],
    pub(super) answer: &'a [u8],
    /// The number of the collation that its literals compare by.
    pub(super) collation: u16,
}

/// Asks for proof of the claim; whether it is given.
pub(super) async fn prove<D: Doorway>(
    door: &Door<D>,
    wire: &mut Wire,
    facts: &Facts,
    claim: &Claim<'_>,
    credential: Credential,
) -> Result<bool, End> {
    let required = Plugin::from_method(&credential.method);
    let privacy = if facts.channel.is_secured { Privacy::Private } else { Privacy::Open };
    let (proof, key) = (credential.proof, Arc::clone(&door.key));
    let mut login = ServerLogin::new(proof, facts.scramble, privacy, key);
    let mut step = login.begin(required, claim.plugin, claim.answer);
    loop {
        match step {
            Ok(ServerStep::Send(payload)) => {
                wire.output.payload(&payload);
                wire.input.expect(wire.output.sequence());
                wire.flush().await?;
                let packet = wire.packet().await?;
                step = login.read(&packet.payload);
            }
            Ok(ServerStep::Accepted(last)) => {
                if let Some(last) = last {
                    wire.output.payload(&last);
                }
                return Ok(true);
            }
            Ok(ServerStep::Denied) => return Ok(false),
            Err(error) => return Err(wire.last_words(&ClientError::of(error.kind())).await),
        }
    }
}
