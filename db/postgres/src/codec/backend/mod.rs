//! What a server sends.

mod authentication;
mod command_complete;
mod data_row;
mod empty;
mod key_data;
mod negotiate;
mod notice;
mod notification;
mod parameter;
mod ready;
mod row_description;

use super::copy::CopyResponse;
use super::{Fault, Malformed, Reader};

pub use authentication::{Authentication, Mechanisms};
pub(crate) use command_complete::encode_counted;
pub use command_complete::{CommandComplete, encode_command_complete};
pub use data_row::{DataRow, Fields};
pub use empty::{
    encode_bind_complete, encode_close_complete, encode_empty_query, encode_no_data,
    encode_parse_complete, encode_portal_suspended,
};
pub use key_data::KeyData;
pub use negotiate::Negotiate;
pub use notice::{Notice, encode_error, encode_notice};
pub use notification::Notification;
pub use parameter::{ParameterDescription, ParameterStatus};
pub use ready::{ReadyForQuery, Status};
pub use row_description::{Column, RowDescription};

/// One message of a server, borrowed from its frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backend<'a> {
    /// A step of the login.
    Authentication(Authentication<'a>),
    /// A setting the client is told about.
    ParameterStatus(ParameterStatus<'a>),
    /// What to name in a CancelRequest.
    KeyData(KeyData<'a>),
    /// The server waits for the next request.
    ReadyForQuery(ReadyForQuery),
    /// The columns of the rows that follow.
    RowDescription(RowDescription<'a>),
    /// A row.
    DataRow(DataRow<'a>),
    /// A statement is done.
    CommandComplete(CommandComplete<'a>),
    /// The text held no statement.
    EmptyQuery,
    /// A statement failed.
    Error(Notice<'a>),
    /// A warning or hint beside the answer.
    Notice(Notice<'a>),
    /// A NOTIFY of some session.
    Notification(Notification<'a>),
    /// Parse is done.
    ParseComplete,
    /// Bind is done.
    BindComplete,
    /// Close is done.
    CloseComplete,
    /// The statement gives no rows.
    NoData,
    /// The row limit of Execute was reached.
    PortalSuspended,
    /// The types of a statement's parameters.
    ParameterDescription(ParameterDescription<'a>),
    /// The server waits for copy data.
    CopyIn(CopyResponse),
    /// Copy data follows.
    CopyOut(CopyResponse),
    /// Copy data goes both ways.
    CopyBoth(CopyResponse),
    /// Data of COPY TO.
    CopyData(&'a [u8]),
    /// The end of the data.
    CopyDone,
    /// The server speaks an older minor version or not all the options asked for.
    Negotiate(Negotiate<'a>),
}

impl<'a> Backend<'a> {
    /// Decodes the body of a frame with tag `tag`.
    ///
    /// # Errors
    /// An unknown tag or a body that breaks the protocol.
    pub fn decode(tag: u8, body: &'a [u8]) -> Result<Backend<'a>, Malformed> {
        let empty = |name, message| Reader::new(name, body).end().map(|()| message);
        match tag {
            b'D' => DataRow::decode(body).map(Backend::DataRow),
            b'C' => CommandComplete::decode(body).map(Backend::CommandComplete),
            b'Z' => ReadyForQuery::decode(body).map(Backend::ReadyForQuery),
            b'T' => RowDescription::decode(body).map(Backend::RowDescription),
            b'1' => empty("ParseComplete", Backend::ParseComplete),
            b'2' => empty("BindComplete", Backend::BindComplete),
            b'3' => empty("CloseComplete", Backend::CloseComplete),
            b'n' => empty("NoData", Backend::NoData),
            b's' => empty("PortalSuspended", Backend::PortalSuspended),
            b'I' => empty("EmptyQueryResponse", Backend::EmptyQuery),
            b't' => ParameterDescription::decode(body).map(Backend::ParameterDescription),
            b'E' => Notice::decode("ErrorResponse", body).map(Backend::Error),
            b'N' => Notice::decode("NoticeResponse", body).map(Backend::Notice),
            b'A' => Notification::decode(body).map(Backend::Notification),
            b'S' => ParameterStatus::decode(body).map(Backend::ParameterStatus),
            b'K' => KeyData::decode(body).map(Backend::KeyData),
            b'R' => Authentication::decode(body).map(Backend::Authentication),
            b'v' => Negotiate::decode(body).map(Backend::Negotiate),
            b'G' => CopyResponse::decode(body).map(Backend::CopyIn),
            b'H' => CopyResponse::decode(body).map(Backend::CopyOut),
            b'W' => CopyResponse::decode(body).map(Backend::CopyBoth),
            b'd' => Ok(Backend::CopyData(body)),
            b'c' => empty("CopyDone", Backend::CopyDone),
            other => Err(Malformed::new("backend", Fault::UnknownTag(other))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_tag_is_refused() {
        let fault = Backend::decode(b'!', b"").map_err(|error| error.fault);
        assert_eq!(fault, Err(Fault::UnknownTag(b'!')));
    }

    #[test]
    fn messages_without_a_body_refuse_one() {
        for tag in *b"123nsIc" {
            assert!(Backend::decode(tag, b"").is_ok());
            assert!(Backend::decode(tag, b"x").is_err());
        }
    }
}
