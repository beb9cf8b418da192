//! What is let through while the cluster is locked or the instance is out of work.

use pando_kernel::error::{Error, Result};

use crate::snapshot::Admits;

use crate::session::given::Aim;
use crate::session::place::Place;

impl Place {
    /// Refuses what the cluster is locked for, with ShardingSphere's code.
    pub(in crate::session) fn refuse_unadmitted(&self, aim: Aim) -> Result<()> {
        let (reason, instead) = match self.properties().admits {
            Admits::Everything => return Ok(()),
            Admits::Reads if aim == Aim::Reads => return Ok(()),
            Admits::Reads => ("the cluster is locked for writing", "UNLOCK CLUSTER ends that"),
            Admits::Nothing => (
                "this instance or the whole cluster is out of work",
                "ENABLE COMPUTE NODE or UNLOCK CLUSTER ends that",
            ),
        };
        Err(Error::forbidden(17020, reason, instead))
    }
}
