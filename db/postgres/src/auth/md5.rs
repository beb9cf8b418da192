//! The MD5 answer: weak, and still what old clients and servers speak.
//! <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-START-UP>

use md5::{Digest, Md5};

/// The text a client sends: `md5` and the hex of `md5(hex(md5(password + user)) + salt)`.
pub fn answer(user: &str, password: &str, salt: [u8; 4]) -> String {
    let stored = hex(&[password.as_bytes(), user.as_bytes()]);
    format!("md5{}", hex(&[stored.as_bytes(), &salt]))
}

/// Whether a client's text is the right one. Where no password is known none is, and that takes as long.
pub fn verify(user: &str, password: Option<&str>, salt: [u8; 4], answer: &[u8]) -> bool {
    let right = self::answer(user, password.unwrap_or_default(), salt);
    let is_right = super::equal(right.as_bytes(), answer);
    password.is_some() && is_right
}

fn hex(parts: &[&[u8]]) -> String {
    let mut hash = Md5::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_the_one_postgresql_computes() {
        // md5(password || user) is what pg_authid holds for `test`/`test`.
        assert_eq!(hex(&[b"test", b"test"]), "05a671c66aefea124cc08b76ea6d30bb");
        let text = answer("md5_user", "password", [0x2a, 0x3d, 0x8f, 0xe0]);
        assert_eq!(text, "md562af4dd09bbb41884907a838a3233294");
    }

    #[test]
    fn only_the_right_answer_is_taken() {
        let text = answer("ann", "secret", *b"salt");
        assert!(verify("ann", Some("secret"), *b"salt", text.as_bytes()));
        assert!(!verify("ann", Some("secret"), *b"tlas", text.as_bytes()));
        assert!(!verify("ann", Some("other"), *b"salt", text.as_bytes()));
        assert!(!verify("ann", Some("secret"), *b"salt", b""));
        assert!(!verify("ann", None, *b"salt", answer("ann", "", *b"salt").as_bytes()));
    }
}
