//! How mirrors are shown.

use pando_health::Moment;
use pando_kernel::mirror::{Counts, Difference, Report};

/// A row of SHOW STATUS FROM MIRROR RULES.
pub(crate) fn counts(report: &Report) -> Vec<Option<String>> {
    let Counts { copied, waiting, equal, different, failed, dropped, passed_over } = report.counts;
    let names = [report.rule.clone(), report.source.to_string(), report.mirror.to_string()];
    let counted = [copied, waiting, equal, different, failed, dropped, passed_over];
    names.into_iter().chain(counted.map(|count| count.to_string())).map(Some).collect()
}

/// The rows of SHOW DIFFERENCES FROM MIRROR RULES, the newest last.
pub(crate) fn differences(report: &Report) -> Vec<Vec<Option<String>>> {
    let row = |own: &Difference| {
        let texts = [
            report.rule.clone(),
            Moment::of(own.at).to_string(),
            own.what.to_owned(),
            own.source.clone(),
            own.mirror.clone(),
            own.statement.clone(),
        ];
        texts.map(Some).to_vec()
    };
    report.differences.iter().map(row).collect()
}
