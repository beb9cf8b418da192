//! Texts as logs and other people may see them: without what may be a password.

use std::borrow::Cow;

/// What stands in the place of what is left out.
const LEFT_OUT: &str = "…";

/// Bytes of a text that are looked at and told: of a longer one, what stands before its first quote.
const MOST: usize = 64 << 10;

/// Words, in lower case, near which a password or key may stand, wherever they are found: in statements of any vendor, in strings inside them, in texts that are
/// no statements.
const WORDS: [&str; 22] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "identified",
    "secret",
    "credential",
    "token",
    "api_key",
    "apikey",
    "access_key",
    "private_key",
    "private-key",
    "key-value",
    "sm4-key",
    "authentication",
    "crypt",
    "aes_",
    "dblink",
    "hmac",
    "scram",
];

/// A text without what may be a password, for logs and for what others are shown of a session.
///
/// A text that has any of the words beside which passwords stand is told up to the first of these words, and at most up to its first quote, whichever comes first:
/// what follows may be read otherwise by another lexer, or not at all, so nothing of it is judged. So is a URL with a user in it, and whatever imports a configuration.
/// All other texts are told whole, but for very long ones.
pub fn redacted(text: &str) -> Cow<'_, str> {
    match cut(text.as_bytes()) {
        None => Cow::Borrowed(text),
        Some(at) => {
            let kept = text.get(..text.floor_char_boundary(at)).unwrap_or_default();
            Cow::Owned(format!("{kept}{LEFT_OUT}"))
        }
    }
}

/// Where the text is to end.
fn cut(text: &[u8]) -> Option<usize> {
    let looked_at = text.get(..MOST).unwrap_or(text);
    let word = first_of(looked_at, &WORDS);
    let url = find(looked_at, b"://");
    let url = url.filter(|at| looked_at.get(*at..).is_some_and(|rest| rest.contains(&b'@')));
    // A configuration may come as one text, in a form in which no word can be read.
    let import = first_of(looked_at, &["import"]);
    let import = import.filter(|_| first_of(looked_at, &["metadata", "configuration"]).is_some());
    let too_long = (looked_at.len() < text.len()).then_some(MOST);
    let secret = [word, url, import, too_long].into_iter().flatten().min()?;
    let is_quote = |byte: &u8| matches!(byte, b'\'' | b'"' | b'`' | b'$');
    Some(looked_at.iter().position(is_quote).map_or(secret, |quote| quote.min(secret)))
}

/// The end of the first of some words.
fn first_of(text: &[u8], words: &[&str]) -> Option<usize> {
    let ends = |at: usize| {
        let rest = text.get(at..)?;
        let begins = |word: &&&str| {
            let here = rest.get(..word.len());
            here.is_some_and(|here| here.eq_ignore_ascii_case(word.as_bytes()))
        };
        words.iter().find(begins).map(|word| at + word.len())
    };
    (0..text.len()).find_map(ends)
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|here| here == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statements of all vendors with a secret in them, `§` stands for it, quoted as the vendor quotes.
    const STATEMENTS: &[&str] = &[
        "CREATE ROLE bob LOGIN PASSWORD §",
        "ALTER ROLE bob WITH ENCRYPTED PASSWORD § VALID UNTIL 'infinity'",
        "CREATE USER bob WITH PASSWORD §",
        "CREATE USER 'bob'@'%' IDENTIFIED BY §",
        "CREATE USER bob IDENTIFIED WITH mysql_native_password AS §",
        "CREATE USER bob IDENTIFIED VIA ed25519 USING PASSWORD(§)",
        "ALTER USER bob IDENTIFIED BY § REPLACE § RETAIN CURRENT PASSWORD",
        "SET PASSWORD FOR bob = §",
        "SET PASSWORD = PASSWORD(§)",
        "GRANT ALL ON *.* TO bob IDENTIFIED BY §",
        "CHANGE MASTER TO MASTER_HOST = 'h', MASTER_PASSWORD = §",
        "CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD = §",
        "START REPLICA USER = 'u' PASSWORD = §",
        "CREATE SERVER s FOREIGN DATA WRAPPER w OPTIONS (USER 'u', PASSWORD §)",
        "CREATE USER MAPPING FOR bob SERVER s OPTIONS (user 'u', password §)",
        "ALTER USER MAPPING FOR bob SERVER s OPTIONS (SET secret §)",
        "SELECT * FROM dblink('host=h dbname=d', §)",
        "SELECT dblink_connect('host=h user=u password=' || §)",
        "REGISTER STORAGE UNIT ds_0(HOST=h, PORT=1, DB=d, USER=u, PASSWORD=§)",
        "REGISTER STORAGE UNIT ds_0(URL='jdbc:mysql://h:1/d', USER=u, PASSWORD=§)",
        "CREATE ENCRYPT RULE t(COLUMNS((NAME=c, CIPHER=d, ENCRYPT_ALGORITHM(TYPE(NAME='AES', PROPERTIES('aes-key-value'=§))))))",
        "IMPORT METADATA §",
        "SELECT pgp_sym_encrypt(data, §) FROM t",
        "SELECT AES_DECRYPT(data, §) FROM t",
        "INSERT INTO users (name, password_hash) VALUES ('bob', §)",
        "SELECT * FROM users WHERE api_key = §",
        "SET SESSION secret_token = §",
    ];
    const SECRET: &str = "hush4711";

    /// The same statement as somebody may send it, wrong in many ways.
    fn spelled(statement: &str) -> Vec<String> {
        let quoted =
            |open: &str, close: &str| statement.replace('§', &format!("{open}{SECRET}{close}"));
        let mut all: Vec<String> = [
            ("'", "'"),
            ("\"", "\""),
            ("E'\\'", "'"),
            ("$$", "$$"),
            ("$tag$", "$tag$"),
            ("'", ""),
            ("", "'"),
            ("\"", ""),
            ("x'", "'"),
            ("N'", "'"),
            ("_utf8mb4'", "'"),
            ("'it''s ", "'"),
            ("(", ")"),
            ("", ""),
            ("= ", ""),
            ("/*! ", " */"),
            ("-- \n'", "'"),
        ]
        .into_iter()
        .map(|(open, close)| quoted(open, close))
        .collect();
        let plain = quoted("'", "'");
        all.push(plain.to_lowercase());
        all.push(plain.to_uppercase().replace(&SECRET.to_uppercase(), SECRET));
        all.push(plain.replace(' ', "\n\t"));
        all.push(plain.replace(' ', " /* why */ "));
        all.push(format!("/* first */ {plain}; SELECT 'after'"));
        all.push(format!("SELECT 'before'; {plain}"));
        all.push(format!("EXPLAIN {plain}"));
        all.push(format!("PREPARE p FROM \"{plain}\""));
        all.push(format!("DO $body$ BEGIN EXECUTE '{}'; END $body$", plain.replace('\'', "''")));
        all.push(format!("xyzzy {plain} )))"));
        all
    }

    #[test]
    fn no_spelling_of_any_statement_tells_its_secret() {
        for statement in STATEMENTS {
            for text in spelled(statement) {
                let told = redacted(&text);
                assert!(!told.to_lowercase().contains(SECRET), "{text}\n{told}");
                // Cut off anywhere, as long texts are.
                for end in 0..text.len() {
                    let Some(part) = text.get(..end) else { continue };
                    if part.contains(SECRET) {
                        assert!(!redacted(part).contains(SECRET), "{part}");
                    }
                }
            }
        }
    }

    #[test]
    fn connection_strings_tell_nobody() {
        for text in [
            "CREATE SUBSCRIPTION s CONNECTION 'host=h password=hush4711' PUBLICATION p",
            "CREATE SUBSCRIPTION s CONNECTION 'postgres://u:hush4711@h/d' PUBLICATION p",
            "SELECT dblink('postgresql://u:hush4711@h/d', 'select 1')",
            "ALTER STORAGE UNIT ds_0(URL='jdbc:mysql://u:hush4711@h:1/d', USER=u)",
            "CREATE TABLE f (id int) ENGINE=FEDERATED CONNECTION='mysql://u:hush4711@h:1/d/t'",
        ] {
            assert!(!redacted(text).contains(SECRET), "{}", redacted(text));
        }
    }

    #[test]
    fn ordinary_statements_are_told_whole() {
        for text in [
            "SELECT * FROM t_order WHERE id = 1 AND name = 'one'",
            "INSERT INTO t VALUES (1, 'https://example.org/x'), (2, '$5')",
            "UPDATE t SET a = a + 1",
            "CREATE TABLE t (id int PRIMARY KEY)",
            "SHOW STORAGE UNITS",
            "",
            "sélect 'é'",
        ] {
            assert_eq!(redacted(text), text);
        }
        assert_eq!(
            redacted("CREATE ROLE bob LOGIN PASSWORD 'x'"),
            "CREATE ROLE bob LOGIN PASSWORD…"
        );
        assert_eq!(redacted("é PASSWORD é"), "é PASSWORD…");
        let long = format!("INSERT INTO t VALUES ('{}'), (PASSWORD('x'))", "a".repeat(MOST));
        assert_eq!(redacted(&long), "INSERT INTO t VALUES (…");
    }
}
