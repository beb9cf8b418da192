//! What maintenance statements answer.

use pando_kernel::presentation::Maintained;

/// The first words of maintenance statements, and what they call themselves in their answers.
const MAINTENANCE: [(&str, &str); 4] = [
    ("ANALYZE TABLE", "analyze"),
    ("CHECK TABLE", "check"),
    ("OPTIMIZE TABLE", "optimize"),
    ("REPAIR TABLE", "repair"),
];

/// <https://dev.mysql.com/doc/refman/8.4/en/table-maintenance-statements.html>
pub(super) fn answer(verb: &str) -> Option<Maintained> {
    if verb == "CHECKSUM TABLE" {
        return Some(Maintained::Checksums { labels: ["Table", "Checksum"] });
    }
    let (_, operation) = MAINTENANCE.iter().find(|(known, _)| *known == verb)?;
    let row = |kind: &str, text: &str| [(*operation).to_owned(), kind.to_owned(), text.to_owned()];
    Some(Maintained::Messages {
        labels: ["Table", "Op", "Msg_type", "Msg_text"],
        missing: vec![row("Error", "Table '{}' doesn't exist"), row("status", "Operation failed")],
    })
}
