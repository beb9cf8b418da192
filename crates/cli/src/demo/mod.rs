//! `pando demo`: a sharded database at work, on embedded storage units in a temporary folder.

mod client;
mod doors;
mod setup;
mod story;
mod table;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use pando_kernel::Connector;
use pando_kernel::runtime::SharedRuntime;
use pando_server::{Addresses, Listen, Options, Server};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use client::Client;
use doors::Doors;
use story::{ASK, FILL, SHARDS};

use crate::out::say;

type Told<T = ()> = std::result::Result<T, String>;

/// What becomes of the demo's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Files {
    Go,
    Stay,
}

pub(crate) fn run(files: Files) -> Told {
    let folder = tempfile::Builder::new().prefix("pando-demo-").tempdir().map_err(text)?;
    setup::write(folder.path()).map_err(text)?;
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(text)?;
    let shown = runtime.block_on(show(folder.path()));
    // Files of storage units are closed by threads that end with the runtime.
    drop(runtime);
    if files == Files::Stay {
        let kept = folder.keep();
        return shown.and_then(|()| tell(&format!("\nThe files stay in {}\n", kept.display())));
    }
    shown
}

async fn show(folder: &Path) -> Told {
    let options = Options {
        data: PathBuf::from(folder),
        mysql: Listen::At("127.0.0.1:0".into()),
        postgres: Listen::At("127.0.0.1:0".into()),
        ..Options::new(folder)
    };
    let server = Server::start(options).await.map_err(text)?;
    let addresses = server.addresses();
    let told = async {
        introduce(folder)?;
        let mut doors = Doors::open(addresses, server.runtime()).await.map_err(text)?;
        doors.play(&FILL).await?;
        shards(folder, server.runtime()).await?;
        doors.play(&ASK).await?;
        if std::io::stdout().is_terminal() {
            tell(&format!("Try it yourself:\n\n{}", commands(addresses)))?;
            tell("\nServing until Ctrl-C …\n")?;
            told_to_end().await.map_err(text)
        } else {
            let how = "On a terminal the demo goes on serving, to be tried as";
            tell(&format!("{how}\n\n{}", commands(addresses)))
        }
    };
    let told = told.await;
    server.stop().await;
    told
}

/// Ctrl-C, or SIGTERM: the temporary folder must not stay behind.
async fn told_to_end() -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        told = tokio::signal::ctrl_c() => told,
        _ = terminate.recv() => Ok(()),
    }
}

fn introduce(folder: &Path) -> Told {
    tell(&format!(
        "Pando makes plain databases into one sharded database. Here the plain databases are two SQLite files\n\
         in {}; PostgreSQL, MySQL and MariaDB servers are written the same way:\n\n{}\n",
        folder.display(),
        indented(setup::SHOP)
    ))
}

/// Looks into the storage units behind Pando's back.
async fn shards(folder: &Path, runtime: &SharedRuntime) -> Told {
    tell("-- What went where? This is what the two files hold themselves.\n")?;
    for (unit, table) in SHARDS {
        let file = folder.join(format!("{unit}.db"));
        let connector = pando_sqlite::connector(&file.to_string_lossy());
        let mut client =
            Client::connect(&connector as &dyn Connector, runtime).await.map_err(text)?;
        let sql = format!("SELECT * FROM {table} ORDER BY 1");
        let answer = client.ask(&sql).await.map_err(text)?;
        tell(&format!("{unit}.{table}\n{}\n", table::table(&answer)))?;
    }
    Ok(())
}

/// `--skip-ssl`, as newer clients insist on TLS unless told otherwise.
fn commands(addresses: Addresses) -> String {
    let port = |address: Option<std::net::SocketAddr>| address.map_or(0, |own| own.port());
    format!(
        "    PGPASSWORD={user} psql -h 127.0.0.1 -p {postgres} -U {user} {database}\n    mariadb --skip-ssl -h 127.0.0.1 -P {mysql} -u {user} -p{user} {database}\n",
        user = setup::USER,
        database = setup::DATABASE,
        postgres = port(addresses.postgres),
        mysql = port(addresses.mysql),
    )
}

fn indented(lines: &str) -> String {
    lines.lines().map(|line| format!("    {line}\n")).collect()
}

fn tell(words: &str) -> Told {
    say(words).map_err(text)
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
