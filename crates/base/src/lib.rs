//! BASE transactions: what each storage unit has committed can be taken back by images of its changed rows.

mod ask;
mod concern;
mod finish;
mod global;
mod image;
mod lock;
mod packed;
mod plan;
mod recover;
mod reply;
mod restore;
mod rollback;
mod rows;
mod run;
mod table;
mod text;
mod unit;

pub use concern::{Concern, concern};
pub use global::{Field, Global, LIMIT, admits};
pub use image::{Change, Image, Row, Shape, ShapeColumn};
pub use plan::Plan;
pub use recover::Open;
pub use reply::Reply;
pub use rollback::Undone;
pub use table::{Table, TableName};
pub use text::Call;
pub use unit::{Bounds, Branch, Unit, Waiting};
