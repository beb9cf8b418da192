//! Tables that are made of a query's rows: PostgreSQL takes the types and collations of its columns, and nothing else.
//! <https://www.postgresql.org/docs/current/sql-createtableas.html>

use pando_kernel::dialect::{Language, Metadata, TableColumn};
use pando_kernel::query_tables::{Definitions, PROBE, Probed, QueryTables, Wanted};
use pando_kernel::relation::Inline;
use pando_kernel::{Result, Value};

use super::Postgres;

impl QueryTables for Postgres {
    fn selects_into(&self) -> bool {
        true
    }

    fn without_rows(&self) -> Option<&'static str> {
        None
    }

    fn probe(&self, wanted: &Wanted<'_>) -> String {
        let Wanted { elements, query, .. } = wanted;
        format!("CREATE TEMPORARY TABLE {PROBE} {elements} AS {query} WITH NO DATA")
    }

    fn probed_query(&self) -> String {
        self.columns_query(Some("pg_temp"), PROBE)
    }

    fn probed(&self, wanted: &Wanted<'_>, rows: &[Vec<Value>]) -> Result<Probed> {
        let (mut elements, mut columns, mut types) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            let column = self.read_column(row)?;
            let name = self.quote(&column.name);
            let collate = match column.collate.as_str() {
                "" => String::new(),
                own => format!(" COLLATE {own}"),
            };
            let own = format!("{}{collate}", column.type_name);
            elements.push(format!("{name} {own}"));
            types.push(own);
            columns.push(name);
        }
        let body = format!("({}) {}", elements.join(", "), wanted.options.trim());
        Ok(Probed { body: body.trim_end().to_owned(), columns, types })
    }

    fn definitions(&self) -> &dyn Definitions {
        self
    }
}

impl Definitions for Postgres {
    fn definition_of(&self, _table: &str) -> Option<String> {
        None
    }

    fn twin(&self, _number: usize, _definition: &str) -> Option<Inline> {
        None
    }

    fn alike(&self, _definition: &str) -> Option<String> {
        None
    }

    fn temporary_columns_query(&self, table: &str) -> String {
        self.columns_query(Some("pg_temp"), table)
    }

    fn read_temporary_column(&self, row: &[Value]) -> Result<TableColumn> {
        self.read_column(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_gives_names_and_types_to_the_table_of_its_rows() {
        let wanted =
            Wanted { elements: "(a)", options: "WITH (fillfactor = 70)", query: "SELECT 1" };
        assert_eq!(
            Postgres.probe(&wanted),
            "CREATE TEMPORARY TABLE pando_relation_probe (a) AS SELECT 1 WITH NO DATA"
        );
    }
}
