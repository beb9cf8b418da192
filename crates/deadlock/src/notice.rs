//! What instances tell each other of their waiting sessions, as text: for each full pool a line and one for each of its connections; then for each session a line,
//! one for each of its connections, one for each transaction whose rows it waits for, and one for the pool that it waits for.

use std::cmp::Reverse;
use std::fmt::Write;
use std::sync::Arc;

use crate::party::{Cost, Party, PartyId, Queue, Spot, Stance};

/// Sessions that are told of, and connections of each; the rest is found when these are gone.
const MOST_PARTIES: usize = 200;
const MOST_SPOTS: usize = 64;
/// Full pools that are told of, and connections of each. Who waits for another is not told to wait for it.
const MOST_POOLS: usize = 64;
const MOST_HOLDERS: usize = 1024;
/// Bytes of a text that is read; half of it is as much as is written.
const MOST_BYTES: usize = 512 << 10;

/// The text; `None` when there is nothing to tell.
pub(crate) fn write<'a>(parties: impl Iterator<Item = &'a Party>) -> Option<String> {
    let parties: Vec<&Party> = parties.take(MOST_PARTIES).collect();
    if parties.is_empty() {
        return None;
    }
    let (mut text, pools) = (String::new(), pools(&parties));
    for holders in &pools {
        text.push_str("pool\n");
        for Spot { server, id } in *holders {
            let _ = writeln!(text, "of {id} {server}");
        }
    }
    for party in parties {
        if text.len() > MOST_BYTES / 2 {
            break;
        }
        let stance = match party.stance {
            Stance::Waits => "waits",
            Stance::Stays => "stays",
            Stance::Leaves => "leaves",
        };
        let PartyId { session, wait, .. } = party.id;
        let Cost { rows, begun: Reverse(begun) } = party.cost;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "session {session} {wait} {rows} {begun} {stance}");
        for Spot { server, id } in party.spots.iter().take(MOST_SPOTS) {
            let _ = writeln!(text, "at {id} {server}");
        }
        for wanted in party.wanted.iter().take(MOST_SPOTS) {
            let _ = writeln!(text, "for {wanted}");
        }
        if let Some(queue) = &party.queue
            && let Some(pool) = pools.iter().position(|pool| **pool == queue.holders)
        {
            let _ = write!(text, "in {pool} {}", queue.wanted);
            let behind = queue.behind.map(|session| format!(" {session}"));
            let _ = writeln!(text, "{}", behind.unwrap_or_default());
        }
    }
    Some(text)
}

/// The full pools that these wait for; as long as they may be told. They take half of a text at most.
fn pools<'a>(parties: &[&'a Party]) -> Vec<&'a Vec<Spot>> {
    let (mut pools, mut bytes): (Vec<&Vec<Spot>>, usize) = (Vec::new(), 0);
    for queue in parties.iter().filter_map(|party| party.queue.as_ref()) {
        if queue.holders.len() > MOST_HOLDERS || pools.contains(&&queue.holders) {
            continue;
        }
        // A number has twenty digits at most.
        bytes += queue.holders.iter().map(|spot| spot.server.len() + 25).sum::<usize>();
        if pools.len() == MOST_POOLS || bytes > MOST_BYTES / 4 {
            break;
        }
        pools.push(&queue.holders);
    }
    pools
}

/// The sessions of an instance; those that cannot be read are left out.
pub(crate) fn read(instance: &Arc<str>, text: &str) -> Vec<Party> {
    let mut parties: Vec<Party> = Vec::new();
    let mut pools: Vec<Vec<Spot>> = Vec::new();
    if text.len() > MOST_BYTES {
        return parties;
    }
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("session ") {
            if parties.len() == MOST_PARTIES {
                break;
            }
            parties.extend(party(instance, rest));
        } else if let Some(wanted) = line.strip_prefix("for ") {
            if let (Ok(wanted), Some(party)) = (wanted.parse(), parties.last_mut())
                && party.wanted.len() < MOST_SPOTS
            {
                party.wanted.push(wanted);
            }
        } else if let Some(spot) = line.strip_prefix("at ").and_then(spot) {
            let party = parties.last_mut().filter(|party| party.spots.len() < MOST_SPOTS);
            party.into_iter().for_each(|party| party.spots.push(spot.clone()));
        } else if let Some(words) = line.strip_prefix("in ") {
            let party = parties.last_mut();
            party.into_iter().for_each(|party| party.queue = queue(&pools, words));
        } else if let Some(spot) = line.strip_prefix("of ").and_then(spot) {
            let pool = pools.last_mut().filter(|pool| pool.len() < MOST_HOLDERS);
            pool.into_iter().for_each(|pool| pool.push(spot.clone()));
        } else if line == "pool" && pools.len() < MOST_POOLS {
            pools.push(Vec::new());
        }
    }
    parties
}

fn spot(words: &str) -> Option<Spot> {
    let (id, server) = words.split_once(' ')?;
    Some(Spot { server: server.into(), id: id.parse().ok()? })
}

fn queue(pools: &[Vec<Spot>], words: &str) -> Option<Queue<Spot>> {
    let words: Vec<&str> = words.split(' ').collect();
    let (pool, wanted, behind) = match words[..] {
        [pool, wanted] => (pool, wanted, None),
        [pool, wanted, behind] => (pool, wanted, Some(behind.parse().ok()?)),
        _ => return None,
    };
    let holders = pools.get(pool.parse::<usize>().ok()?)?.clone();
    Some(Queue { holders, wanted: wanted.parse().ok()?, behind })
}

fn party(instance: &Arc<str>, words: &str) -> Option<Party> {
    let words: Vec<&str> = words.split(' ').collect();
    let [session, wait, rows, begun, stance] = words[..] else { return None };
    let stance = match stance {
        "waits" => Stance::Waits,
        "stays" => Stance::Stays,
        "leaves" => Stance::Leaves,
        _ => return None,
    };
    let id = PartyId {
        instance: Arc::clone(instance),
        session: session.parse().ok()?,
        wait: wait.parse().ok()?,
    };
    let cost = Cost { rows: rows.parse().ok()?, begun: Reverse(begun.parse().ok()?) };
    Some(Party { id, spots: Vec::new(), cost, stance, wanted: Vec::new(), queue: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let instance: Arc<str> = "b".into();
        let party = |session: u32, stance| Party {
            id: PartyId { instance: instance.clone(), session, wait: 70 },
            spots: vec![
                Spot { server: "host 3306 /var/lib/mysql/".into(), id: 5 },
                Spot { server: "7 1.5 5432".into(), id: u64::MAX },
            ],
            cost: Cost { rows: 3, begun: Reverse(1_700_000_000_000_000) },
            stance,
            wanted: vec![7, u64::MAX],
            queue: None,
        };
        let mut parties =
            [party(1, Stance::Waits), party(2, Stance::Stays), party(3, Stance::Leaves)];
        let pool = |id| vec![Spot { server: "7 1.5 5432".into(), id }; 3];
        let queue = |id, behind| Some(Queue { holders: pool(id), wanted: 2, behind });
        (parties[0].queue, parties[1].queue) = (queue(8, Some(2)), queue(9, None));
        let text = write(parties.iter()).unwrap();
        assert_eq!(read(&instance, &text), parties);
        assert_eq!(write([].iter()), None);
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        let instance: Arc<str> = "b".into();
        for text in [
            "",
            "at 5 host",
            "session",
            "session 1 2 3 4 sits",
            "session 1 2 3 4",
            "pool\nof 1 host\nin 0 1",
            "session -1 2 3 4 waits",
        ] {
            assert_eq!(read(&instance, text), [], "{text}");
        }
        let odd = "session 1 2 3 4 waits\nat five host\nat 5\nwhat\nat 6 host";
        assert_eq!(read(&instance, odd)[0].spots.len(), 1);
        for odd in ["in 1 1", "in 0", "in 0 -1", "in 0 1 2 3", "in 0 1 x", "in x 1"] {
            let text = format!("pool\nof 5 host\nsession 1 2 3 4 waits\n{odd}");
            assert_eq!(read(&instance, &text)[0].queue, None, "{odd}");
        }
        let long = "session 1 2 3 4 waits\n".repeat(100_000);
        assert_eq!(read(&instance, &long), []);
        let many = "session 1 2 3 4 waits\n".repeat(1000);
        assert_eq!(read(&instance, &many).len(), MOST_PARTIES);
    }
}
