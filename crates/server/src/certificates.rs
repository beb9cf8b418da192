//! The certificate that clients are shown, and what is required of theirs.

use std::sync::Arc;

use pando_config::global::{Global, Level};
use pando_kernel::error::Result;
use pando_kernel::runtime::TlsAcceptor;

use crate::options::{Clients, Options};
use crate::tls::{Acceptor, Files, Terms};
use crate::wrong::configuration;

pub(crate) fn certificate(
    options: &Options,
    global: &Global,
) -> Result<Option<Arc<dyn TlsAcceptor>>> {
    if options.clients == Clients::OwnProcess {
        return Ok(None);
    }
    may_enter(options, global)?;
    let Some(files) = &options.tls else {
        if global.props.frontend_ssl_enabled {
            return Err(configuration(
                "`proxy-frontend-ssl-enabled` needs a certificate: give `--tls-certificate` and `--tls-key`",
            ));
        }
        return Ok(None);
    };
    let props = &global.props;
    let terms =
        Terms { versions: &props.frontend_ssl_versions, ciphers: &props.frontend_ssl_ciphers };
    let clients = files.clients.as_deref();
    match Acceptor::load(&Files { chain: &files.chain, key: &files.key, clients }, &terms) {
        Ok(acceptor) => Ok(Some(acceptor)),
        Err(error) => Err(configuration(error.to_string())),
    }
}

/// A user of whom something is required that no client here can have is a mistake.
fn may_enter(options: &Options, global: &Global) -> Result<()> {
    for user in &global.authority.users {
        let (level, files) = (global.authority.required(user).level, options.tls.as_ref());
        let lacks = match level {
            Level::Nothing => continue,
            Level::Tls if files.is_none() => "TLS: give `--tls-certificate` and `--tls-key`",
            Level::Certificate | Level::NamedCertificate
                if files.is_none_or(|files| files.clients.is_none()) =>
            {
                "a certificate: give `--tls-client-ca`"
            }
            Level::Tls | Level::Certificate | Level::NamedCertificate => continue,
        };
        let message = format!("user `{}@{}` needs {lacks}", user.name, user.host);
        return Err(configuration(user.at.problem(message).to_string()));
    }
    Ok(())
}
