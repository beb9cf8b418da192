//! What is read of a certificate: whom it names, and the hash by which a login is bound to it. A walk through its DER that asks for what is there and
//! nothing more; the library has checked signatures, times and purposes before. <https://datatracker.ietf.org/doc/html/rfc5280#section-4.1>

use aws_lc_rs::digest::{self, Algorithm, digest};
use pando_kernel::Peer;

const INTEGER: u8 = 0x02;
const OBJECT: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const CONTEXT_0: u8 = 0xA0;

/// The hash of a certificate that stands for its server, `tls-server-end-point`: by the hash of its own signature, where that is neither MD5 nor SHA-1.
/// `None` where the signature names none, as Ed25519. <https://datatracker.ietf.org/doc/html/rfc5929#section-4.1>
pub(super) fn endpoint(certificate: &[u8]) -> Option<Vec<u8>> {
    let mut fields = Der(certificate).inner(SEQUENCE)?;
    fields.inner(SEQUENCE)?;
    let algorithm = hash_of_signature(fields.inner(SEQUENCE)?)?;
    Some(digest(algorithm, certificate).as_ref().to_vec())
}

/// Whom the certificate names; `None` where it cannot be read.
pub(super) fn peer(certificate: &[u8]) -> Option<Peer> {
    let mut fields = Der(certificate).inner(SEQUENCE)?.inner(SEQUENCE)?;
    if fields.0.first() == Some(&CONTEXT_0) {
        fields.inner(CONTEXT_0)?;
    }
    fields.inner(INTEGER)?;
    fields.inner(SEQUENCE)?;
    let issuer = Name::read(fields.inner(SEQUENCE)?)?;
    fields.inner(SEQUENCE)?;
    let subject = Name::read(fields.inner(SEQUENCE)?)?;
    Some(Peer { common_name: subject.common_name(), subject: subject.text, issuer: issuer.text })
}

/// What is left of a run of DER values.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The next value: its tag and what is in it.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        // Tags of several bytes, and lengths that are not told, have no place here.
        if tag & 0x1F == 0x1F || first == 0x80 {
            return None;
        }
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7F))?;
            let bytes = Some(bytes).filter(|bytes| bytes.len() <= 4)?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, value))
    }

    /// What is in the next value, which has this tag.
    fn inner(&mut self, tag: u8) -> Option<Der<'a>> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, value)| Der(value))
    }
}

/// The hash of an AlgorithmIdentifier for signatures.
fn hash_of_signature(mut algorithm: Der<'_>) -> Option<&'static Algorithm> {
    const RSA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01];
    const ECDSA: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04];
    let object = algorithm.inner(OBJECT)?.0;
    if let Some(number) = object.strip_prefix(RSA) {
        return match number {
            // MD5 and SHA-1 are as good as SHA-256 here, says the standard.
            [4 | 5 | 11] => Some(&digest::SHA256),
            [10] => hash_of_pss(&mut algorithm),
            [12] => Some(&digest::SHA384),
            [13] => Some(&digest::SHA512),
            [14] => Some(&digest::SHA224),
            _ => None,
        };
    }
    match object.strip_prefix(ECDSA)? {
        [1] | [3, 2] => Some(&digest::SHA256),
        [3, 1] => Some(&digest::SHA224),
        [3, 3] => Some(&digest::SHA384),
        [3, 4] => Some(&digest::SHA512),
        _ => None,
    }
}

/// RSASSA-PSS tells its hash as a parameter; without one it is SHA-1. <https://datatracker.ietf.org/doc/html/rfc4055#section-3.1>
fn hash_of_pss(algorithm: &mut Der<'_>) -> Option<&'static Algorithm> {
    const SHA1: &[u8] = &[0x2B, 0x0E, 0x03, 0x02, 0x1A];
    const SHA2: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02];
    let mut parameters = algorithm.inner(SEQUENCE)?;
    if parameters.0.first() != Some(&CONTEXT_0) {
        return Some(&digest::SHA256);
    }
    let hash = parameters.inner(CONTEXT_0)?.inner(SEQUENCE)?.inner(OBJECT)?.0;
    match hash.strip_prefix(SHA2) {
        Some([1]) => Some(&digest::SHA256),
        Some([2]) => Some(&digest::SHA384),
        Some([3]) => Some(&digest::SHA512),
        Some([4]) => Some(&digest::SHA224),
        Some(_) => None,
        None => (hash == SHA1).then_some(&digest::SHA256),
    }
}

/// A distinguished name.
#[derive(Default)]
struct Name {
    text: String,
    /// `None` for one that is no text.
    common: Vec<Option<String>>,
}

impl Name {
    fn read(mut sets: Der<'_>) -> Option<Name> {
        let mut name = Name::default();
        while !sets.0.is_empty() {
            let mut attributes = sets.inner(SET)?;
            let mut before = '/';
            while !attributes.0.is_empty() {
                let mut attribute = attributes.inner(SEQUENCE)?;
                let object = attribute.inner(OBJECT)?.0;
                let (tag, value) = attribute.next()?;
                let text = text(tag, value);
                name.put(before, object, text.as_deref());
                before = '+';
                if object == COMMON_NAME {
                    name.common.push(text);
                }
            }
        }
        Some(name)
    }

    fn put(&mut self, before: char, object: &[u8], value: Option<&str>) {
        self.text.push(before);
        match ATTRIBUTES.iter().find(|(known, _)| *known == object) {
            Some((_, short)) => self.text.push_str(short),
            None => object.iter().for_each(|byte| self.text.push_str(&format!("{byte:02x}"))),
        }
        self.text.push('=');
        // A value that is no text equals none that anybody writes.
        for byte in value.unwrap_or("\0").bytes() {
            match byte {
                b'/' | b'+' => self.text.extend(['\\', char::from(byte)]),
                b' '..=b'~' if byte != b'\\' => self.text.push(char::from(byte)),
                _ => self.text.push_str(&format!("\\x{byte:02X}")),
            }
        }
    }

    fn common_name(&self) -> Option<String> {
        let [Some(only)] = self.common.as_slice() else { return None };
        Some(only.clone())
    }
}

const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];

const ATTRIBUTES: [(&[u8], &str); 15] = [
    (COMMON_NAME, "CN"),
    (&[0x55, 0x04, 0x04], "SN"),
    (&[0x55, 0x04, 0x05], "serialNumber"),
    (&[0x55, 0x04, 0x06], "C"),
    (&[0x55, 0x04, 0x07], "L"),
    (&[0x55, 0x04, 0x08], "ST"),
    (&[0x55, 0x04, 0x09], "street"),
    (&[0x55, 0x04, 0x0A], "O"),
    (&[0x55, 0x04, 0x0B], "OU"),
    (&[0x55, 0x04, 0x0C], "title"),
    (&[0x55, 0x04, 0x2A], "GN"),
    (&[0x55, 0x04, 0x2B], "initials"),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x01], "emailAddress"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 0x01, 0x19], "DC"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 0x01, 0x01], "UID"),
];

/// A string of any of the kinds in use; `None` for another kind, for bytes that are none, and with a zero inside, at which others would end it.
fn text(tag: u8, value: &[u8]) -> Option<String> {
    let text = match tag {
        // UTF8String, NumericString, PrintableString, IA5String, VisibleString; those but the first are ASCII.
        0x0C => std::str::from_utf8(value).ok()?.to_owned(),
        0x12 | 0x13 | 0x16 | 0x1A if value.is_ascii() => {
            String::from_utf8_lossy(value).into_owned()
        }
        // TeletexString: what people write is Latin-1.
        0x14 => value.iter().map(|byte| char::from(*byte)).collect(),
        // BMPString.
        0x1E if value.len().is_multiple_of(2) => {
            let units = value.chunks_exact(2).map(|pair| {
                let pair = pair.first_chunk().copied().unwrap_or_default();
                u16::from_be_bytes(pair)
            });
            char::decode_utf16(units).collect::<Result<String, _>>().ok()?
        }
        _ => return None,
    };
    Some(text).filter(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA1: &[u8] = include_bytes!("../../tests/tls/sha1.der");
    const SHA384: &[u8] = include_bytes!("../../tests/tls/sha384.der");
    const PSS_SHA512: &[u8] = include_bytes!("../../tests/tls/pss-sha512.der");
    const ED25519: &[u8] = include_bytes!("../../tests/tls/ed25519.der");
    const NAMES: &[u8] = include_bytes!("../../tests/tls/names.der");
    const TWICE: &[u8] = include_bytes!("../../tests/tls/twice.der");

    fn check(certificate: &[u8], expected: Option<&'static Algorithm>) {
        let expected = expected.map(|algorithm| digest(algorithm, certificate).as_ref().to_vec());
        assert_eq!(endpoint(certificate), expected);
    }

    #[test]
    fn a_certificate_is_hashed_as_it_is_signed_but_never_weaker_than_by_sha_256() {
        check(SHA1, Some(&digest::SHA256));
        check(NAMES, Some(&digest::SHA256));
        check(SHA384, Some(&digest::SHA384));
        check(PSS_SHA512, Some(&digest::SHA512));
        check(ED25519, None);
    }

    #[test]
    fn names_are_told_as_the_vendors_tell_them_and_no_value_passes_for_two() {
        let peer = peer(NAMES).unwrap();
        let subject = r"/DC=org/OU=a\/CN=root/UID=7/emailAddress=a@b/serialNumber=1+CN=Zo\xC3\xAB \x5C \xC3\x84";
        assert_eq!((peer.subject.as_str(), peer.issuer.as_str()), (subject, subject));
        assert_eq!(peer.common_name.as_deref(), Some("Zoë \\ Ä"));
    }

    #[test]
    fn of_two_common_names_none_counts() {
        let peer = peer(TWICE).unwrap();
        assert_eq!((peer.common_name, peer.subject.as_str()), (None, "/CN=ann/CN=root"));
    }

    #[test]
    fn strings_of_all_kinds_are_read_and_none_with_a_zero() {
        let read = |tag, value: &[u8]| text(tag, value);
        assert_eq!(read(0x0C, "ä".as_bytes()).as_deref(), Some("ä"));
        assert_eq!(read(0x13, b"ann").as_deref(), Some("ann"));
        assert_eq!(read(0x14, b"\xe4").as_deref(), Some("ä"));
        assert_eq!(read(0x1E, b"\0a\0\xe4").as_deref(), Some("aä"));
        for (tag, value) in [
            (0x0C, &b"root\0.example"[..]),
            (0x0C, b"\xff"),
            (0x13, b"\xe4"),
            (0x16, b"a\0"),
            (0x1E, b"\0a\0"),
            (0x1E, b"\xd8\0"),
            (0x1E, b"\0a\0\0"),
            (0x03, b"a"),
        ] {
            assert_eq!(read(tag, value), None, "{tag:#x} {value:?}");
        }
    }

    #[test]
    fn what_ends_too_early_names_nobody() {
        for certificate in [SHA1, PSS_SHA512, NAMES] {
            for end in 0..certificate.len() {
                let cut = certificate.get(..end).unwrap();
                assert!(endpoint(cut).is_none() && peer(cut).is_none(), "{end}");
            }
        }
        for broken in [&b"\x30\x80"[..], b"\x30\x85\0\0\0\0\x01a", b"\x1f\x01a", b"\x30\x82\x01"] {
            assert!(Der(broken).next().is_none(), "{broken:?}");
        }
    }
}
