//! `BOUNDARY_RANGE`: parts cut at the given numbers.

use std::sync::Arc;

use pando_config::Problem;

use super::numbered::{MOST_SHARDS, Numbered};
use super::partition::Partition;
use super::props::Reader;
use super::{Algorithm, Standard, Targets};

#[derive(Debug)]
struct BoundaryRange {
    points: Vec<i64>,
}

pub(super) fn build(config: &pando_config::Algorithm) -> Result<Arc<dyn Algorithm>, Problem> {
    let mut props = Reader::new(config);
    let text = props.text("sharding-ranges")?;
    props.finish()?;
    let mut points = Vec::new();
    for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let Ok(point) = item.parse::<i64>() else {
            let message =
                format!("property `sharding-ranges`: expected whole numbers, found `{item}`");
            return Err(text.at.problem(message));
        };
        points.push(point);
    }
    points.sort_unstable();
    points.dedup();
    if points.is_empty() || points.len() as i64 >= MOST_SHARDS {
        let message = format!("property `sharding-ranges`: expected 1 to {MOST_SHARDS} numbers");
        return Err(text.at.problem(message));
    }
    Ok(Arc::new(BoundaryRange { points }))
}

impl Algorithm for BoundaryRange {
    fn kind(&self) -> &'static str {
        "BOUNDARY_RANGE"
    }

    fn shards(&self) -> Option<usize> {
        Some(self.points.len() + 1)
    }

    fn standard(&self, _column: &str, targets: &Targets) -> Result<Arc<dyn Standard>, String> {
        let numbered = Numbered::new(targets, self.points.len() + 1, 0);
        Ok(Arc::new(Partition { points: self.points.clone(), targets: numbered }))
    }

    fn structure(&self, _columns: &[String], _prefix: &str) -> String {
        format!("range {:?}", self.points)
    }
}
