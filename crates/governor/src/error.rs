//! Refusals of the model, mistakes of DistSQL and failures of the repository, as clients hear them.

use pando_kernel::error::{Error, ErrorKind, ServerError};
use pando_model::{Kind, Refusal};
use pando_repository::Error as Stored;

/// With ShardingSphere's number and SQLSTATE.
pub(crate) fn refusal(refusal: &Refusal) -> Error {
    coded(refusal.kind.code(), refusal.kind.sqlstate(), &refusal.message)
}

/// An error of the governor's own, in the form of a refusal.
pub(crate) fn refused(kind: Kind, message: &str) -> Error {
    coded(kind.code(), kind.sqlstate(), message)
}

pub(crate) fn coded(number: u16, sqlstate: &str, message: &str) -> Error {
    ErrorKind::Server(Box::new(ServerError {
        number: u32::from(number),
        sqlstate: sqlstate.to_owned(),
        message: message.to_owned(),
        severity: "ERROR".into(),
        fields: Vec::new(),
    }))
    .into()
}

/// A text that is no DistSQL, or DistSQL that only ShardingSphere has.
pub(crate) fn syntax(error: &pando_distsql::Error) -> Error {
    if error.kind == pando_distsql::ErrorKind::NotSupported {
        return refused(Kind::NotSupported, &error.message);
    }
    ErrorKind::Syntax { message: error.message.clone(), at: error.at }.into()
}

/// A change that the repository did not make. The codes are Pando's own,
/// among those that ShardingSphere has for clusters.
pub(crate) fn repository(error: &Stored) -> Error {
    let message = match error {
        Stored::Conflict(_) => {
            "another change of the configuration came first; nothing was changed, try again"
                .to_owned()
        }
        Stored::Unavailable(why) => {
            format!(
                "the configuration cannot be changed now, its repository does not answer: {why}"
            )
        }
        Stored::Refused(why) => format!("the repository refuses the change: {why}"),
        Stored::Unknown(why) => {
            format!(
                "it is not known whether the change was stored, look before you repeat it: {why}"
            )
        }
        Stored::Damaged(why) => format!("the repository is damaged: {why}"),
    };
    let (number, sqlstate) = match error {
        Stored::Conflict(_) => (17010, "40001"),
        Stored::Unavailable(_) => (17030, "08000"),
        Stored::Unknown(_) => (17031, "08007"),
        Stored::Refused(_) | Stored::Damaged(_) => (17032, "HY000"),
    };
    coded(number, sqlstate, &message)
}
