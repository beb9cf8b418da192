//! Global transaction ids in both vendors' forms.

use pando_kernel::position::Transactions;

use super::answers::Told;

/// The most runs that are read; a server with more in its set can't be compared.
const MOST_RUNS: usize = 50_000;

/// What the server has carried out: MySQL's executed set, else MariaDB's positions. `None` without any, or when they can't be read.
pub(super) fn of(server: &Told, executed: Option<&str>) -> Option<Transactions> {
    let read = match executed {
        Some(set) => executed_set(set)?,
        None => positions(server.get("gtid_current_pos")?, server.get("gtid_binlog_pos"))?,
    };
    (!read.is_empty()).then_some(read)
}

/// Whether some of it came from elsewhere. MariaDB keeps the place it had come to as a replica.
pub(super) fn was_copy(server: &Told, transactions: &Transactions) -> bool {
    match server.get("server_uuid") {
        Some(own) => {
            let foreign =
                |origin: &str| !origin.to_ascii_lowercase().starts_with(&own.to_ascii_lowercase());
            transactions.origins().any(foreign)
        }
        None => server.get("gtid_slave_pos").is_some_and(|at| !at.trim().is_empty()),
    }
}

/// `uuid[:tag]:1-5:7, uuid:3`, in which a tag holds for the runs behind it.
/// <https://dev.mysql.com/doc/refman/8.4/en/replication-gtids-concepts.html#replication-gtids-concepts-gtid-sets>
fn executed_set(text: &str) -> Option<Transactions> {
    let mut runs = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let mut pieces = part.split(':').map(str::trim);
        let uuid = pieces.next()?.to_ascii_lowercase();
        let mut origin = uuid.clone();
        for piece in pieces {
            if piece.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
                origin = format!("{uuid}:{}", piece.to_ascii_lowercase());
                continue;
            }
            let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
            runs.push((origin.clone(), first.trim().parse().ok()?, last.trim().parse().ok()?));
            if runs.len() > MOST_RUNS {
                return None;
            }
        }
    }
    Some(Transactions::of(runs))
}

/// `domain-server-number` each, the last one of a domain. Within a domain numbers only grow, so it stands for all before it.
/// <https://mariadb.com/kb/en/gtid/>
fn positions(current: &str, written: Option<&str>) -> Option<Transactions> {
    let mut runs = Vec::new();
    for text in [Some(current), written].into_iter().flatten() {
        for one in text.split(',').map(str::trim).filter(|one| !one.is_empty()) {
            let mut numbers = one.split('-');
            let (domain, _server, number) = (numbers.next()?, numbers.next()?, numbers.next()?);
            let domain: u32 = domain.parse().ok()?;
            runs.push((format!("domain {domain}"), 1, number.parse().ok()?));
            if runs.len() > MOST_RUNS {
                return None;
            }
        }
    }
    Some(Transactions::of(runs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_both_vendors_are_read() {
        let set = |text| executed_set(text).unwrap();
        assert_eq!(set("A:1-5:7,\nB:3"), set("b:3:3, a:7:1-3:4-5"));
        assert!(set("a:1-9").holds(&set("a:2-4")) && !set("a:tag:1-9").holds(&set("a:2")));
        assert!(set("").is_empty());
        let at = |text| positions(text, None).unwrap();
        assert!(at("0-1-100,1-2-50").holds(&at("0-2-99")));
        assert!(!at("0-1-100").holds(&at("0-1-100,1-2-1")));
        assert_eq!(positions("0-1-5", Some("0-1-9")).unwrap(), at("0-1-9"));
    }

    #[test]
    fn what_is_no_set_is_no_position() {
        for text in ["a:1-x", "a:1-99999999999999999999", "a:1-2-3", &"a:1,".repeat(MOST_RUNS + 1)]
        {
            assert!(executed_set(text).is_none());
        }
        for text in ["0-1", "x-1-1", "0-1--1", "0-1-1,5"] {
            assert!(positions(text, None).is_none(), "{text}");
        }
    }
}
