//! `!READWRITE_SPLITTING`: a name for one primary and its replicas.

use crate::algorithm::{Algorithm, Named};
use crate::node::Node;
use crate::place::{At, Placed, Report};
use crate::read::{self, Fields};

/// The section as written, whichever of its four historic forms it had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadwriteSplitting {
    /// Where it stands.
    pub at: At,
    /// Groups by name, in file order; an entry whose names are inline expressions is one group for each of them.
    pub groups: Named<Group>,
    /// Load balancers by name.
    pub load_balancers: Named<Algorithm>,
}

/// One primary and its replicas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Where it stands.
    pub at: At,
    /// The storage unit that takes writes.
    pub write: Placed<String>,
    /// The storage units that take reads; never empty.
    pub read: Vec<Placed<String>>,
    /// Who answers a read inside a transaction.
    pub transactional_read: TransactionalRead,
    /// The load balancer; absent means round robin.
    pub load_balancer: Option<Placed<String>>,
}

/// Who answers a read inside a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransactionalRead {
    /// The primary. The default, as in 5.5.3 and later.
    #[default]
    Primary,
    /// One replica, chosen at the first read of the transaction.
    Fixed,
    /// Any replica, chosen anew for each read.
    Dynamic,
}

impl ReadwriteSplitting {
    pub(crate) fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let mut fields = Fields::of_tagged(node, report)?;
        let name = match (fields.optional("dataSourceGroups"), fields.optional("dataSources")) {
            (Some(_), Some(old)) => {
                let message =
                    "`dataSources` and `dataSourceGroups` mean the same; give one of them";
                fields.report().error(old.at.problem(message));
                "dataSourceGroups"
            }
            (None, Some(_)) => "dataSources",
            (Some(_), None) | (None, None) => "dataSourceGroups",
        };
        let written = fields.map(name, |entry, report| {
            let group = Group::read(&entry.value, report)?;
            group.expanded(&read::key(entry), report)
        });
        let groups = distinct(written.into_iter().flatten().collect(), fields.report());
        let load_balancers = Named::read(&mut fields, "loadBalancers");
        for (_, group) in groups.iter() {
            if let Some(name) = &group.load_balancer {
                load_balancers.check(name, "load balancer", fields.report());
            }
        }
        fields.finish();
        Some(Self { at: node.at.clone(), groups, load_balancers })
    }
}

/// The groups but for those whose name another one has, as two expressions may give the same.
fn distinct(written: Vec<(Placed<String>, Group)>, report: &mut Report) -> Named<Group> {
    let mut groups: Named<Group> = Named::default();
    for (name, group) in written {
        match groups.get(&name) {
            None => groups.push(name, group),
            Some(_) => {
                let message = format!("two groups are called `{}`", name.value);
                report.error(name.at.problem(message));
            }
        }
    }
    groups
}

impl Group {
    /// The groups that one entry stands for: `rw_${0..1}` with `w_${0..1}` and `r_${0..1}` are two, the first of the
    /// first names.
    fn expanded(
        &self,
        name: &Placed<String>,
        report: &mut Report,
    ) -> Option<Vec<(Placed<String>, Self)>> {
        let names = names_of(name, report)?;
        let of = |member: &Placed<String>, report: &mut Report| {
            let members = names_of(member, report)?;
            if members.len() != names.len() {
                let (found, expected) = (members.len(), names.len());
                let message = format!(
                    "expressions of a group give as many names as its own: `{}` gives {found}, `{}` {expected}",
                    member.value, name.value
                );
                report.error(member.at.problem(message));
                return None;
            }
            Some(members)
        };
        let writes = of(&self.write, report)?;
        let reads: Vec<Vec<Placed<String>>> =
            self.read.iter().map(|read| of(read, report)).collect::<Option<_>>()?;
        let groups = names.into_iter().zip(writes).enumerate().map(|(at, (name, write))| {
            let read = reads.iter().filter_map(|names| names.get(at).cloned()).collect();
            (name, Self { write, read, ..self.clone() })
        });
        Some(groups.collect())
    }

    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let strategies = [
            ("PRIMARY", TransactionalRead::Primary),
            ("FIXED", TransactionalRead::Fixed),
            ("DYNAMIC", TransactionalRead::Dynamic),
        ];
        let mut fields = Fields::of(node, report)?;
        let load_balancer = fields.optional_name("loadBalancerName");
        let transactional_read = fields.optional("transactionalReadQueryStrategy");
        let transactional_read = transactional_read
            .and_then(|node| node.choice(&strategies, fields.report()))
            .unwrap_or_default();
        let (write, read) = Self::members(&mut fields);
        fields.finish();
        let group = Self {
            at: node.at.clone(),
            write: write?,
            read: read?,
            transactional_read,
            load_balancer,
        };
        if group.read.is_empty() {
            report.error(node.at.problem("expected at least one name in `readDataSourceNames`"));
            return None;
        }
        Some(group)
    }

    fn members(fields: &mut Fields<'_, '_>) -> Members {
        if let Some(node) = fields.optional("dynamicStrategy") {
            refuse_dynamic(node, fields.report());
            return (None, None);
        }
        // 5.1.1 to 5.3 have the names one level down.
        if let Some(node) = fields.optional("staticStrategy") {
            let Some(mut inner) = Fields::of(node, fields.report()) else { return (None, None) };
            let members = Self::names(&mut inner, "writeDataSourceName", "readDataSourceNames");
            inner.finish();
            return members;
        }
        // 5.0 and 5.1.0 have them as properties of a type.
        if let Some(kind) = fields.optional("type") {
            let Some(kind_name) = kind.string(fields.report()) else { return (None, None) };
            if !kind_name.eq_ignore_ascii_case("static") {
                refuse_dynamic(kind, fields.report());
                fields.entry("props");
                return (None, None);
            }
            let Some(node) = fields.field("props") else { return (None, None) };
            let Some(mut inner) = Fields::of(node, fields.report()) else { return (None, None) };
            let members =
                Self::names(&mut inner, "write-data-source-name", "read-data-source-names");
            inner.finish();
            return members;
        }
        Self::names(fields, "writeDataSourceName", "readDataSourceNames")
    }

    fn names(fields: &mut Fields<'_, '_>, write: &'static str, read: &'static str) -> Members {
        let write = fields.name(write);
        let read = fields.field(read).and_then(|node| node.names(fields.report()));
        (write, read)
    }
}

/// The names that an inline expression gives.
fn names_of(expression: &Placed<String>, report: &mut Report) -> Option<Vec<Placed<String>>> {
    match pando_inline::expand(expression) {
        Ok(names) => {
            let at = &expression.at;
            Some(names.into_iter().map(|value| Placed { value, at: at.clone() }).collect())
        }
        Err(error) => {
            report.error(expression.at.problem(error.to_string()));
            None
        }
    }
}

type Members = (Option<Placed<String>>, Option<Vec<Placed<String>>>);

fn refuse_dynamic(node: &Node, report: &mut Report) {
    let message = "groups found by database discovery were removed in ShardingSphere 5.4; \
                   name the storage units in `writeDataSourceName` and `readDataSourceNames`";
    report.error(node.at.problem(message));
}
