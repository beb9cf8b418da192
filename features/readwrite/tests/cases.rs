//! Plays `route.case`: a statement, the state it meets, and where it goes.

#![allow(clippy::unwrap_used, reason = "test support functions")]

use std::sync::Arc;

use pando_config::rules::{Group, ReadwriteSplitting, TransactionalRead};
use pando_config::{Algorithm, At, Placed, Problem, Rules};
use pando_fake::room::{self, Known, Scene};
use pando_kernel::route::UnitName;
use pando_kernel::states::{GroupState, Primary};
use pando_kernel::{Around, Feature, States};
use pando_readwrite::ROOM;

fn name(text: &str) -> Placed<String> {
    Placed::nowhere(text.to_owned())
}

fn group(transactional_read: TransactionalRead, load_balancer: Option<&str>) -> Group {
    Group {
        at: At::default(),
        write: name("w0"),
        read: vec![name("r0"), name("r1")],
        transactional_read,
        load_balancer: load_balancer.map(name),
    }
}

fn section(groups: Vec<(&str, Group)>) -> ReadwriteSplitting {
    let weights = Algorithm::nowhere("WEIGHT", [("r0", "0"), ("r1", "1")]);
    let text = "in_transaction ? primary : 'r1' in units ? 'r1' : units[ticket % units.size()]";
    let expression = Algorithm::nowhere("EXPRESSION", [("expression", text)]);
    ReadwriteSplitting {
        at: At::default(),
        groups: groups.into_iter().map(|(own, group)| (name(own), group)).collect(),
        load_balancers: [(name("weights"), weights), (name("expression"), expression)]
            .into_iter()
            .collect(),
    }
}

fn units() -> Vec<UnitName> {
    ["w0", "r0", "r1", "ds_1"].map(UnitName::from).to_vec()
}

fn built(section: ReadwriteSplitting, states: &States) -> Result<Arc<dyn Feature>, Vec<Problem>> {
    let rules = Rules { readwrite: Some(section), ..Rules::default() };
    let around = Around {
        units: &units(),
        places: &[],
        others: &[],
        states,
        fold: pando_sql::Fold::Keep,
        modules: &pando_kernel::NoModules,
    };
    (ROOM.build)(&rules, &around).map(Option::unwrap)
}

fn room(state: &[&str]) -> Arc<dyn Feature> {
    let transactional = if state.contains(&"FIXED") {
        TransactionalRead::Fixed
    } else if state.contains(&"DYNAMIC") {
        TransactionalRead::Dynamic
    } else {
        TransactionalRead::Primary
    };
    let balancer = ["weights", "expression"].into_iter().find(|own| state.contains(own));
    built(section(vec![("rw", group(transactional, balancer))]), &states(state)).unwrap()
}

/// `primary X`, `primary nobody WHY`, `readable X Y`, `former X`: what is known of the group; `disabled X`, `unread X`: what persons switched off.
fn states(state: &[&str]) -> States {
    let words = |line: &str| -> Vec<UnitName> { line.split(' ').map(UnitName::from).collect() };
    let mut states = States::default();
    let mut known = None;
    let mut group = GroupState {
        primary: Primary::Unit("w0".into()),
        readable: ["w0", "r0", "r1"].map(UnitName::from).into(),
        former: Default::default(),
    };
    for (name, rest) in state.iter().filter_map(|line| line.split_once(' ')) {
        match (name, rest.strip_prefix("nobody ")) {
            ("primary", Some(why)) => group.primary = Primary::Nobody { why: why.to_owned() },
            ("primary", None) => group.primary = Primary::Unit(rest.into()),
            ("readable", _) => group.readable = words(rest).into_iter().collect(),
            ("former", _) => group.former = words(rest).into_iter().collect(),
            ("disabled", _) => states.disabled.extend(words(rest)),
            ("unread", _) => {
                states.unread.extend(words(rest).into_iter().map(|unit| ("rw".into(), unit)));
            }
            _ => continue,
        }
        if !["disabled", "unread"].contains(&name) {
            known = Some(group.clone());
        }
    }
    states.groups.extend(known.map(|group| ("rw".into(), group)));
    states
}

#[test]
fn reads_go_to_replicas_and_the_rest_to_the_primary() {
    let scene = |state: &[&str]| Scene { room: room(state), known: Known::default() };
    let wrong = room::play(include_str!("route.case"), scene).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn refused(section: ReadwriteSplitting, expected: &str) {
    let problems = built(section, &States::default()).unwrap_err();
    assert!(problems[0].message.contains(expected), "{}", problems[0]);
}

#[test]
fn a_group_over_units_that_are_not_there_is_refused() {
    let mut wrong = group(TransactionalRead::Primary, None);
    wrong.read.push(name("r9"));
    refused(section(vec![("rw", wrong)]), "storage unit `r9` is not defined");
    let mut inline = group(TransactionalRead::Primary, None);
    inline.write = name("w${0..1}");
    refused(section(vec![("rw", inline)]), "inline expression");
}

#[test]
fn a_unit_named_twice_is_refused() {
    let mut twice = group(TransactionalRead::Primary, None);
    twice.read.push(name("r0"));
    refused(section(vec![("rw", twice)]), "`r0` is named twice");
    let both = || group(TransactionalRead::Primary, None);
    refused(section(vec![("a", both()), ("b", both())]), "takes the writes of another group");
}

#[test]
fn weights_that_do_not_fit_the_group_are_refused() {
    let mut wrong = group(TransactionalRead::Primary, Some("weights"));
    wrong.read = vec![name("r0")];
    refused(section(vec![("rw", wrong)]), "weight for `r1`");
}

#[test]
fn the_first_member_is_who_leads_or_else_who_can_be_read() {
    for (state, expected) in [
        (&[][..], "w0 r0 r1"),
        (&["primary r1"], "r1 w0 r0"),
        (&["primary nobody so"], "r0 w0 r1"),
        (&["primary nobody so", "readable r1"], "r1 w0 r0"),
        (&["disabled w0 r0"], "r1 w0 r0"),
        (&["primary ds_1"], "w0 r0 r1"),
    ] {
        let members: Vec<String> =
            room(state).groups().places[0].members.iter().map(ToString::to_string).collect();
        assert_eq!(members.join(" "), expected, "{state:?}");
    }
}

#[test]
fn who_does_not_lead_follows() {
    for (state, expected) in [
        (&[][..], "r0 r1"),
        (&["primary r1"], "w0 r0"),
        (&["primary nobody so"], "w0 r0 r1"),
        // A person has switched it off; it leads all the same.
        (&["disabled w0 r0"], "r0 r1"),
    ] {
        let units: Vec<String> =
            room(state).groups().followers.iter().map(ToString::to_string).collect();
        assert_eq!(units.join(" "), expected, "{state:?}");
    }
}
