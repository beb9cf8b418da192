//! The command line: what may be written and what `--help` says about it.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

const EXAMPLES: &str = "Examples:
  pando demo                        try it: no server, no network, nothing left behind
  pando check --config conf         say what the configuration holds, or every mistake in it
  pando serve --config conf         serve it on 127.0.0.1:3307 (MySQL) and 127.0.0.1:5433 (PostgreSQL)
  pando serve                       begin with nothing, and configure it by statements (HELP DISTSQL)
  pando serve --config conf --mysql 0.0.0.0:3306 --postgres off";

const SERVE_EXAMPLES: &str = "Prints one line `ready mysql=ADDRESS postgres=ADDRESS` when it accepts clients; everything else goes to standard error.
SIGTERM and Ctrl-C let running statements end and stop; SIGHUP reads the files of `--config` and the certificate again.

Where the configuration is kept:
  --config alone     in these files; statements show it and do not change it
  --data             in this folder; statements change it, and it survives everything but the loss of the folder. Files of `--config` fill an
                     empty folder, and win at every start when they say `mode: {overwrite: true}`
  neither            in the folder `pando-data` here
  `mode: Cluster`    in ZooKeeper or etcd, shared with other instances, as `mode` in `global.yaml` says. Passwords of storage units are kept there only
                     sealed: start every instance with the same PANDO_SECRET_KEY (64 hexadecimal digits) in its environment

Examples:
  pando serve
  pando serve --data /var/lib/pando
  pando serve --config conf
  pando serve --config conf --mysql 127.0.0.1:0 --postgres 127.0.0.1:0      any free ports
  pando serve --config conf --tls-certificate server.pem --tls-key server.key
  pando serve --config conf --tls-certificate server.pem --tls-key server.key --tls-client-ca ca.pem      asks clients for theirs";

const CHECK_EXAMPLES: &str = "Exit code 0: the configuration can be served. Exit code 1: every mistake stands on standard error as file:line:column: path: message.

Example:
  pando check --config conf";

const DEMO_EXAMPLES: &str =
    "On a terminal the demo goes on serving until Ctrl-C, otherwise it ends by itself.

Examples:
  pando demo
  pando demo --keep                 leave the files behind and say where";

/// What was asked for.
#[derive(Debug)]
pub(crate) enum Asked {
    Serve(Serve),
    Check { config: PathBuf, data: PathBuf, modules: Option<PathBuf> },
    Demo { keep: bool },
}

/// `pando serve`.
#[derive(Debug)]
pub(crate) struct Serve {
    pub(crate) config: Option<PathBuf>,
    pub(crate) mysql: Option<String>,
    pub(crate) postgres: Option<String>,
    pub(crate) data: Option<PathBuf>,
    pub(crate) files: Option<PathBuf>,
    pub(crate) modules: Option<PathBuf>,
    pub(crate) tls: Option<(PathBuf, PathBuf)>,
    pub(crate) tls_clients: Option<PathBuf>,
}

/// Reads the command line, with the log level; clap itself answers `--help`, `--version` and mistakes.
pub(crate) fn read() -> (Asked, String) {
    let matches = command().get_matches();
    let level =
        matches.get_one::<String>("log").cloned().or_else(|| std::env::var("PANDO_LOG").ok());
    (asked(&matches), level.unwrap_or_else(|| "info".to_owned()))
}

fn asked(matches: &ArgMatches) -> Asked {
    let path = |of: &ArgMatches, name: &str| of.get_one::<PathBuf>(name).cloned();
    match matches.subcommand() {
        Some(("serve", of)) => Asked::Serve(Serve {
            config: path(of, "config"),
            mysql: of.get_one::<String>("mysql").cloned(),
            postgres: of.get_one::<String>("postgres").cloned(),
            data: path(of, "data"),
            files: path(of, "files"),
            modules: path(of, "modules"),
            tls: path(of, "tls-certificate").zip(path(of, "tls-key")),
            tls_clients: path(of, "tls-client-ca"),
        }),
        Some(("check", of)) => Asked::Check {
            config: path(of, "config").unwrap_or_default(),
            data: path(of, "data").unwrap_or_default(),
            modules: path(of, "modules"),
        },
        // clap lets nothing but the three pass.
        Some((_, of)) => Asked::Demo { keep: of.get_flag("keep") },
        None => Asked::Demo { keep: false },
    }
}

fn command() -> Command {
    Command::new("pando")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Makes plain MySQL, MariaDB and PostgreSQL servers into one sharded database")
        .after_help(EXAMPLES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(
            Arg::new("log")
                .long("log")
                .global(true)
                .value_name("LEVEL")
                .value_parser(["off", "error", "warn", "info", "debug", "trace"])
                .help("How much goes to standard error [default: info, or PANDO_LOG]"),
        )
        .subcommand(serve())
        .subcommand(
            Command::new("check")
                .about("Reads a configuration and says what it holds, without connecting anywhere")
                .after_help(CHECK_EXAMPLES)
                .arg(config())
                .arg(data())
                .arg(modules()),
        )
        .subcommand(
            Command::new("demo")
                .about("Shows a sharded database at work on embedded storage units")
                .after_help(DEMO_EXAMPLES)
                .arg(
                    Arg::new("keep")
                        .long("keep")
                        .action(ArgAction::SetTrue)
                        .help("Leaves configuration and data behind"),
                ),
        )
}

fn serve() -> Command {
    let door = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("ADDRESS").help(help)
    };
    let file = |name: &'static str| {
        Arg::new(name).long(name).value_name("FILE").value_parser(value_parser!(PathBuf))
    };
    Command::new("serve")
        .about("Serves a configuration")
        .after_help(SERVE_EXAMPLES)
        .arg(config().required(false))
        .arg(door("mysql", "Where to listen for MySQL clients, or `off` [default: 127.0.0.1:3307, or the port of `proxy-default-port`]"))
        .arg(door("postgres", "Where to listen for PostgreSQL clients, or `off` [default: 127.0.0.1:5433]"))
        .arg(data().help("Folder to keep the configuration in; relative paths of embedded storage units start there"))
        .arg(
            Arg::new("files").long("files").value_name("DIR").value_parser(value_parser!(PathBuf)).help(
                "Folder below which IMPORT, EXPORT and CONVERT read and write files [default: statements have no files]",
            ),
        )
        .arg(modules())
        .arg(
            file("tls-certificate")
                .requires("tls-key")
                .help("PEM file with the certificate chain shown to clients"),
        )
        .arg(file("tls-key").requires("tls-certificate").help("PEM file with its private key"))
        .arg(
            file("tls-client-ca").requires("tls-certificate").help(
                "PEM file with the authorities that sign certificates of clients, for users who are required to show one",
            ),
        )
}

fn data() -> Arg {
    Arg::new("data")
        .long("data")
        .value_name("DIR")
        .value_parser(value_parser!(PathBuf))
        .help("Where relative paths of embedded storage units start [default: the current folder]")
}

fn modules() -> Arg {
    Arg::new("modules")
        .long("modules")
        .value_name("DIR")
        .value_parser(value_parser!(PathBuf))
        .help("Folder with the WebAssembly modules that algorithms of type CLASS_BASED name [default: there are none]")
}

fn config() -> Arg {
    Arg::new("config")
        .long("config")
        .value_name("DIR")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("Folder with `global.yaml` and `database-*.yaml` (or `server.yaml` and `config-*.yaml`)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str) -> Result<Asked, clap::Error> {
        command().try_get_matches_from(line.split(' ')).map(|matches| asked(&matches))
    }

    #[test]
    fn the_command_line_contradicts_itself_nowhere() {
        command().debug_assert();
    }

    #[test]
    fn serve_takes_its_doors_and_files() {
        let Asked::Serve(serve) =
            check("pando serve --config c --mysql off --tls-certificate a --tls-key b").unwrap()
        else {
            panic!("another command");
        };
        assert_eq!(serve.config, Some(PathBuf::from("c")));
        assert_eq!((serve.mysql.as_deref(), serve.postgres), (Some("off"), None));
        assert_eq!(serve.tls, Some(("a".into(), "b".into())));
    }

    #[test]
    fn serve_begins_with_nothing_where_nothing_is_said() {
        let Asked::Serve(serve) = check("pando serve").unwrap() else { panic!("another command") };
        assert_eq!((serve.config, serve.data), (None, None));
    }

    #[test]
    fn half_a_key_pair_and_a_missing_configuration_are_mistakes() {
        assert!(check("pando serve --config c --tls-key b").is_err());
        assert!(check("pando check").is_err());
        assert!(check("pando demo --kept").is_err());
    }
}
