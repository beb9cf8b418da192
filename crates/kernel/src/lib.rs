//! The nouns that travel the line and the traits at its joints. No I/O.

pub mod administration;
pub mod alone;
pub mod backend;
pub mod column;
pub mod dialect;
pub mod error;
pub mod event;
pub mod feature;
pub mod merge;
pub mod presentation;
pub mod relation;
pub mod request;
pub mod route;
pub mod row;
pub mod runtime;
pub mod session;
pub mod shortcut;
pub mod transfer;
pub mod value;

pub use administration::Administration;
pub use alone::Alone;
pub use backend::{Backend, CancelToken, Condition, Connector, Execution};
pub use column::{Attribute, Column, Columns, Format, Native};
pub use dialect::Dialect;
pub use error::{Error, ErrorKind, Result, ServerError, Side};
pub use event::{Completion, CopyForm, CopyInput, Description, Event};
pub use feature::{Context, Database, Feature};
pub use merge::MergePlan;
pub use presentation::Presentation;
pub use request::{CursorId, Execute, Parameter, Pipeline, Prepared, Request};
pub use route::{Route, Target, UnitName};
pub use row::{Cell, NeutralCodec, RowCodec, Rows};
pub use shortcut::Shortcut;
pub use value::{Kind, Value};
