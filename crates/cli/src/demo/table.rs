//! Answers as a person reads them.

use super::client::Answer;

/// Columns under their labels, two blanks between them, each line indented by four.
pub(super) fn table(answer: &Answer) -> String {
    let width = |at: usize| {
        let cells = answer.rows.iter().filter_map(|row| row.get(at));
        cells.chain(answer.columns.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..answer.columns.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("    {}\n", padded.join("  ").trim_end())
    };
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    let mut out = line(&answer.columns);
    out.push_str(&line(&rule));
    for row in &answer.rows {
        out.push_str(&line(row));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_their_labels() {
        let row = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
        let answer = Answer {
            columns: row("id", "city"),
            rows: vec![row("1", "Köln"), row("1000", "NULL")],
            affected: None,
        };
        let expected = "    id    city\n    ----  ----\n    1     Köln\n    1000  NULL\n";
        assert_eq!(table(&answer), expected);
    }
}
