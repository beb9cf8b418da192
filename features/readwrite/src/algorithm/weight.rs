//! Units in proportion to their weights.

use pando_config::{Algorithm, Placed, Problem};
use pando_kernel::error::Result;

use super::{Asked, Balancer};

/// One share per unit, in unit order.
#[derive(Debug)]
pub(super) struct Weight {
    shares: Vec<f64>,
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
        let mut shares = Vec::with_capacity(reads.len());
        for read in reads {
            let missing = || algorithm.at.problem(format!("read unit `{read}` has no weight"));
            shares.push(weight(props.get(read).ok_or_else(missing)?)?);
        }
        let total: f64 = shares.iter().sum();
        if total > 0.0 && total.is_finite() {
            Ok(Self { shares })
        } else {
            Err(algorithm.at.problem("the weights must have a finite sum above 0"))
        }
    }
}

impl Balancer for Weight {
    fn choose(&self, asked: &Asked<'_>) -> Result<Option<usize>> {
        let among = asked.among;
        let share = |unit: &usize| self.shares.get(*unit).copied().unwrap_or_default();
        let total: f64 = among.iter().map(share).sum();
        let mut bytes = [0; 8];
        asked.source.random(&mut bytes);
        // 53 bits are what a double holds exactly: the point is below the total.
        let mut left = (u64::from_le_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64 * total;
        let mut last = None;
        for unit in among.iter().filter(|unit| share(unit) > 0.0) {
            left -= share(unit);
            last = Some(*unit);
            if left < 0.0 {
                break;
            }
        }
        Ok(last)
    }
}

fn weight(text: &Placed<String>) -> Result<f64, Problem> {
    let number = text.trim().parse::<f64>().ok();
    number.filter(|weight| weight.is_finite() && *weight >= 0.0).ok_or_else(|| {
        text.at.problem(format!("weight `{}` must be a number of at least 0", text.value))
    })
}
