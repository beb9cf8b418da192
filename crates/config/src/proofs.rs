//! How much a storage unit's server has to show and may ask for at a login: libpq's `channel_binding` and `require_auth`.

/// Whether a login is bound to the certificate that the server has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChannelBinding {
    /// Never.
    Disable,
    /// Over TLS, where the server offers it.
    #[default]
    Prefer,
    /// Always.
    Require,
}

impl ChannelBinding {
    pub(crate) fn read(text: Option<&str>) -> Result<Self, String> {
        match text.map(str::to_ascii_lowercase).as_deref() {
            None | Some("prefer") => Ok(Self::Prefer),
            Some("disable") => Ok(Self::Disable),
            Some("require") => Ok(Self::Require),
            Some(other) => Err(format!(
                "expected `channelBinding` to be one of disable, prefer, require, found `{other}`"
            )),
        }
    }
}

/// What a server may ask for as a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Methods {
    /// `password`: the password as it is, over TLS.
    pub password: bool,
    /// The same without TLS: only where `password` is named.
    pub readable_password: bool,
    /// `md5`: its MD5 hash.
    pub md5: bool,
    /// `scram-sha-256`.
    pub scram: bool,
    /// `none`: nothing.
    pub nothing: bool,
}

impl Default for Methods {
    fn default() -> Self {
        Self { password: true, readable_password: false, md5: true, scram: true, nothing: true }
    }
}

impl Methods {
    /// A list of methods, of which one must be used, or each with `!` before it, of which none may be.
    pub(crate) fn read(text: Option<&str>) -> Result<Self, String> {
        let Some(text) = text else { return Ok(Self::default()) };
        let words: Vec<&str> = text.split(',').map(str::trim).collect();
        let forbids = words.iter().all(|word| word.starts_with('!'));
        if !forbids && words.iter().any(|word| word.starts_with('!')) {
            return Err(format!(
                "expected `requireAuth` to name methods with `!` before each or before none, found `{text}`"
            ));
        }
        let mut methods = Self {
            password: forbids,
            readable_password: false,
            md5: forbids,
            scram: forbids,
            nothing: forbids,
        };
        for word in words {
            match word.trim_start_matches('!') {
                "password" => {
                    (methods.password, methods.readable_password) = (!forbids, !forbids);
                }
                "md5" => methods.md5 = !forbids,
                "scram-sha-256" => methods.scram = !forbids,
                "none" => methods.nothing = !forbids,
                other => {
                    return Err(format!(
                        "expected `requireAuth` to name some of password, md5, scram-sha-256, none, found `{other}`"
                    ));
                }
            }
        }
        Ok(methods)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expected`: password, the same without TLS, MD5, SCRAM, nothing.
    fn check(text: Option<&str>, expected: [bool; 5]) {
        let Methods { password, readable_password, md5, scram, nothing } =
            Methods::read(text).unwrap();
        assert_eq!([password, readable_password, md5, scram, nothing], expected, "{text:?}");
    }

    #[test]
    fn methods_are_named_or_forbidden_and_a_readable_password_only_goes_by_name() {
        check(None, [true, false, true, true, true]);
        check(Some("scram-sha-256"), [false, false, false, true, false]);
        check(Some("password"), [true, true, false, false, false]);
        check(Some("scram-sha-256, md5"), [false, false, true, true, false]);
        check(Some("!password,!none"), [false, false, true, true, false]);
        check(Some("!md5"), [true, false, false, true, true]);
        for wrong in ["md5,!none", "gss", "SCRAM", ",", "!"] {
            assert!(Methods::read(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
