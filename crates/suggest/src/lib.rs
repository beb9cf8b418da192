//! "Did you mean": the known name nearest to a mistyped one.

/// The nearest of `known`, if it is near enough to be a likely slip of the keyboard.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64;
    if name.len() > LONGEST {
        return None;
    }
    let limit = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| (distance(&folded(name), &folded(candidate)), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A sentence's end for an unknown name: the guess or, without one, what is known.
pub fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(guess) = nearest(name, known.clone()) {
        return format!("; did you mean `{guess}`?");
    }
    let names: Vec<&str> = known.into_iter().collect();
    if names.is_empty() {
        return " (none is defined)".to_owned();
    }
    format!(" (known: {})", names.join(", "))
}

fn folded(name: &str) -> Vec<char> {
    name.chars().filter(|c| !matches!(c, '-' | '_' | '.')).flat_map(char::to_lowercase).collect()
}

/// Edits (insert, delete, replace, swap neighbours) between the two.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(x != y);
            let mut least = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_and_far_ones_are_not() {
        let known = ["actualDataNodes", "tableStrategy", "databaseStrategy"];
        assert_eq!(nearest("actualDataNode", known), Some("actualDataNodes"));
        assert_eq!(nearest("table-strategy", known), Some("tableStrategy"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("valeu", ["value"]), Some("value"));
        assert_eq!(hint("x", []), " (none is defined)");
    }
}
