//! Rows that one statement reads and another writes.

use pando_kernel::dialect::{Language, TableColumn};
use pando_kernel::transfer::{Field, Obstacles, Transfer};
use pando_kernel::{Error, Kind, Result, Value};

use super::{MySql, text_literal};
use crate::types::{ColumnType, flag};

impl Transfer for MySql {
    fn literal(&self, field: &Field<'_>, to: Option<&TableColumn>) -> Result<String> {
        let column = field.column;
        let column_type = ColumnType::of(&column.native);
        let value = field.codec.value(column, Some(field.bytes))?;
        let is_text = |to: &TableColumn| matches!(to.kind, Kind::Text | Kind::Bytes | Kind::Other);
        let is_other_text = |to: &TableColumn| is_text(to) && !to.type_name.starts_with("bit");
        let is_number = |to: &TableColumn| {
            matches!(to.kind, Kind::Int | Kind::UInt | Kind::Decimal | Kind::Float | Kind::Bool)
        };
        let listed = matches!(column_type, ColumnType::Enum | ColumnType::Set)
            || column.native.flags & (flag::ENUM | flag::SET) != 0;
        let reasons = [
            (column_type == ColumnType::Geometry, "GEOMETRY"),
            (column_type == ColumnType::Vector, "VECTOR"),
            // As text it has fewer digits than as a number.
            (column_type == ColumnType::Float && to.is_none_or(is_text), "FLOAT"),
            // As text it is octets.
            (column_type == ColumnType::Bit && to.is_none_or(is_other_text), "BIT"),
            // A server assigns a quotient with more digits than it sends.
            (
                column_type == ColumnType::NewDecimal
                    && column.origin_name.is_empty()
                    && to.is_none_or(is_text),
                "DECIMAL that is computed",
            ),
            // As a number it is its place in the list.
            (listed && to.is_none_or(is_number), "ENUM or SET"),
        ];
        let from = reasons.iter().find(|(holds, _)| *holds).map(|(_, from)| from);
        if let Some(from) = from {
            let name = to.map_or_else(String::new, |to| format!(" for column `{}`", to.name));
            return Err(Error::uncarried(
                30001,
                format!("a value of type {from}{name} cannot travel between storage units"),
                "cast it in the query",
            ));
        }
        Ok(match (&value, column.kind) {
            (Value::Float(number), _) if column_type == ColumnType::Float => {
                #[expect(clippy::cast_possible_truncation, reason = "it was a single")]
                let single = *number as f32;
                Language::literal(self, &Value::Float(f64::from(single)))
            }
            (Value::Text(text), Kind::Date) => temporal("DATE", text),
            (Value::Text(text), Kind::Time) => temporal("TIME", text),
            (Value::Text(text), Kind::Timestamp) => temporal("TIMESTAMP", text),
            (Value::Text(text), _) => text_literal(text),
            // Octets are read as a number's digits; a hexadecimal literal would itself be a number.
            (Value::Bytes(_), _) if column_type != ColumnType::Bit && to.is_none_or(is_number) => {
                format!("CAST({} AS BINARY)", Language::literal(self, &value))
            }
            (value, _) => Language::literal(self, value),
        })
    }

    fn typed_as(&self, _to: &TableColumn) -> String {
        String::new()
    }

    fn survives(&self, column: &TableColumn) -> Option<String> {
        // An hour that the clocks were turned back for came twice: which one it was is lost.
        let name = self.quote(&column.name);
        column.type_name.to_ascii_lowercase().starts_with("timestamp").then(|| {
            format!("UNIX_TIMESTAMP({name}) <=> UNIX_TIMESTAMP(CAST({name} AS DATETIME(6)))")
        })
    }

    fn keep_given(&self) -> &'static str {
        ""
    }

    /// <https://dev.mysql.com/doc/refman/8.4/en/load-data.html#load-data-character-set>
    fn letters_query(&self) -> Option<&'static str> {
        Some("SELECT @@character_set_database")
    }
}

impl Obstacles for MySql {
    fn refill(&self) -> Option<&dyn pando_kernel::RefillWords> {
        Some(self)
    }

    fn obstacles_query(&self, _schema: Option<&str>, table: &str) -> String {
        let table = text_literal(table);
        let columns = |what: &str, condition: &str| {
            format!(
                "SELECT '{what}', COLUMN_NAME, '' FROM information_schema.COLUMNS \
                 WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {table} AND ({condition})"
            )
        };
        let computed = columns(
            "computed",
            "EXTRA LIKE '%VIRTUAL%' OR EXTRA LIKE '%STORED%' OR EXTRA LIKE '%PERSISTENT%'",
        );
        let stamped = columns("stamped", "EXTRA LIKE '%on update%'");
        format!(
            "{computed} UNION ALL {stamped} UNION ALL \
             SELECT 'reference', TABLE_NAME, DELETE_RULE FROM information_schema.REFERENTIAL_CONSTRAINTS \
             WHERE UNIQUE_CONSTRAINT_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME = {table} \
             AND (DELETE_RULE NOT IN ('RESTRICT', 'NO ACTION') OR UPDATE_RULE NOT IN ('RESTRICT', 'NO ACTION')) UNION ALL \
             SELECT 'trigger', TRIGGER_NAME, '' FROM information_schema.TRIGGERS \
             WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = {table} UNION ALL \
             SELECT 'view', TABLE_NAME, '' FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {table}"
        )
    }
}

/// A typed literal; text where the server takes no such literal (zeros in a date), which reads as the same.
fn temporal(of: &str, text: &str) -> String {
    let day = text.get(..10).unwrap_or("");
    let plain = of == "TIME" || !(day.starts_with("0000") || day.contains("-00"));
    if plain { format!("{of} {}", text_literal(text)) } else { text_literal(text) }
}

#[cfg(test)]
mod tests {
    use pando_kernel::{Column, Native};

    use super::*;
    use crate::row::BinaryRows;
    use crate::types::FAMILY;

    fn literal(column_type: ColumnType, charset: u16, bytes: &[u8], to: Kind) -> Result<String> {
        let mut column = Column::computed("c", column_type.kind(0, charset));
        column.native =
            Native { family: FAMILY, type_id: column_type as u32, charset, ..Native::default() };
        let to = TableColumn {
            name: "c".into(),
            kind: to,
            type_name: String::new(),
            collation: String::new(),
            collate: String::new(),
            zone: None,
            primary_key: false,
            auto_increment: false,
            nullable: true,
            invisible: false,
            attribute: Default::default(),
            timed: None,
        };
        Transfer::literal(&MySql, &Field { column: &column, codec: &BinaryRows, bytes }, Some(&to))
    }

    #[test]
    fn fields_become_literals_of_their_type() {
        use ColumnType::*;
        let check = |column_type, charset, bytes: &[u8], to, expected: &str| {
            assert_eq!(literal(column_type, charset, bytes, to).unwrap(), expected);
        };
        check(Long, 63, &(-5i32).to_le_bytes(), Kind::Int, "-5");
        check(NewDecimal, 63, b"1.50", Kind::Decimal, "1.50");
        check(Float, 63, &0.1f32.to_le_bytes(), Kind::Float, "0.10000000149011612e0");
        check(Double, 63, &0.1f64.to_le_bytes(), Kind::Float, "0.1e0");
        check(VarString, 45, b"5'\\", Kind::Text, "'5''\\\\'");
        check(Blob, 63, &[0, 255], Kind::Bytes, "X'00FF'");
        check(Blob, 63, b"12", Kind::Int, "CAST(X'3132' AS BINARY)");
        check(Date, 63, &[0xE8, 7, 2, 3], Kind::Date, "DATE '2024-02-03'");
        check(Date, 63, &[], Kind::Date, "'0000-00-00'");
    }

    #[test]
    fn what_would_change_on_its_way_is_refused() {
        assert!(literal(ColumnType::Float, 63, &0.1f32.to_le_bytes(), Kind::Text).is_err());
        assert!(literal(ColumnType::NewDecimal, 63, b"2.3333", Kind::Text).is_err());
        assert!(literal(ColumnType::Enum, 45, b"a", Kind::Int).is_err());
        assert!(literal(ColumnType::Geometry, 63, b"a", Kind::Other).is_err());
    }
}
