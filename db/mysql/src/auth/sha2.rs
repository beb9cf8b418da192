//! `caching_sha2_password`: the scramble of its fast path.

use aws_lc_rs::digest::{Context, SHA256, digest};

use super::xor;

/// `SHA256(password) XOR SHA256(SHA256(SHA256(password)) + scramble)`.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html>
pub(super) fn answer(password: &[u8], scramble: &[u8]) -> [u8; 32] {
    let once = digest(&SHA256, password);
    let twice = digest(&SHA256, once.as_ref());
    let mut mask = Context::new(&SHA256);
    mask.update(twice.as_ref());
    mask.update(scramble);
    let mut out = [0; 32];
    out.copy_from_slice(once.as_ref());
    xor(out, mask.finish().as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_answer_is_computed() {
        // The empty scramble makes the mask SHA256 of the double hash alone, which `sha256sum` can check.
        let answer = answer(b"test", b"");
        let once = digest(&SHA256, b"test");
        let thrice = digest(&SHA256, digest(&SHA256, once.as_ref()).as_ref());
        assert_eq!(xor(answer, thrice.as_ref())[..], *once.as_ref());
        assert_eq!(once.as_ref()[..4], [0x9f, 0x86, 0xd0, 0x81]);
    }
}
