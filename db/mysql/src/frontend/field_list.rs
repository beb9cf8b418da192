//! COM_FIELD_LIST.

use bytes::BufMut;
use pando_kernel::session::Doorway;
use pando_kernel::{Columns, Event, Request};

use super::charset::Charsets;
use super::client::Client;
use super::end::End;
use super::shape::put_definition;
use crate::error::ClientError;

impl<D: Doorway> Client<D> {
    pub(super) async fn field_list(&mut self, table: &[u8], pattern: &[u8]) -> Result<(), End> {
        let Charsets { client, results } = self.wire.charsets;
        let (Some(table), Some(pattern)) = (client.read(table), client.read(pattern)) else {
            return self.fail(&ClientError::new(
                1300,
                b"HY000",
                "Invalid utf8mb4 character string",
            ));
        };
        if pattern.len() > MOST_PATTERN {
            return self.fail(&ClientError::new(
                1210,
                b"HY000",
                "Incorrect arguments to COM_FIELD_LIST",
            ));
        }
        let capabilities = self.facts.capabilities;
        let mut columns: Option<Columns> = None;
        if let Err(error) =
            Box::pin(self.start(Request::Fields { table: table.into_owned() })).await
        {
            return self.fail_with(error).await;
        }
        loop {
            match self.piece().await {
                Ok(Some(Event::Columns(found))) => columns = Some(found),
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => return self.fail_with(error).await,
            }
        }
        for column in columns.iter().flat_map(|columns| columns.list.iter()) {
            if pattern.is_empty() || like(&column.name, &pattern) {
                self.wire.output.packet(|out| {
                    put_definition(&results.described(column), results, capabilities, out);
                    // No default value is known.
                    out.put_u8(0xFB);
                });
            }
        }
        self.end_of_rows(0);
        Ok(())
    }
}

/// Longest pattern in bytes: names of columns are shorter by far.
const MOST_PATTERN: usize = 1024;

/// LIKE without regard to case, as column names compare.
fn like(name: &str, pattern: &str) -> bool {
    let name: Vec<char> = name.to_lowercase().chars().collect();
    let pattern: Vec<char> = pattern.to_lowercase().chars().collect();
    // `best[i]` tells whether the pattern so far matches the first i letters.
    let mut best = vec![false; name.len() + 1];
    if let Some(first) = best.first_mut() {
        *first = true;
    }
    let mut letters = pattern.into_iter();
    while let Some(letter) = letters.next() {
        let mut next = vec![false; best.len()];
        if letter == '%' {
            let mut seen = false;
            for (slot, matched) in next.iter_mut().zip(&best) {
                seen |= matched;
                *slot = seen;
            }
        } else {
            let any = letter == '_';
            let letter = if letter == '\\' { letters.next().unwrap_or(letter) } else { letter };
            let shifted = next.iter_mut().skip(1);
            for ((slot, matched), found) in shifted.zip(&best).zip(&name) {
                *slot = *matched && (any || *found == letter);
            }
        }
        best = next;
    }
    best.last().copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_patterns_as_like_does() {
        for (name, pattern) in
            [("Order_Id", "order\\_id"), ("abc", "a%"), ("abc", "_b_"), ("", "%"), ("abc", "%c")]
        {
            assert!(like(name, pattern), "{name} LIKE {pattern}");
        }
        for (name, pattern) in [("abc", "b%"), ("abc", "__"), ("abc", ""), ("abc", "a\\%")] {
            assert!(!like(name, pattern), "{name} LIKE {pattern}");
        }
    }
}
