//! Asks the server to stop what another connection does.
//! <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS>

use bytes::BytesMut;
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::{CancelToken, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Options, login, unavailable};
use crate::codec::startup::{Cancel, encode_cancel};

/// Opens a connection of its own, sends the request and waits until the server closes it: only
/// then has the request been worked on.
pub(super) async fn cancel(
    options: &Options,
    runtime: &SharedRuntime,
    token: CancelToken,
) -> Result<()> {
    let lost =
        |error: std::io::Error| unavailable(&options.unit, error.to_string()).caused_by(error);
    let Ok(process) = u32::try_from(token.id) else { return Ok(()) };
    let mut stream = login::open(options, runtime).await?.stream;
    let mut request = BytesMut::new();
    encode_cancel(&mut request, Cancel { process, key: &token.secret.to_be_bytes() });
    stream.write_all(&request).await.map_err(lost)?;
    stream.flush().await.map_err(lost)?;
    // The answer is the end of the stream; however it ends, the request is through.
    let _ = stream.read_u8().await;
    Ok(())
}
