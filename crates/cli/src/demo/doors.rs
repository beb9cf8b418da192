//! A client at each of Pando's doors.

use pando_kernel::Result;
use pando_kernel::runtime::{Address, SharedRuntime};
use pando_server::Addresses;

use super::client::{Answer, Client};
use super::story::{Door, Step};
use super::{Told, setup, table, tell, text};

/// A client at each door.
pub(super) struct Doors {
    postgres: Client,
    mysql: Client,
}

impl Doors {
    pub(super) async fn open(addresses: Addresses, runtime: &SharedRuntime) -> Result<Self> {
        let port = |address: Option<std::net::SocketAddr>| address.map_or(0, |own| own.port());
        let at = |port: u16| Address::Tcp("127.0.0.1".to_owned(), port);
        let postgres = pando_postgres::PostgresConnector::new(pando_postgres::Options::new(
            "pando",
            at(port(addresses.postgres)),
            setup::USER,
            setup::USER,
            setup::DATABASE,
        ));
        let mut settings = pando_mysql::Options::new("pando", at(port(addresses.mysql)));
        settings.user = setup::USER.to_owned();
        settings.password = setup::USER.to_owned();
        settings.database = setup::DATABASE.to_owned();
        let mysql = pando_mysql::MySqlConnector::new(settings);
        Ok(Self {
            postgres: Client::connect(&postgres, runtime).await?,
            mysql: Client::connect(&mysql, runtime).await?,
        })
    }

    pub(super) async fn play(&mut self, steps: &[Step]) -> Told {
        for step in steps {
            let (client, prompt) = match step.door {
                Door::Postgres => (&mut self.postgres, "postgres"),
                Door::MySql => (&mut self.mysql, "mysql"),
            };
            tell(&format!("-- {}\n{prompt}> {};\n", step.says, step.sql))?;
            let answer = client.ask(step.sql).await.map_err(text)?;
            tell(&format!("{}\n", shown(&answer)))?;
        }
        Ok(())
    }
}

fn shown(answer: &Answer) -> String {
    match answer.affected {
        _ if !answer.columns.is_empty() => table::table(answer),
        Some(1) => "    1 row\n".to_owned(),
        Some(count) if count > 0 => format!("    {count} rows\n"),
        Some(_) | None => "    done\n".to_owned(),
    }
}
