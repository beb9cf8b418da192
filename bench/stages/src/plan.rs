//! A parsed statement to a plan: rooms walked, routes found, texts rewritten, the merge prepared.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;

use pando_engine::plan::{Plan, Planned, Purpose, Template};
use pando_fake::{Still, table_column};
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{Catalog, SessionView};
use pando_kernel::{Context, Dialect, Effectful, Kind, Parameter, UnitName, Value};
use pando_rooms::Built;
use pando_sql::Shape;
use pando_sql::ast::Statement;

use crate::shop::{self, Family};
use crate::stage::{self, Stage};
use crate::{Failure, Outcome};

pub(crate) const STAGES: &[Stage] = &[
    stage::of("plan/point-select/text", "statement", |n| plan(shop::POINT_SELECT, None, n)),
    stage::of("plan/10000-nodes/text", "statement", |n| {
        repeat(&Desk::over(shop::MANY, Family::Postgres, shop::POINT_SELECT, None)?, n)
    }),
    stage::of("plan/point-select/prepared", "statement", |n| {
        let id = Parameter::made(Value::Int(50_127));
        plan(Family::Postgres.prepared(), Some(vec![id]), n)
    }),
    stage::of("plan/point-select/template", "statement", |times| {
        template(times, shop::FEW, shop::POINT_SELECT)
    }),
    stage::of("plan/10000-nodes/template", "statement", |times| {
        template(times, shop::MANY, shop::POINT_SELECT)
    }),
    stage::of("plan/order-by-limit/template", "statement", |times| {
        template(times, shop::FEW, shop::ORDERED)
    }),
    stage::of("plan/find-value/template", "statement", |n| template(n, shop::FEW, shop::FOUND)),
    stage::of("plan/find-value/template/encrypted", "statement", |n| {
        warm(&Desk::at(shop::encrypted(Family::Postgres, shop::FEW)?, shop::FOUND)?, shop::FOUND, n)
    }),
    stage::of("plan/point-select/template/encrypted", "statement", |n| {
        let built = shop::encrypted(Family::Postgres, shop::FEW)?;
        warm(&Desk::at(built, shop::POINT_SELECT)?, shop::POINT_SELECT, n)
    }),
    stage::of("plan/update/template", "statement", |n| template(n, shop::FEW, shop::UPDATE)),
    stage::of("plan/update/template/encrypted", "statement", |n| {
        warm(
            &Desk::at(shop::encrypted(Family::Postgres, shop::FEW)?, shop::UPDATE)?,
            shop::UPDATE,
            n,
        )
    }),
    stage::of("plan/insert", "statement", |n| plan(shop::INSERT, None, n)),
    stage::of("plan/order-by-limit", "statement", |n| plan(shop::ORDERED, None, n)),
    stage::of("plan/aggregate", "statement", |n| plan(shop::GROUPED, None, n)),
];

/// A statement with all that planning looks at.
pub(crate) struct Desk {
    built: Built,
    catalog: Known,
    session: SessionView,
    statement: Statement,
    parameters: Option<Vec<Parameter>>,
}

impl Desk {
    /// Parses the statement, about a table of ten data nodes.
    ///
    /// # Errors
    /// When it cannot be parsed.
    pub(crate) fn new(
        family: Family,
        text: &str,
        parameters: Option<Vec<Parameter>>,
    ) -> Outcome<Self> {
        Self::over(shop::FEW, family, text, parameters)
    }

    /// The same with so many data nodes on each storage unit.
    fn over(
        nodes: u32,
        family: Family,
        text: &str,
        parameters: Option<Vec<Parameter>>,
    ) -> Outcome<Self> {
        Ok(Self { parameters, ..Self::at(shop::built(family, nodes)?, text)? })
    }

    /// The same in this database.
    pub(crate) fn at(built: Built, text: &str) -> Outcome<Self> {
        let syntax = built.database.dialect.syntax();
        let statement = pando_sql::parse(text, syntax).map_err(|error| error.message)?;
        let mut session = SessionView::default();
        Arc::make_mut(&mut session.facts).database = Some(built.database.name.clone());
        Arc::make_mut(&mut session.facts).databases = Arc::from([built.database.name.clone()]);
        Ok(Self { built, catalog: Known::new(), session, statement, parameters: None })
    }

    /// Gives planning's context and the statement to `work`.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Context<'_>, &Statement) -> T) -> T {
        let context = Context {
            database: &self.built.database,
            catalog: &self.catalog,
            dialect: self.built.database.dialect.as_ref(),
            parameters: self.parameters.as_deref(),
            session: &self.session,
            source: &Still,
        };
        work(&context, &self.statement)
    }

    /// The dialect of its storage units.
    pub(crate) fn dialect(&self) -> &dyn Dialect {
        self.built.database.dialect.as_ref()
    }
}

fn plan(text: &str, parameters: Option<Vec<Parameter>>, times: u32) -> Outcome {
    repeat(&Desk::new(Family::Postgres, text, parameters)?, times)
}

fn repeat(desk: &Desk, times: u32) -> Outcome {
    desk.with(|context, statement| {
        for _ in 0..times {
            black_box(planned(context, black_box(statement))?);
        }
        Ok(())
    })
}

/// A shape that is known: what a hit of the template cache costs, but for finding the template.
fn template(times: u32, nodes: u32, text: &'static str) -> Outcome {
    warm(&Desk::over(nodes, Family::Postgres, text, None)?, text, times)
}

fn warm(desk: &Desk, text: &'static str, times: u32) -> Outcome {
    desk.with(|context, statement| {
        let syntax = context.dialect.syntax();
        let mut shape = Shape::default();
        let has_shape = shape.read(text, syntax);
        let plan = planned(context, statement)?;
        let template = Template::of(context, &Arc::new(statement.clone()), &shape, &plan);
        let template = template.filter(|_| has_shape);
        let template = template.ok_or_else(|| Failure::from("no template comes of it"))?;
        if template.plan(context, text, shape.slots()).is_none() {
            return Err("the template does not take its own statement".into());
        }
        for _ in 0..times {
            shape.read(black_box(text), syntax);
            black_box(template.plan(context, text, shape.slots()));
        }
        Ok(())
    })
}

/// Plans a statement.
///
/// # Errors
/// When planning refuses it, or wants to know more.
pub(crate) fn planned(context: &Context<'_>, statement: &Statement) -> Outcome<Box<Plan>> {
    match pando_engine::plan::plan(context, statement, Purpose::Run)? {
        Planned::Run(plan) => Ok(plan),
        Planned::Assembly(_) | Planned::Steps(_) | Planned::Needs(_) => {
            Err(Failure::from("no plan comes of it"))
        }
    }
}

/// The columns of the one table, as if they had been read.
#[derive(Debug)]
struct Known {
    columns: Arc<Vec<TableColumn>>,
    tables: Arc<HashMap<String, Vec<UnitName>>>,
}

impl Known {
    fn new() -> Self {
        let column = |name: &str, kind: Kind, type_name: &str| TableColumn {
            type_name: type_name.to_owned(),
            collation: if kind == Kind::Text { "C".to_owned() } else { String::new() },
            zone: None,
            primary_key: name == "id",
            nullable: false,
            invisible: false,
            timed: None,
            ..table_column(name, kind)
        };
        let columns = vec![
            column("id", Kind::Int, "integer"),
            column("k", Kind::Int, "integer"),
            column("c", Kind::Text, "character(120)"),
            column("pad", Kind::Text, "character(60)"),
        ];
        Self { columns: Arc::new(columns), tables: Arc::default() }
    }
}

impl Catalog for Known {
    fn columns(&self, _table: &str) -> Option<Arc<Vec<TableColumn>>> {
        Some(Arc::clone(&self.columns))
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        Some(Arc::clone(&self.tables))
    }

    fn effectful(&self, _unit: &str) -> Option<Arc<Effectful>> {
        Some(Arc::default())
    }
}
