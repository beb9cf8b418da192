//! Probes of real servers: PG1_PORT, MARIADB1_PORT and MYSQL1_PORT say where they listen.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests only")]

mod support;

use pando_kernel::Position;
use pando_kernel::health::{Copying, Role};

use support::{Login, Mode, Relay, TEST, Watched, execute, mysql, port, postgres, run};

#[test]
fn a_postgres_server_tells_its_role_cluster_and_place() {
    run(async {
        let Some(port) = port("PG1_PORT") else { return };
        let mut watched = Watched::new(postgres(port, &TEST));
        let told = watched.answer().await;
        assert_eq!((told.role, &told.copying, &told.untold), (Role::Primary, &Copying::No, &None));
        assert!(matches!(told.position, Some(Position::Log { timeline: 1.., at: 1.. })));
        assert!(told.cluster.is_some() && told.node.is_some());
        let again = watched.answer().await;
        assert_eq!((again.cluster, again.node), (told.cluster, told.node));
    });
}

#[test]
fn mysql_servers_tell_their_role_and_node() {
    run(async {
        for name in ["MARIADB1_PORT", "MYSQL1_PORT"] {
            let Some(port) = port(name) else { continue };
            let told = Watched::new(mysql(port, &TEST)).answer().await;
            assert_eq!((told.role, told.untold), (Role::Primary, None), "{name}");
            assert!(told.node.is_some() && told.source.is_none());
        }
    });
}

#[test]
fn a_wrong_password_is_named() {
    run(async {
        let wrong = Login { password: "wrong", ..TEST };
        if let Some(port) = port("PG1_PORT") {
            let why = Watched::new(postgres(port, &wrong)).silence().await;
            assert!(why.contains("password authentication failed"), "{why}");
        }
        if let Some(port) = port("MARIADB1_PORT") {
            let why = Watched::new(mysql(port, &wrong)).silence().await;
            assert!(why.contains("Access denied"), "{why}");
        }
    });
}

#[test]
fn a_server_that_goes_is_silent_until_it_is_back() {
    run(async {
        let ways: [(_, fn(u16) -> _); 2] = [
            ("PG1_PORT", |port| postgres(port, &TEST)),
            ("MARIADB1_PORT", |port| mysql(port, &TEST)),
        ];
        for (name, connector) in ways {
            let Some(port) = port(name) else { continue };
            let relay = Relay::to(port).await;
            let mut watched = Watched::new(connector(relay.port));
            watched.answer().await;
            watched.answer().await;
            assert_eq!(relay.clients(), 1, "{name}: the connection is kept");
            relay.set(Mode::Cut);
            watched.silence().await;
            relay.set(Mode::Pass);
            watched.answer().await;
            relay.set(Mode::Swallow);
            let why = watched.silence().await;
            assert_eq!(why, "no answer within 1.5s", "{name}");
            relay.set(Mode::Cut);
            relay.set(Mode::Pass);
            watched.answer().await;
        }
    });
}

#[test]
fn a_postgres_user_without_rights_still_learns_the_role() {
    run(async {
        let Some(port) = port("PG1_PORT") else { return };
        // Rights to functions are a database's own, roles are the server's.
        let name = format!("pando_health_{}", std::process::id());
        let role = format!("CREATE ROLE {name} LOGIN PASSWORD 'x'");
        let owner = postgres(port, &TEST);
        execute(&owner, &[&role, &format!("CREATE DATABASE {name}")]).await;
        let own = Login { database: &name, ..TEST };
        let revoke = "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC";
        execute(&postgres(port, &own), &[revoke]).await;
        let told = {
            let user = Login { user: &name, password: "x", database: &name };
            Watched::new(postgres(port, &user)).answer().await
        };
        let drop_database = format!("DROP DATABASE {name} WITH (FORCE)");
        execute(&owner, &[&drop_database, &format!("DROP ROLE {name}")]).await;
        assert_eq!((told.role, told.cluster), (Role::Primary, None));
        assert!(told.untold.unwrap().contains("permission denied"));
    });
}

#[test]
fn a_mysql_user_without_rights_leaves_the_role_open() {
    run(async {
        for (name, words) in [("MARIADB1_PORT", "privilege"), ("MYSQL1_PORT", "privilege")] {
            let Some(port) = port(name) else { continue };
            let user = format!("health_{}", std::process::id());
            let owner = mysql(port, &TEST);
            let create = format!("CREATE USER {user}@'%' IDENTIFIED BY 'x'");
            let grant = format!("GRANT SELECT ON test.* TO {user}@'%'");
            execute(&owner, &[&create, &grant]).await;
            let told = {
                let login = Login { user: &user, password: "x", database: "test" };
                Watched::new(mysql(port, &login)).answer().await
            };
            execute(&owner, &[&format!("DROP USER {user}@'%'")]).await;
            assert_eq!(told.role, Role::Unknown, "{name}");
            let untold = told.untold.unwrap();
            assert!(untold.contains(words), "{name}: {untold}");
        }
    });
}
