//! COM_QUERY.

use pando_kernel::Request;
use pando_kernel::session::{Doorway, Session as _};
use pando_sql::{Modes, Settled, settle_under, split_under};

use super::client::Client;
use super::end::End;
use super::reply::Form;
use super::text::read;
use crate::dialect::SYNTAX;
use crate::error::ClientError;
use crate::modes;

impl<D: Doorway> Client<D> {
    pub(super) async fn query(&mut self, text: &[u8]) -> Result<(), End> {
        let text = match read(text, self.wire.charsets.client) {
            Ok(text) => text,
            Err(error) => return self.fail(&error),
        };
        let modes = modes::told_modes(self.session.state().told);
        if !self.several && is_several(&text, modes) {
            let error = ClientError::new(
                1064,
                b"42000",
                "You have an error in your SQL syntax; several statements in one text need the \
                 client's consent (CLIENT_MULTI_STATEMENTS)",
            );
            return self.fail(&error);
        }
        self.says_something =
            text.contains(|letter: char| !letter.is_whitespace() && letter != ';');
        self.run(Request::Query(text), Form::Text).await
    }
}

/// Whether the text holds more than one statement. Text that cannot be split is left to the parser.
fn is_several(text: &str, modes: Modes) -> bool {
    let rest = text.trim_end().trim_end_matches(';');
    if memchr::memchr(b';', rest.as_bytes()).is_none() {
        return false;
    }
    let several =
        |text: &str| split_under(text, &SYNTAX, modes).is_ok_and(|statements| statements.len() > 1);
    if !text.contains("/*!") && !text.contains("/*M!") {
        return several(text);
    }
    // The storage units' versions decide what is in such comments, and they are not known here.
    match settle_under(text, &SYNTAX, modes, &[]) {
        Ok(Settled::AsIs) => several(text),
        Ok(Settled::Text(settled)) => several(&settled),
        Ok(Settled::Unsure) | Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_semicolon_alone_does_not_make_two_statements() {
        for text in ["SELECT 1", "SELECT 1;", "SELECT ';' ", "SELECT 1 /* ; */", "SELECT 1 ; "] {
            assert!(!is_several(text, Modes::default()), "{text}");
        }
        for text in [
            "SELECT 1; SELECT 2",
            "SELECT 1 /*!50000 ; */ ; SELECT 2",
            "SELECT 1 /*!80000 \" */ \" */ ; SELECT 2",
            "SELECT 1 /*!80000 \" */ ; SELECT 2 -- \" */",
        ] {
            assert!(is_several(text, Modes::default()), "{text}");
        }
        assert!(!is_several("SELECT 1 /*!99999 ; */, '/*!80000 ;'", Modes::default()));
        let plain = Modes { plain_backslashes: true, ..Modes::default() };
        assert!(is_several(r"SELECT 'a\'; SELECT 2 -- '", plain));
        assert!(!is_several(r"SELECT 'a\'; SELECT 2 -- '", Modes::default()));
    }
}
