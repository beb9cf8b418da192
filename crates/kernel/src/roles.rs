//! Roles that a session takes: whose rights count, by variables of a family.

use std::fmt::Debug;

/// The variables by which a session becomes somebody else.
pub trait Roles: Debug + Send + Sync {
    /// Their names, in lower case.
    fn named_by(&self) -> &'static [&'static str];

    /// What a value of one of them is to be instead where it names the role that the client has anyway, as `user` is
    /// called where it logged in: storage units need not know that name. `None` for any other value, and for any other
    /// variable.
    fn oneself(&self, name: &str, value: &str, user: &str) -> Option<&'static str>;
}
