//! Load balancers: which of a group's read units answers. One algorithm per file.

mod balancer;
mod class;
mod expression;
mod random;
mod round_robin;
mod weight;

use pando_config::{Algorithm, Placed, Problem};
use pando_kernel::module::CLASS_BASED;
use pando_kernel::{AlgorithmKind, AlgorithmSort, Modules};

pub(crate) use balancer::{Asked, Balancer};

/// The balancer an `algorithm` section asks for, for a group that reads from `reads`.
///
/// # Errors
/// What is wrong, when there is no such balancer or its properties do not fit the group.
pub(crate) fn balancer(
    algorithm: &Algorithm,
    reads: &[&str],
    modules: &dyn Modules,
) -> Result<Box<dyn Balancer>, Problem> {
    let kind = &algorithm.kind;
    match kind.to_uppercase().as_str() {
        "ROUND_ROBIN" => plain(algorithm, Box::new(round_robin::RoundRobin)),
        "RANDOM" => plain(algorithm, Box::new(random::Random)),
        "EXPRESSION" => Ok(Box::new(expression::Expression::new(algorithm)?)),
        CLASS_BASED => Ok(Box::new(class::Module::new(algorithm, modules)?)),
        "WEIGHT" => Ok(Box::new(weight::Weight::new(algorithm, reads)?)),
        _ => Err(kind.at.problem(format!(
            "load balancer type `{}` does not exist; use `ROUND_ROBIN`, `RANDOM`, `WEIGHT`, `EXPRESSION` or `CLASS_BASED`",
            kind.value
        ))),
    }
}

/// The balancers there are.
pub(crate) fn algorithms() -> Vec<AlgorithmKind> {
    let all = [
        ("ROUND_ROBIN", "each replica in turn"),
        ("RANDOM", "any replica"),
        ("WEIGHT", "any replica, by its weight"),
        ("EXPRESSION", "the replica that an inline expression names"),
        (CLASS_BASED, "the replica that a function of a WebAssembly module names"),
    ];
    let sort = AlgorithmSort::LoadBalancer;
    all.map(|(name, description)| AlgorithmKind { sort, name, description }).to_vec()
}

/// The balancer of a group that names none.
pub(crate) fn default() -> Box<dyn Balancer> {
    Box::new(round_robin::RoundRobin)
}

fn plain(algorithm: &Algorithm, made: Box<dyn Balancer>) -> Result<Box<dyn Balancer>, Problem> {
    match algorithm.props.iter().next() {
        None => Ok(made),
        Some((key, _)) => Err(unknown(key, &algorithm.kind)),
    }
}

fn unknown(key: &Placed<String>, kind: &str) -> Problem {
    key.at.problem(format!("`{kind}` has no property `{}`", key.value))
}

#[cfg(test)]
mod tests {
    use pando_kernel::NoModules;
    use pando_kernel::feature::Source;
    use pando_kernel::route::UnitName;

    use super::*;

    /// Gives the same eight bytes again and again.
    #[derive(Debug)]
    struct Fixed(u64);

    impl Source for Fixed {
        fn now_millis(&self) -> i64 {
            0
        }

        fn random(&self, buffer: &mut [u8]) {
            for (to, from) in buffer.iter_mut().zip(self.0.to_le_bytes().iter().cycle()) {
                *to = *from;
            }
        }
    }

    const READS: [&str; 3] = ["r0", "r1", "r2"];

    /// Of the group `rw`, asked by `report` outside of transactions.
    fn chosen(
        balancer: &dyn Balancer,
        among: &[usize],
        ticket: u64,
        source: &dyn Source,
    ) -> Result<Option<usize>, String> {
        let reads = READS.map(UnitName::from);
        let (group, primary, user) = ("rw", "w", "report");
        let in_transaction = false;
        let asked =
            Asked { group, reads: &reads, among, primary, user, in_transaction, ticket, source };
        balancer.choose(&asked).map_err(|error| error.to_string())
    }

    fn check(kind: &str, list: &[(&str, &str)], draws: &[(u64, u64)], expected: &[usize]) {
        let balancer =
            balancer(&Algorithm::nowhere(kind, list.iter().copied()), &READS, &NoModules).unwrap();
        let chosen: Vec<usize> = draws
            .iter()
            .filter_map(|(ticket, random)| {
                chosen(&*balancer, &[0, 1, 2], *ticket, &Fixed(*random)).unwrap()
            })
            .collect();
        assert_eq!(chosen, expected, "{kind}");
    }

    fn refused(kind: &str, list: &[(&str, &str)], expected: &str) {
        let error = balancer(&Algorithm::nowhere(kind, list.iter().copied()), &READS, &NoModules)
            .unwrap_err();
        assert!(error.message.contains(expected), "{error}");
    }

    #[test]
    fn round_robin_follows_the_ticket() {
        check("ROUND_ROBIN", &[], &[(0, 9), (1, 9), (2, 9), (3, 9)], &[0, 1, 2, 0]);
        check("round_robin", &[], &[(u64::MAX, 0)], &[0]);
    }

    #[test]
    fn random_spreads_the_whole_range_evenly() {
        let third = u64::MAX / 3;
        check(
            "RANDOM",
            &[],
            &[(0, 0), (0, third + 9), (0, 2 * third + 9), (0, u64::MAX)],
            &[0, 1, 2, 2],
        );
    }

    #[test]
    fn weights_share_in_proportion_and_zero_gets_nothing() {
        let half = u64::MAX / 2;
        let list = [("r0", "3"), ("r1", "0"), ("r2", "1.0")];
        check("WEIGHT", &list, &[(0, 0), (0, half), (0, half + half / 2 + 99_999)], &[0, 0, 2]);
        check("WEIGHT", &list, &[(0, u64::MAX)], &[2]);
    }

    #[test]
    fn what_is_left_of_the_units_shares_the_reads() {
        let weights: &[(&str, &str)] = &[("r0", "1"), ("r1", "0"), ("r2", "1")];
        for (kind, list) in [("ROUND_ROBIN", &[][..]), ("RANDOM", &[]), ("WEIGHT", weights)] {
            let made =
                balancer(&Algorithm::nowhere(kind, list.iter().copied()), &READS, &NoModules)
                    .unwrap();
            let chosen = |among: &[usize]| chosen(&*made, among, 1, &Fixed(u64::MAX)).unwrap();
            assert_eq!(chosen(&[0, 2]), Some(2), "{kind}");
            assert_eq!(chosen(&[0]), Some(0), "{kind}");
            assert_eq!(chosen(&[]), None, "{kind}");
            assert_eq!(chosen(&[1]), (kind != "WEIGHT").then_some(1), "{kind}");
        }
    }

    #[test]
    fn an_expression_names_the_unit() {
        let check = |text: &str, among: &[usize], expected: Result<Option<usize>, &str>| {
            let config = Algorithm::nowhere("EXPRESSION", [("expression", text)]);
            let made = balancer(&config, &READS, &NoModules).unwrap();
            match (chosen(&*made, among, 4, &Fixed(0)), expected) {
                (Err(found), Err(part)) => assert!(found.contains(part), "{text}: {found}"),
                (found, expected) => assert_eq!(found, expected.map_err(str::to_owned), "{text}"),
            }
        };
        let all = &[0, 1, 2];
        check("units[ticket % units.size()]", all, Ok(Some(1)));
        check("units[ticket % units.size()]", &[0, 2], Ok(Some(0)));
        check("user == 'report' ? 'r2' : units.first()", all, Ok(Some(2)));
        check("in_transaction ? primary : units.last()", all, Ok(Some(2)));
        check("group == 'rw' ? primary : 'r0'", all, Ok(None));
        check("'r2' in units ? 'r2' : units.first()", &[0, 1], Ok(Some(0)));
        // Nobody takes reads: the primary answers.
        check("units.first()", &[], Ok(None));
        check("'r2'", &[0, 1], Err("`r2` is not available: the load balancer of `rw` chose it"));
        check("'r9'", all, Err("`r9` is not available"));
        check("units[7 + ticket]", all, Err("the load balancer of `rw` cannot choose"));
        refused("EXPRESSION", &[("expression", "ticket")], "expected a text, found a number");
        refused("EXPRESSION", &[], "needs the property `expression`");
        refused("EXPRESSION", &[("expression", "primary"), ("r0", "1")], "no property `r0`");
    }

    #[test]
    fn wrong_balancers_are_refused() {
        refused("LEAST", &[], "`LEAST` does not exist");
        refused("RANDOM", &[("r0", "1")], "has no property `r0`");
        refused("WEIGHT", &[("r0", "1"), ("r1", "1")], "`r2` has no weight");
        refused("WEIGHT", &[("r0", "1"), ("r1", "1"), ("r2", "1"), ("r9", "1")], "`r9`");
        refused("WEIGHT", &[("r0", "1"), ("r1", "1"), ("r2", "-1")], "`-1`");
        refused("WEIGHT", &[("r0", "1"), ("r1", "1"), ("r2", "nan")], "`nan`");
        refused("WEIGHT", &[("r0", "0"), ("r1", "0"), ("r2", "0")], "above 0");
    }
}
