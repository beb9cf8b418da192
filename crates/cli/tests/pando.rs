//! The binary itself: what it prints, how it ends, what signals do.

#![allow(clippy::unwrap_used, reason = "test support functions")]

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const SHOP: &str = "
databaseName: shop
dataSources:
  ds_0: {url: 'jdbc:sqlite:ds_0.db'}
  ds_1: {url: 'jdbc:sqlite:ds_1.db'}
rules:
- !SHARDING
  tables:
    t_order:
      actualDataNodes: ds_${0..1}.t_order_${0..1}
      databaseStrategy: {standard: {shardingColumn: user_id, shardingAlgorithmName: by_user}}
      tableStrategy: {standard: {shardingColumn: order_id, shardingAlgorithmName: by_order}}
  shardingAlgorithms:
    by_user: {type: INLINE, props: {algorithm-expression: 'ds_${user_id % 2}'}}
    by_order: {type: INLINE, props: {algorithm-expression: 't_order_${order_id % 2}'}}
- !BROADCAST
  tables: [t_region]
";

fn pando(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pando"));
    // Files of SQLite units are made where it runs.
    command.current_dir(env!("CARGO_TARGET_TMPDIR"));
    command.args(arguments).env_remove("PANDO_LOG");
    command
}

fn run(arguments: &[&str]) -> (Output, String, String) {
    let output = pando(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    (output, out, err)
}

fn folder(shop: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("database-shop.yaml"), shop).unwrap();
    folder
}

fn path(folder: &Path) -> &str {
    folder.to_str().unwrap()
}

#[test]
fn help_shows_examples_and_version_the_version() {
    let (output, out, _) = run(&["--help"]);
    assert!(output.status.success() && out.contains("pando serve --config conf"), "{out}");
    let (_, out, _) = run(&["serve", "--help"]);
    assert!(out.contains("--tls-certificate server.pem"), "{out}");
    let (_, out, _) = run(&["--version"]);
    assert_eq!(out, format!("pando {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn check_says_what_a_configuration_holds() {
    let folder = folder(SHOP);
    let (output, out, err) = run(&["check", "--config", path(folder.path())]);
    assert!(output.status.success(), "{err}");
    let expected = "\
database shop (sqlite)
  storage unit ds_0: sqlite:ds_0.db
  storage unit ds_1: sqlite:ds_1.db
  sharded table t_order: ds_0.t_order_0 … ds_1.t_order_1, 4 actual tables
  broadcast table t_region: ds_0.t_region … ds_1.t_region, 2 actual tables
users root@%
";
    assert_eq!(out, expected);
}

#[test]
fn check_warns_of_what_has_no_effect() {
    let folder = folder(SHOP);
    std::fs::write(folder.path().join("global.yaml"), "props: {cdc-server-port: 33071}\n").unwrap();
    let (output, _, err) = run(&["check", "--config", path(folder.path())]);
    assert!(output.status.success(), "{err}");
    let expected =
        "warning: global.yaml:1:9: props.cdc-server-port: `cdc-server-port` has no effect in Pando";
    assert!(err.contains(expected), "{err}");
    let nowhere = folder.path().join("nowhere");
    let (output, _, err) =
        run(&["check", "--config", path(folder.path()), "--data", path(&nowhere)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err.contains("nowhere` is not a folder"), "{err}");
}

#[test]
fn check_says_every_mistake_with_its_place_and_fails() {
    let folder =
        folder(&SHOP.replace("tables: [t_region]", "tables: [t_order]\n- !SHADE\n  tables: {}"));
    std::fs::write(folder.path().join("global.yaml"), "props: {sql-shown: true}\n").unwrap();
    let (output, out, err) = run(&["check", "--config", path(folder.path())]);
    assert_eq!((output.status.code(), out.as_str()), (Some(1), ""));
    assert!(err.contains("global.yaml:1:9: props.sql-shown:"), "{err}");
    std::fs::remove_file(folder.path().join("global.yaml")).unwrap();
    let (output, _, err) = run(&["check", "--config", path(folder.path())]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err.contains("database-shop.yaml:17:12: rules[1].!BROADCAST.tables[0]:"), "{err}");
    assert!(err.contains("database-shop.yaml:18:3: rules[2].!SHADE:"), "{err}");
}

#[test]
fn serve_refuses_what_check_refuses() {
    let folder = folder("databaseName: shop\nrulez: []\n");
    let (output, out, err) = run(&["serve", "--config", path(folder.path())]);
    assert_eq!((output.status.code(), out.as_str()), (Some(1), ""));
    assert!(err.contains("database-shop.yaml:2"), "{err}");
}

/// A serving process; killed when a test fails half-way.
struct Serving {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
}

impl Serving {
    fn start(folder: &Path, more: &[&str]) -> (Self, String) {
        let fixed = ["serve", "--config", path(folder)];
        let doors = ["--mysql", "127.0.0.1:0", "--postgres", "127.0.0.1:0"];
        let mut child = pando(&[&fixed[..], &doors[..], more].concat())
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut ready = String::new();
        out.read_line(&mut ready).unwrap();
        (Self { child, out }, ready)
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the end; gives the exit code, the rest of standard output, and standard error.
    fn end(mut self) -> (Option<i32>, String, String) {
        let (mut out, mut err) = (String::new(), String::new());
        self.out.read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (self.child.wait().unwrap().code(), out, err)
    }

    /// Reads standard error up to a line with these words.
    fn wait_for(&mut self, words: &str) {
        let mut lines = BufReader::new(self.child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            assert_ne!(lines.read_line(&mut line).unwrap(), 0, "it ended without `{words}`");
        }
        self.child.stderr = Some(lines.into_inner());
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

fn addresses(ready: &str) -> (String, String) {
    let rest = ready.strip_prefix("ready mysql=").unwrap();
    let (mysql, postgres) = rest.split_once(" postgres=").unwrap();
    (mysql.to_owned(), postgres.trim_end().to_owned())
}

#[test]
fn serve_prints_one_line_with_the_bound_addresses_and_sigterm_ends_it() {
    let folder = folder(SHOP);
    let (serving, ready) = Serving::start(folder.path(), &[]);
    let (mysql, postgres) = addresses(&ready);
    TcpStream::connect(mysql).unwrap();
    TcpStream::connect(postgres).unwrap();
    serving.signal("-TERM");
    let (code, out, err) = serving.end();
    assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
}

#[test]
fn a_door_that_is_off_says_so() {
    let folder = folder(SHOP);
    let (serving, ready) = Serving::start(folder.path(), &["--log", "off"]);
    drop(serving);
    assert!(ready.starts_with("ready mysql=127.0.0.1:"), "{ready}");
    let arguments =
        ["serve", "--config", path(folder.path()), "--mysql", "off", "--postgres", "off"];
    let (output, _, err) = run(&arguments);
    assert_eq!(output.status.code(), Some(1));
    assert!(err.contains("both doors are off"), "{err}");
}

#[test]
fn sighup_reads_the_configuration_again_and_keeps_the_old_one_when_it_is_wrong() {
    let folder = folder(SHOP);
    let (mut serving, _) = Serving::start(folder.path(), &[]);
    serving.signal("-HUP");
    serving.wait_for("the configuration was read again");
    std::fs::write(folder.path().join("database-shop.yaml"), "nonsense: 1\n").unwrap();
    serving.signal("-HUP");
    serving.wait_for("the old configuration stays");
    serving.signal("-INT");
    assert_eq!(serving.end().0, Some(0));
}

#[test]
fn the_demonstration_tells_its_story_and_ends() {
    let (output, out, err) = run(&["demo"]);
    assert!(output.status.success(), "{out}\n{err}");
    for words in [
        "ds_0.t_order_1",
        "1         10       1          50",
        "ds_1              SELECT * FROM t_order_1 WHERE user_id = 11 AND order_id = 5",
        "north  4       270",
        "8       374",
        "PGPASSWORD=demo psql -h 127.0.0.1 -p ",
        "mariadb --skip-ssl -h 127.0.0.1 -P ",
    ] {
        assert!(out.contains(words), "without `{words}`:\n{out}");
    }
}

#[test]
fn the_demonstration_keeps_its_files_when_asked() {
    let (_, out, _) = run(&["demo", "--keep"]);
    let (_, kept) = out.trim_end().rsplit_once("The files stay in ").unwrap();
    assert!(Path::new(kept).join("database-shop.yaml").exists() && kept.contains("pando-demo-"));
    std::fs::remove_dir_all(kept).unwrap();
}
