//! Numbers of PostgreSQL's sequences. <https://www.postgresql.org/docs/current/functions-sequence.html>

use pando_kernel::error::{ErrorKind, Result, ServerError};
use pando_kernel::sequences::{Afresh, ColumnSequences, Draw, Sequences, Stands};

use super::{Postgres, text_literal};

impl Sequences for Postgres {
    /// Connections keep numbers by `CACHE`: <https://www.postgresql.org/docs/current/sql-createsequence.html>
    fn next(&self, sequence: &str, count: usize) -> Draw {
        let query = match count {
            1 => format!("SELECT pg_catalog.nextval({sequence})"),
            _ => format!(
                "SELECT pg_catalog.nextval({sequence}) FROM pg_catalog.generate_series(1, {count})"
            ),
        };
        let keeps = format!(
            "SELECT 1 FROM pg_catalog.pg_sequence WHERE seqrelid = ({sequence})::pg_catalog.regclass AND seqcache > 1 AND seqincrement > 0"
        );
        Draw { query, afresh: Some(Afresh { keeps, forget: "DISCARD SEQUENCES" }) }
    }

    fn number(&self, number: i64, _stands: Stands) -> String {
        format!("CAST({number} AS bigint)")
    }

    fn definition(&self, sequence: &str) -> Option<String> {
        let name = sequence.replace('\'', "''");
        Some(format!(
            "SELECT pg_catalog.format('CREATE SEQUENCE %I.%I AS %s INCREMENT BY %s MINVALUE %s MAXVALUE %s START WITH %s CACHE %s %s', \
             n.nspname, c.relname, pg_catalog.format_type(s.seqtypid, NULL), s.seqincrement, s.seqmin, s.seqmax, s.seqstart, s.seqcache, \
             CASE WHEN s.seqcycle THEN 'CYCLE' ELSE 'NO CYCLE' END) \
             FROM pg_catalog.pg_sequence s JOIN pg_catalog.pg_class c ON c.oid = s.seqrelid \
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE s.seqrelid = '{name}'::pg_catalog.regclass \
             UNION ALL SELECT pg_catalog.format('ALTER SEQUENCE %s RESTART WITH %s', '{name}', v.last_value + \
             CASE WHEN v.is_called THEN s.seqincrement ELSE 0 END) \
             FROM {sequence} v, pg_catalog.pg_sequence s WHERE s.seqrelid = '{name}'::pg_catalog.regclass"
        ))
    }

    fn of_columns(&self) -> Option<&dyn ColumnSequences> {
        Some(self)
    }

    fn untold(&self, sequence: Option<&str>) -> Result<String> {
        let message = match sequence {
            Some(name) => {
                format!("currval of sequence \"{name}\" is not yet defined in this session")
            }
            None => "lastval is not yet defined in this session".to_owned(),
        };
        Err(ErrorKind::Server(Box::new(ServerError {
            number: 0,
            sqlstate: "55000".into(),
            message,
            severity: "ERROR".into(),
            fields: Vec::new(),
        }))
        .into())
    }
}

impl ColumnSequences for Postgres {
    fn counter(&self, tables: &[String], column: &str) -> String {
        let find = |name: &String| format!("pg_catalog.to_regclass({})", text_literal(name));
        let tables: Vec<String> = tables.iter().map(find).collect();
        format!(
            "pg_catalog.pg_get_serial_sequence(coalesce({})::text, {})",
            tables.join(", "),
            text_literal(column)
        )
    }

    fn current(&self, sequence: Option<&str>) -> String {
        match sequence {
            Some(sequence) => format!("pg_catalog.currval({sequence})"),
            None => "pg_catalog.lastval()".to_owned(),
        }
    }
}
