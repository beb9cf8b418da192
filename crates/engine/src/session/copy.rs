//! Bulk data: COPY and LOAD DATA.

use pando_kernel::CopyInput;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_sql::ast::{Copy, CopyDirection, Load, Statement};

use crate::execute::Channel;

use super::reply::Reply;
use super::{Bound, Session};

/// Rows on their way from the client to several storage units.
#[derive(Debug)]
pub(super) struct CopyIn {
    channels: Vec<Channel>,
}

impl CopyIn {
    /// The connections, once the copy is over.
    pub(super) fn into_channels(self) -> Vec<Channel> {
        self.channels
    }
}

impl Session {
    /// COPY. Returns false when it goes the usual way.
    pub(super) async fn start_copy(&mut self, stmt: &Statement, copy: &Copy) -> Result<bool> {
        let _ = (stmt, copy.direction == CopyDirection::FromClient);
        Ok(false)
    }

    /// LOAD DATA. Returns false when it goes the usual way.
    pub(super) async fn start_load(&mut self, stmt: &Statement, load: &Load) -> Result<bool> {
        let _ = (stmt, load, Bound::default());
        Ok(false)
    }

    /// Data from the client for the copy under way.
    pub(super) async fn copy_input(&mut self, input: CopyInput) -> Result<()> {
        match &self.reply {
            Reply::Pass(_) => self.copy_pass(input).await,
            Reply::CopyIn(_) | Reply::Merged(_) | Reply::Idle => {
                Err(Error::new(ErrorKind::Protocol("no copy is under way".into())))
            }
        }
    }
}
