//! Which anomalies a level forbids.

use crate::anomaly::Anomaly;

/// What a storage unit's server promises by itself to a transaction at one isolation level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// READ COMMITTED of all three servers: no dirty write and no dirty read.
    ReadCommitted,
    /// REPEATABLE READ of MySQL, and of MariaDB without `innodb_snapshot_isolation`: plain reads see one snapshot, while a change
    /// takes the newest row. So an update may be lost, and a row may be changed that the snapshot shows otherwise.
    /// <https://dev.mysql.com/doc/refman/8.0/en/innodb-consistent-read.html>
    PlainSnapshot,
    /// REPEATABLE READ of PostgreSQL: reads and changes go by one snapshot, only write skew is possible.
    /// <https://www.postgresql.org/docs/15/transaction-iso.html#XACT-REPEATABLE-READ>
    Snapshot,
    /// SERIALIZABLE of all three.
    Serializable,
}

/// Which order besides that of the data must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// None.
    Data,
    /// Transactions of one process come in its order.
    Process,
    /// Who ended before another began comes before it.
    Time,
}

impl Level {
    /// All levels by the names the command line takes, weakest first.
    pub const NAMES: [(&str, Self); 4] = [
        ("read-committed", Self::ReadCommitted),
        ("repeatable-read-mysql", Self::PlainSnapshot),
        ("repeatable-read-postgres", Self::Snapshot),
        ("serializable", Self::Serializable),
    ];

    /// Whether the anomaly must not be seen at this level.
    pub fn forbids(self, anomaly: Anomaly) -> bool {
        self.rank() >= Self::rank(anomaly.first_forbidden())
    }

    fn rank(self) -> u8 {
        match self {
            Self::ReadCommitted => 0,
            Self::PlainSnapshot => 1,
            Self::Snapshot => 2,
            Self::Serializable => 3,
        }
    }
}
