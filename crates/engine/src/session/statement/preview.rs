//! PREVIEW: what would be sent where.

use pando_kernel::Value;
use pando_kernel::error::{Error, Result};

use crate::plan::{Planned, Purpose};

use crate::session::Session;
use crate::session::given::Given;

impl Session {
    pub(in crate::session) async fn preview(&mut self, text: &str, given: &Given) -> Result<()> {
        let live = self.place.live()?;
        let syntax = live.database.dialect.syntax();
        if self.place.engine.administration().is_some_and(|own| own.takes(text, syntax)) {
            return Err(Error::refused(
                30001,
                "a statement about the configuration is sent to no storage unit",
                "PREVIEW is for statements about rows and tables",
            ));
        }
        let stmt = pando_sql::parse(text, syntax).map_err(crate::plan::unread)?;
        self.place.guard(&stmt)?;
        let mut units = Vec::new();
        match self.planned(&live, &stmt, given, Purpose::Run).await {
            Ok(Planned::Plan(plan)) => units.extend(plan.units),
            Ok(Planned::Assembly(assembly)) => units = self.shown(&live, &assembly, given).await?,
            Ok(Planned::Needs(_)) => {
                return Err(Error::internal("planning asks for what is known"));
            }
            Err(refusal) => units = self.shown_steps(&live, &stmt, given, refusal).await?,
        }
        let rows: Vec<Vec<Value>> = units
            .iter()
            .map(|unit| {
                vec![Value::Text(unit.target.unit.to_string()), Value::Text(unit.sql.to_string())]
            })
            .collect();
        self.rows("PREVIEW", &["data_source_name", "actual_sql"], &rows)
    }
}
