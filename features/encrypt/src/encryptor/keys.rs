//! Keys, from where they are kept: `env:NAME`, `file:PATH`, `base64:…`. None is ever shown.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pando_config::{Placed, Problem};

/// Octets of a key.
pub(super) const LENGTH: usize = 32;
/// A file of a key has not more octets.
const MOST: u64 = 4096;

/// Reads a key of 32 octets.
///
/// # Errors
/// Where it cannot be had, or is no key; what is wrong is told without the key.
pub(super) fn read(source: &Placed<String>) -> Result<[u8; LENGTH], Problem> {
    let wrong = |why: String| source.at.problem(why);
    let (kind, place) = source.value.split_once(':').unwrap_or(("", ""));
    let text = match kind {
        "base64" => place.to_owned(),
        "env" => std::env::var(place)
            .map_err(|_| wrong(format!("the environment has no key `{place}`")))?,
        "file" => file(place).map_err(|why| wrong(format!("the file of a key: {why}")))?,
        _ => {
            return Err(wrong(
                "a key is told as `env:NAME`, `file:PATH` or `base64:…`, of 32 octets in Base64"
                    .into(),
            ));
        }
    };
    let octets = STANDARD.decode(text.trim()).ok().and_then(|octets| octets.try_into().ok());
    octets.ok_or_else(|| {
        wrong(format!(
            "a key is {LENGTH} octets in Base64, as `openssl rand -base64 32` gives them"
        ))
    })
}

fn file(path: &str) -> std::io::Result<String> {
    use std::io::Read as _;
    let mut text = String::new();
    std::fs::File::open(path)?.take(MOST).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(source: &str) -> String {
        match read(&Placed::nowhere(source.to_owned())) {
            Ok(key) => format!("{} octets", key.len()),
            Err(problem) => problem.message,
        }
    }

    #[test]
    fn a_key_is_read_from_where_it_is_kept_and_never_told() {
        let key = STANDARD.encode([7; LENGTH]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, format!("{key}\n")).unwrap();
        assert_eq!(told(&format!("base64:{key}")), "32 octets");
        assert_eq!(told(&format!("file:{}", path.display())), "32 octets");
        for wrong in ["base64:c2hvcnQ=", "file:/nowhere", "env:NO_KEY_OF_PANDO", "hunter2"] {
            let told = told(wrong);
            assert!(!told.contains("hunter2") && !told.contains("c2hvcnQ"), "{told}");
        }
    }
}
