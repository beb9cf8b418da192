//! Units in proportion to their weights.

use pando_config::{Algorithm, Placed, Problem};
use pando_kernel::feature::Source;

use super::Balancer;

/// Upper ends of the units' shares of `0.0..total`, in unit order, ascending.
#[derive(Debug)]
pub(super) struct Weight {
    ends: Vec<f64>,
    total: f64,
}

impl Weight {
    /// Properties are `<read unit>: <weight>`: one for each read unit of the group, finite, not negative, at least one above 0.
    pub(super) fn new(algorithm: &Algorithm, reads: &[&str]) -> Result<Self, Problem> {
        let props = &algorithm.props;
        if let Some((name, _)) = props.iter().find(|(name, _)| !reads.contains(&name.as_str())) {
            let message =
                format!("weight for `{}`, which the group does not read from", name.value);
            return Err(name.at.problem(message));
        }
        let mut total = 0.0;
        let mut ends = Vec::with_capacity(reads.len());
        for read in reads {
            let missing = || algorithm.at.problem(format!("read unit `{read}` has no weight"));
            total += weight(props.get(read).ok_or_else(missing)?)?;
            ends.push(total);
        }
        if total > 0.0 && total.is_finite() {
            Ok(Self { ends, total })
        } else {
            Err(algorithm.at.problem("the weights must have a finite sum above 0"))
        }
    }
}

impl Balancer for Weight {
    fn choose(&self, count: usize, _ticket: u64, source: &dyn Source) -> usize {
        let mut bytes = [0; 8];
        source.random(&mut bytes);
        // 53 bits are what a double holds exactly: the point is below the total.
        let point = (u64::from_le_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64 * self.total;
        self.ends.iter().take(count).position(|end| point < *end).unwrap_or(count - 1)
    }
}

fn weight(text: &Placed<String>) -> Result<f64, Problem> {
    let number = text.trim().parse::<f64>().ok();
    number.filter(|weight| weight.is_finite() && *weight >= 0.0).ok_or_else(|| {
        text.at.problem(format!("weight `{}` must be a number of at least 0", text.value))
    })
}
