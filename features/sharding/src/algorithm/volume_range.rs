//! `VOLUME_RANGE`: parts of equal size between two bounds, and one part on either side.

use std::sync::Arc;

use pando_config::Problem;

use super::numbered::{MOST_SHARDS, Numbered};
use super::partition::Partition;
use super::props::Reader;
use super::{Algorithm, Standard, Targets};

#[derive(Debug)]
struct VolumeRange {
    points: Vec<i64>,
}

pub(super) fn build(config: &pando_config::Algorithm) -> Result<Arc<dyn Algorithm>, Problem> {
    let mut props = Reader::new(config);
    let lower = props.integer("range-lower", i64::MIN..=i64::MAX)?;
    let upper = props.integer("range-upper", i64::MIN..=i64::MAX)?;
    let volume = props.integer("sharding-volume", 1..=i64::MAX)?;
    let at = props.at();
    props.finish()?;
    let width = i128::from(upper) - i128::from(lower);
    if width < i128::from(volume) {
        let message = format!(
            "`range-upper` {upper} is not at least one `sharding-volume` {volume} above `range-lower` {lower}"
        );
        return Err(at.problem(message));
    }
    if width / i128::from(volume) >= i128::from(MOST_SHARDS) {
        return Err(at.problem(format!("more than {MOST_SHARDS} shards")));
    }
    let steps = (0..).map(|i| i128::from(lower) + i * i128::from(volume));
    let inner = steps.take_while(|point| *point < i128::from(upper));
    let points = inner.chain([i128::from(upper)]).filter_map(|point| i64::try_from(point).ok());
    Ok(Arc::new(VolumeRange { points: points.collect() }))
}

impl Algorithm for VolumeRange {
    fn kind(&self) -> &'static str {
        "VOLUME_RANGE"
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
