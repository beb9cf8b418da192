//! What instances tell each other of their waiting sessions, as text: a line for each session, a line for each of its connections and a line for each transaction
//! whose rows it waits for.

use std::cmp::Reverse;
use std::fmt::Write;
use std::sync::Arc;

use crate::party::{Cost, Party, PartyId, Spot, Stance};

/// Sessions that are told of, and connections of each; the rest is found when these are gone.
const MOST_PARTIES: usize = 200;
const MOST_SPOTS: usize = 64;
/// Bytes of a text that is read; half of it is as much as is written.
const MOST_BYTES: usize = 512 << 10;

/// The text; `None` when there is nothing to tell.
pub(crate) fn write<'a>(parties: impl Iterator<Item = &'a Party>) -> Option<String> {
    let mut text = String::new();
    for party in parties.take(MOST_PARTIES) {
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
    }
    (!text.is_empty()).then_some(text)
}

/// The sessions of an instance; those that cannot be read are left out.
pub(crate) fn read(instance: &Arc<str>, text: &str) -> Vec<Party> {
    let mut parties: Vec<Party> = Vec::new();
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
        } else if let Some((id, server)) =
            line.strip_prefix("at ").and_then(|rest| rest.split_once(' '))
            && let (Ok(id), Some(party)) = (id.parse(), parties.last_mut())
            && party.spots.len() < MOST_SPOTS
        {
            party.spots.push(Spot { server: server.into(), id });
        }
    }
    parties
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
        let parties = [party(1, Stance::Waits), party(2, Stance::Stays), party(3, Stance::Leaves)];
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
            "session -1 2 3 4 waits",
        ] {
            assert_eq!(read(&instance, text), [], "{text}");
        }
        let odd = "session 1 2 3 4 waits\nat five host\nat 5\nwhat\nat 6 host";
        assert_eq!(read(&instance, odd)[0].spots.len(), 1);
        let long = "session 1 2 3 4 waits\n".repeat(100_000);
        assert_eq!(read(&instance, &long), []);
        let many = "session 1 2 3 4 waits\n".repeat(1000);
        assert_eq!(read(&instance, &many).len(), MOST_PARTIES);
    }
}
