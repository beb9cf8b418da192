//! The server's side of proving who a client is.

use pando_kernel::session::{Credential, Doorway, Proof};
use pando_kernel::{Channel, Error, ErrorKind};

use super::end::{End, own};
use super::login::Entrance;
use crate::auth::{Failure, is_password, md5, random, scram};
use crate::codec::backend::Authentication;
use crate::codec::frontend::{SaslInitial, password};

/// How a user is asked.
enum Method {
    Trust,
    Cleartext,
    Md5,
    Scram,
}

/// Asks the user for proof. A user who does not exist meets the same questions.
pub(super) async fn authenticate<D: Doorway>(
    entrance: &mut Entrance<'_, D>,
    user: &str,
) -> Result<(), End> {
    let credential = entrance.doorway.credential(user, &entrance.host, &entrance.channel);
    let known = credential.password();
    let right = match choose(&credential, &entrance.channel) {
        Method::Trust => true,
        Method::Cleartext => cleartext(entrance, known).await?,
        Method::Md5 => by_md5(entrance, user, known).await?,
        Method::Scram => by_scram(entrance, user, known).await?,
    };
    if !right {
        let message = format!("password authentication failed for user \"{user}\"");
        return Err(entrance.wire.last_words(&own("28P01", message)).await);
    }
    Authentication::Ok.encode(entrance.wire.output.buffer());
    Ok(())
}

fn choose(credential: &Credential, channel: &Channel) -> Method {
    let is_trusted = match &credential.proof {
        Proof::Given => true,
        Proof::Password(password) => password.is_empty() || credential.method == "TRUST",
        Proof::Impossible => false,
    };
    match credential.method.as_str() {
        _ if is_trusted => Method::Trust,
        "MD5" => Method::Md5,
        // A password in clear only goes where nobody can listen.
        "PASSWORD" | "CLEARTEXT" | "CLEAR_TEXT" if channel.is_secured => Method::Cleartext,
        _ => Method::Scram,
    }
}

async fn cleartext<D: Doorway>(
    entrance: &mut Entrance<'_, D>,
    known: Option<&str>,
) -> Result<bool, End> {
    Authentication::Cleartext.encode(entrance.wire.output.buffer());
    let answer = answer(entrance).await?;
    let given = text(entrance, &answer).await?;
    Ok(is_password(known, given))
}

async fn by_md5<D: Doorway>(
    entrance: &mut Entrance<'_, D>,
    user: &str,
    known: Option<&str>,
) -> Result<bool, End> {
    let salt = ours(entrance, random::<4>()).await?;
    Authentication::Md5(salt).encode(entrance.wire.output.buffer());
    let answer = answer(entrance).await?;
    let given = text(entrance, &answer).await?;
    Ok(md5::verify(user, known, salt, given))
}

async fn by_scram<D: Doorway>(
    entrance: &mut Entrance<'_, D>,
    user: &str,
    known: Option<&str>,
) -> Result<bool, End> {
    let endpoint = entrance.channel.endpoint.clone();
    let offered = scram::Server::mechanisms(endpoint.as_deref());
    Authentication::encode_sasl(entrance.wire.output.buffer(), offered);
    let first = answer(entrance).await?;
    let verifier = entrance.verifiers.get(user, known);
    let verifier = ours(entrance, verifier).await?;
    let mut server = ours(entrance, scram::Server::new(verifier, endpoint)).await?;
    let initial = match SaslInitial::decode(&first) {
        Ok(initial) if offered.contains(&initial.mechanism) => initial,
        Ok(_) => {
            let error = Error::protocol("client selected an invalid SASL authentication mechanism");
            return Err(entrance.wire.last_words(&error).await);
        }
        Err(malformed) => return Err(entrance.wire.last_words(&malformed.into()).await),
    };
    let data = match initial.data {
        Some(data) => data.to_vec(),
        // The mechanism's first message belongs to the client: an empty challenge asks for it.
        None => {
            Authentication::SaslContinue(b"").encode(entrance.wire.output.buffer());
            answer(entrance).await?.to_vec()
        }
    };
    let reply = server.first(initial.mechanism, &data);
    let reply = theirs(entrance, reply).await?;
    Authentication::SaslContinue(reply.as_bytes()).encode(entrance.wire.output.buffer());
    let last = answer(entrance).await?;
    match server.finish(&last) {
        // What nobody's proof fits is never proved, but that is no reason to trust it.
        Ok(signature) if known.is_some() => {
            Authentication::SaslFinal(signature.as_bytes()).encode(entrance.wire.output.buffer());
            Ok(true)
        }
        Ok(_) | Err(Failure::WrongSecret) => Ok(false),
        Err(failure) => theirs(entrance, Err(failure)).await,
    }
}

/// Sends the question and waits for the answer.
async fn answer<D: Doorway>(entrance: &mut Entrance<'_, D>) -> Result<bytes::Bytes, End> {
    entrance.wire.flush().await?;
    let frame = entrance.wire.frame().await?;
    match frame.tag {
        b'p' => Ok(frame.body),
        // Many clients leave here to ask their user for a password.
        b'X' => Err(End::Quit),
        tag => {
            let message = format!("expected password response, got message type {tag}");
            Err(entrance.wire.last_words(&Error::protocol(message)).await)
        }
    }
}

async fn text<'a, D: Doorway>(
    entrance: &mut Entrance<'_, D>,
    body: &'a [u8],
) -> Result<&'a [u8], End> {
    match password(body) {
        Ok(text) => Ok(text),
        Err(malformed) => Err(entrance.wire.last_words(&malformed.into()).await),
    }
}

/// A failure that is the client's doing.
async fn theirs<D: Doorway, T>(
    entrance: &mut Entrance<'_, D>,
    result: Result<T, Failure>,
) -> Result<T, End> {
    match result {
        Ok(value) => Ok(value),
        Err(failure) => {
            let error = Error::protocol(failure.to_string());
            Err(entrance.wire.last_words(&error).await)
        }
    }
}

/// A failure that is ours.
async fn ours<D: Doorway, T>(
    entrance: &mut Entrance<'_, D>,
    result: Result<T, Failure>,
) -> Result<T, End> {
    match result {
        Ok(value) => Ok(value),
        Err(failure) => {
            let error = Error::new(ErrorKind::Internal(failure.to_string()));
            Err(entrance.wire.last_words(&error).await)
        }
    }
}
