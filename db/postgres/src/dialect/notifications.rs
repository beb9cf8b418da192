//! Channels. <https://www.postgresql.org/docs/current/sql-notify.html>

use pando_kernel::dialect::Language;
use pando_kernel::error::{ErrorKind, Result, ServerError};
use pando_kernel::notifications::{LONGEST_CHANNEL, Notice, Notifications};

use super::{Postgres, text_literal};

/// What is told must be shorter, in bytes.
const PAYLOAD: usize = 8000;

/// The process, the port and the database: two names of one host lead to the same.
const PLACE: &str = "SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system()) || ' ' || \
     EXTRACT(epoch FROM pg_catalog.pg_postmaster_start_time()) || ' ' || pg_catalog.current_setting('port') || ' ' || pg_catalog.current_database()";

impl Notifications for Postgres {
    fn listen(&self, channel: &str) -> String {
        format!("LISTEN {}", self.quote(channel))
    }

    fn unlisten(&self, channel: &str) -> String {
        format!("UNLISTEN {}", self.quote(channel))
    }

    fn notify(&self, notices: &[Notice]) -> String {
        let row = |notice: &Notice| {
            format!("({}, {})", text_literal(&notice.channel), text_literal(&notice.payload))
        };
        let rows: Vec<String> = notices.iter().map(row).collect();
        let rows = rows.join(", ");
        format!(
            "SELECT pg_catalog.pg_notify(channel, payload) FROM (VALUES {rows}) AS told(channel, payload)"
        )
    }

    fn place_query(&self) -> &'static str {
        PLACE
    }

    fn check(&self, notice: &Notice) -> Result<()> {
        let message = if notice.channel.is_empty() {
            "channel name cannot be empty"
        } else if notice.channel.len() > LONGEST_CHANNEL {
            "channel name too long"
        } else if notice.payload.len() >= PAYLOAD {
            "payload string too long"
        } else {
            return Ok(());
        };
        Err(ErrorKind::Server(Box::new(ServerError {
            sqlstate: "22023".into(),
            message: message.into(),
            severity: "ERROR".into(),
            ..ServerError::default()
        }))
        .into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(channel: &str, payload: &str) -> Notice {
        Notice { channel: channel.into(), payload: payload.into() }
    }

    #[test]
    fn names_and_payloads_cannot_break_out() {
        assert_eq!(Postgres.listen("a\"b"), "LISTEN \"a\"\"b\"");
        assert_eq!(
            Postgres.notify(&[notice("a", "it's"), notice("B", "")]),
            "SELECT pg_catalog.pg_notify(channel, payload) FROM (VALUES ('a', 'it''s'), ('B', '')) AS told(channel, payload)"
        );
    }

    #[test]
    fn what_no_server_tells_is_refused() {
        for (channel, payload, is_told) in [
            ("a".to_owned(), String::new(), true),
            (String::new(), String::new(), false),
            ("a".repeat(63), "p".repeat(7999), true),
            ("a".repeat(64), String::new(), false),
            ("a".to_owned(), "p".repeat(8000), false),
        ] {
            assert_eq!(Postgres.check(&notice(&channel, &payload)).is_ok(), is_told, "{channel}");
        }
    }
}
