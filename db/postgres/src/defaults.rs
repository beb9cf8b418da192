//! Settings that every session starts with on every unit, and that clients are told at login.

/// Dates print as ISO, so that values can be compared and merged.
pub(crate) const DATE_STYLE: &str = "ISO, MDY";
/// One zone for all units: rows of different units would else show different clocks.
pub(crate) const TIME_ZONE: &str = "Etc/UTC";
/// The version clients are told; what follows the number is ignored by drivers.
pub(crate) const SERVER_VERSION: &str = "15.0 (Pando)";

/// What every client is told at login.
/// <https://www.postgresql.org/docs/current/libpq-status.html#LIBPQ-PQPARAMETERSTATUS>
pub(crate) const TOLD: [(&str, &str); 13] = [
    ("server_version", SERVER_VERSION),
    ("server_encoding", "UTF8"),
    ("client_encoding", "UTF8"),
    ("DateStyle", DATE_STYLE),
    ("TimeZone", TIME_ZONE),
    ("IntervalStyle", "postgres"),
    ("integer_datetimes", "on"),
    ("standard_conforming_strings", "on"),
    ("application_name", ""),
    ("default_transaction_read_only", "off"),
    ("in_hot_standby", "off"),
    ("is_superuser", "off"),
    ("session_authorization", ""),
];
