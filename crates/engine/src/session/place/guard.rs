//! The one place where the guard looks: every text a session reads comes by here ([`read`]), and the values of
//! variables that change what names mean.

use pando_kernel::error::Result;
use pando_kernel::guard::{Reach, Scrutiny, Standing};
use pando_kernel::session::Login;
use pando_sql::ast::Statement;

use crate::plan::names_unit;
use crate::snapshot::{LiveDatabase, Snapshot};

use crate::session::place::{Place, visible};

impl Place {
    /// Refuses a statement that reaches what its user may not.
    ///
    /// # Errors
    /// `AccessDenied`.
    pub(in crate::session) fn guard(&self, statement: &Statement) -> Result<()> {
        let Some(dialect) = self.dialect() else { return Ok(()) };
        let Some(guard) = dialect.guard() else { return Ok(()) };
        let own_schemas = || self.own_schemas();
        let standing = Standing { reach: reach(&self.login), own_schemas: &own_schemas };
        guard.judge(&Scrutiny { statement, is_hinted: names_unit(statement), standing })
    }

    /// Refuses the value of a variable by which names would mean what the user may not reach.
    ///
    /// # Errors
    /// `AccessDenied`.
    pub(in crate::session) fn guard_setting(&self, name: &str, value: &str) -> Result<()> {
        let Some(dialect) = self.dialect() else { return Ok(()) };
        let Some(guard) = dialect.guard() else { return Ok(()) };
        let own_schemas = || self.own_schemas();
        let standing = Standing { reach: reach(&self.login), own_schemas: &own_schemas };
        guard.judge_setting(name, value, &standing)
    }

    fn own_schemas(&self) -> Option<Vec<String>> {
        let live = self.live.as_ref()?;
        own_schemas(&self.snapshot, live, &self.login)
    }
}

fn reach(login: &Login) -> Reach {
    match &login.databases {
        _ if login.is_administrator => Reach::Administrator,
        Some(_) => Reach::Own,
        None => Reach::Every,
    }
}

/// The schemas of a database's storage units, where those of a database that the user may not see stand on the same
/// servers' databases.
fn own_schemas(snapshot: &Snapshot, live: &LiveDatabase, login: &Login) -> Option<Vec<String>> {
    let places = |live: &LiveDatabase| -> Vec<_> {
        live.pools().filter_map(|pool| pool.connector().place()).collect()
    };
    let own = places(live);
    let is_other = |other: &LiveDatabase| !visible::permitted(login, &other.database.name);
    let mut others = snapshot.databases.iter().filter(|other| is_other(other));
    let meets = |other: &LiveDatabase| {
        let theirs = places(other);
        theirs.iter().any(|place| own.iter().any(|own| own.database == place.database))
    };
    let shared = others.any(|other| meets(other));
    shared.then(|| own.into_iter().flat_map(|place| place.schemas).collect())
}
