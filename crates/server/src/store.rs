//! Where an instance's configuration is kept: its files, a store in its own folder, or a repository shared with others.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::rand;
use pando_config::global::{Global, Mode, Repository as Configured};
use pando_governor::{Origin, Secrets};
use pando_kernel::error::Result;
use pando_kernel::runtime::{SharedRuntime, TlsMode};
use pando_model::Key as Secret;
use pando_repository::Key;
use pando_repository::embedded::{self, Store};
use pando_repository_etcd::Etcd;
use pando_repository_zookeeper::ZooKeeper;

use crate::wrong::configuration;

/// The environment variable with the key that passwords in a repository are sealed with: 64 hexadecimal digits.
const SECRET: &str = "PANDO_SECRET_KEY";

/// The file with that key where the environment has none.
const KEY_FILE: &str = "secret.key";

/// Where the configuration is, and who this instance is there.
pub(crate) struct Place {
    pub(crate) origin: Origin,
    pub(crate) id: String,
    /// How long the instance's entries stand without a sign of life.
    pub(crate) lease: Option<Duration>,
}

/// Opens what the options and `mode` ask for. `folder` is where an instance that stands alone keeps its configuration.
///
/// # Errors
/// `Configuration`: a folder that cannot be used, a repository that is described wrongly, a key that is none.
pub(crate) fn open(
    folder: Option<&Path>,
    global: &Global,
    runtime: &SharedRuntime,
) -> Result<Place> {
    let given = given_secret()?;
    match (&global.mode, folder) {
        (Mode::Cluster(configured), _) => {
            let secrets = given.map_or(Secrets::Placeholders, Secrets::Sealed);
            let (origin, lease) = shared(configured, secrets, runtime)?;
            Ok(Place { origin, id: hexadecimal(&random::<16>()?), lease: Some(lease) })
        }
        (Mode::Standalone(_), None) => {
            Ok(Place { origin: Origin::Files, id: hexadecimal(&random::<16>()?), lease: None })
        }
        (Mode::Standalone(_), Some(folder)) => alone(folder, given, runtime),
    }
}

/// The store in a folder of this instance's own. The folder is locked first: another process must not make a second key meanwhile.
fn alone(folder: &Path, given: Option<Secret>, runtime: &SharedRuntime) -> Result<Place> {
    let store = Store::open(folder, Arc::clone(runtime), embedded::Options::default());
    let store = store.map_err(|error| configuration(format!("`{}`: {error}", folder.display())))?;
    let id = kept(folder, "instance", || Ok(hexadecimal(&random::<16>()?)))?;
    let secret = match given {
        Some(secret) => secret,
        None => {
            let text = kept(folder, KEY_FILE, || Ok(hexadecimal(&random::<32>()?)))?;
            let path = folder.join(KEY_FILE);
            let wrong = || format!("`{}` is not a key of 64 hexadecimal digits", path.display());
            Secret::new(bytes(&text).ok_or_else(|| configuration(wrong()))?)
        }
    };
    let told = ("Embedded".to_owned(), vec![("path".to_owned(), folder.display().to_string())]);
    let origin = Origin::Repository {
        repository: store.instance(),
        told,
        is_shared: false,
        is_trusted: true,
        secrets: Secrets::Sealed(secret),
    };
    Ok(Place { origin, id, lease: None })
}

fn shared(
    configured: &Configured,
    secrets: Secrets,
    runtime: &SharedRuntime,
) -> Result<(Origin, Duration)> {
    let wrong = |why: String| configuration(configured.at.problem(why).to_string());
    let prop = |name: &str| configured.props.get(name).map(|value| value.value.as_str());
    let lists =
        prop("server-lists").ok_or_else(|| wrong("`server-lists` is missing".to_owned()))?;
    let namespace = prop("namespace").unwrap_or("governance_ds");
    let namespace = Key::parse(&format!("/{}", namespace.trim_matches('/')));
    let namespace = namespace.map_err(|error| wrong(error.to_string()))?;
    let number = |name: &str, unit: Duration| match prop(name) {
        None => Ok(None),
        Some(text) => match text.parse::<u32>() {
            Ok(number) if number > 0 => Ok(Some(unit * number)),
            Ok(_) | Err(_) => {
                Err(wrong(format!("`{name}` is a positive whole number, not `{text}`")))
            }
        },
    };
    let lease =
        number("timeToLiveSeconds", Duration::from_secs(1))?.unwrap_or(Duration::from_secs(10));
    let deadline = number("operationTimeoutMilliseconds", Duration::from_millis(1))?;
    let deadline = deadline.unwrap_or(Duration::from_secs(5));
    let is_set = |name: &str| match prop(name) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(text) => Err(wrong(format!("`{name}` is `true` or `false`, not `{text}`"))),
    };
    let is_trusted = is_set("trustUnmarked")?;
    let authority = prop("certificateAuthority").map(str::to_owned);
    let failed = |error: pando_repository::Error| wrong(error.to_string());
    let kind = configured.kind.value.as_str();
    let repository: Arc<dyn pando_repository::Repository> = match kind.to_lowercase().as_str() {
        "zookeeper" => {
            let mut options =
                pando_repository_zookeeper::Options::new(lists, namespace).map_err(failed)?;
            options.digest = prop("digest").filter(|text| !text.is_empty()).map(str::to_owned);
            (options.session_timeout, options.deadline) = (lease, deadline);
            options.tls = if is_set("tls")? { TlsMode::VerifyFull } else { TlsMode::Off };
            options.authority = authority;
            Arc::new(ZooKeeper::open(options, Arc::clone(runtime)).map_err(failed)?)
        }
        "etcd" => {
            let mut options =
                pando_repository_etcd::Options::new(lists, namespace).map_err(failed)?;
            (options.session_timeout, options.deadline) = (lease, deadline);
            options.authority = authority;
            if let Some(user) = prop("user") {
                let password = prop("password").unwrap_or_default().to_owned();
                let user = user.to_owned();
                options.credentials = Some(pando_repository_etcd::Credentials { user, password });
            }
            Arc::new(Etcd::open(options, Arc::clone(runtime)).map_err(failed)?)
        }
        _ => {
            return Err(wrong(format!(
                "unknown repository type `{kind}`, expected `ZooKeeper` or `etcd`"
            )));
        }
    };
    let told = configured
        .props
        .iter()
        .map(|(name, value)| (name.value.clone(), value.value.clone()))
        .collect();
    let told = (kind.to_owned(), told);
    let origin = Origin::Repository { repository, told, is_shared: true, is_trusted, secrets };
    Ok((origin, lease))
}

fn given_secret() -> Result<Option<Secret>> {
    let Ok(text) = std::env::var(SECRET) else { return Ok(None) };
    let key = bytes(&text).ok_or_else(|| {
        configuration(format!("`{SECRET}` is not a key of 64 hexadecimal digits"))
    })?;
    Ok(Some(Secret::new(key)))
}

/// A file's one line; a file that is not there is made, for this server's user alone.
fn kept(folder: &Path, name: &str, make: impl FnOnce() -> Result<String>) -> Result<String> {
    let path = folder.join(name);
    let failed = |error: io::Error| configuration(format!("`{}`: {error}", path.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    match fs::read_to_string(&path) {
        Ok(text) if !text.trim().is_empty() => return Ok(text.trim().to_owned()),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let text = make()?;
    // Written aside and renamed: a file that was killed half way must not become a key.
    let aside = folder.join(format!("{name}.new"));
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&aside)
        .map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    fs::rename(&aside, &path).map_err(failed)?;
    fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
    Ok(text)
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    rand::fill(&mut bytes).map_err(|_| configuration("the system has no random numbers"))?;
    Ok(bytes)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(text: &str) -> Option<[u8; 32]> {
    let text = text.trim();
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut out = [0; 32];
    for (at, byte) in out.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(out)
}
