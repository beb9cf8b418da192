//! Runs `build.case`: a database's configuration, and what is built of it or why it cannot be.

#![allow(clippy::expect_used, reason = "test support functions")]

use std::path::Path;

use pando_config::{Errors, File, parse_one};
use pando_kernel::States;
use pando_kernel::route::UnitName;
use pando_kernel::states::{GroupState, Primary};
use pando_rooms::{Built, build_with_states};

fn outcome(yaml: &str) -> String {
    let file = File { name: "db.yaml", text: yaml };
    let built = parse_one(file, &|_| None).and_then(|configuration| {
        let database = configuration.databases.first().expect("one database");
        build_with_states(database, Path::new("data"), &states(yaml))
    });
    match built {
        Ok(built) => summary(&built),
        Err(errors) => problems(&errors),
    }
}

/// `# state: disabled ds_1`, `# state: rw led by r0` or `by nobody, but r1`: what is known beside the configuration.
fn states(yaml: &str) -> States {
    let mut states = States::default();
    for line in yaml.lines().filter_map(|line| line.strip_prefix("# state: ")) {
        let words: Vec<UnitName> = line.split([' ', ',']).map(UnitName::from).collect();
        match &words.iter().map(|word| &**word).collect::<Vec<_>>()[..] {
            ["disabled", unit] => {
                states.disabled.insert((*unit).into());
            }
            [group, "led", "by", unit, rest @ ..] => {
                let primary = match *unit {
                    "nobody" => Primary::Nobody { why: "no primary".into() },
                    unit => Primary::Unit(unit.into()),
                };
                let readable = rest.iter().rev().take(1).map(|unit| (*unit).into()).collect();
                let state = GroupState { primary, readable, former: Default::default() };
                states.groups.insert((*group).into(), state);
            }
            _ => {}
        }
    }
    states
}

fn summary(built: &Built) -> String {
    let features: Vec<&str> = built.database.features.iter().map(|room| room.name()).collect();
    let pools: Vec<String> =
        built.units.iter().map(|unit| format!("{}/{}", unit.name, unit.pool.max)).collect();
    let mut lines = vec![
        format!("family {}", built.database.dialect.family()),
        format!("units {}", built.database.units.join(" ")),
        format!("pools {}", pools.join(" ")),
        format!("rooms {}", features.join(" ")),
    ];
    for table in built.database.features.iter().flat_map(|feature| feature.tables()) {
        let nodes: Vec<String> =
            table.nodes.iter().map(|node| format!("{}.{}", node.unit, node.table)).collect();
        lines.push(format!("{:?} {}: {}", table.kind, table.name, nodes.join(" ")));
    }
    lines.extend(built.warnings.iter().map(|warning| format!("warning {warning}")));
    lines.join("\n")
}

fn problems(errors: &Errors) -> String {
    let lines: Vec<String> =
        errors.problems().iter().map(|problem| format!("error {problem}")).collect();
    lines.join("\n")
}

#[test]
fn a_configuration_becomes_rooms_and_units_or_its_problems() {
    let mut wrong = Vec::new();
    for case in include_str!("build.case").split("=====\n").filter(|case| !case.trim().is_empty()) {
        let (yaml, expected) = case.split_once("-----\n").expect("a case has two halves");
        let actual = outcome(yaml);
        if actual.trim() != expected.trim() {
            wrong.push(format!("{yaml}-----\n{actual}\n"));
        }
    }
    assert!(wrong.is_empty(), "these differ:\n{}", wrong.join("=====\n"));
}
