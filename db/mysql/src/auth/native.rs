//! `mysql_native_password`.

use aws_lc_rs::digest::{Context, Digest, SHA1_FOR_LEGACY_USE_ONLY, digest};

use super::xor;

/// `SHA1(password) XOR SHA1(scramble + SHA1(SHA1(password)))`.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_authentication_methods_native_password_authentication.html>
pub(super) fn answer(password: &[u8], scramble: &[u8]) -> [u8; 20] {
    let once = digest(&SHA1_FOR_LEGACY_USE_ONLY, password);
    let twice = digest(&SHA1_FOR_LEGACY_USE_ONLY, once.as_ref());
    let mut mask = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    mask.update(scramble);
    mask.update(twice.as_ref());
    xor(bytes(&once), mask.finish().as_ref())
}

fn bytes(digest: &Digest) -> [u8; 20] {
    let mut out = [0; 20];
    out.copy_from_slice(digest.as_ref());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_undone_with_the_stored_hash_is_the_passwords_hash() {
        let scramble = *b"abcdefghijklmnopqrst";
        let answer = answer(b"secret", &scramble);
        let once = digest(&SHA1_FOR_LEGACY_USE_ONLY, b"secret");
        let stored = digest(&SHA1_FOR_LEGACY_USE_ONLY, once.as_ref());
        let mut mask = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
        mask.update(&scramble);
        mask.update(stored.as_ref());
        assert_eq!(xor(answer, mask.finish().as_ref()), bytes(&once));
    }
}
