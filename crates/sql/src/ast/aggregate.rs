//! Which calls are aggregates.

use super::Function;

/// Aggregates of the vendors, in lower case.
const KNOWN: &[&str] = &[
    "any_value",
    "approx_count_distinct",
    "array_agg",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "corr",
    "count",
    "covar_pop",
    "covar_samp",
    "cume_dist",
    "every",
    "group_concat",
    "grouping",
    "json_agg",
    "json_arrayagg",
    "json_object_agg",
    "json_objectagg",
    "jsonb_agg",
    "jsonb_object_agg",
    "max",
    "median",
    "min",
    "mode",
    "percentile_cont",
    "percentile_disc",
    "range_agg",
    "range_intersect_agg",
    "regr_avgx",
    "regr_avgy",
    "regr_count",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "string_agg",
    "sum",
    "total",
    "var_pop",
    "var_samp",
    "variance",
    "xmlagg",
];

impl Function {
    /// The name without its schema, in lower case.
    pub fn plain_name(&self) -> String {
        self.name.parts.last().map(|part| part.value.to_lowercase()).unwrap_or_default()
    }

    /// Whether this call is an aggregate, or one used as a window function: by its name, or by clauses that only aggregates take. One that
    /// users have made themselves is not known by its name.
    pub fn is_aggregate(&self) -> bool {
        let marked = self.star
            || self.distinct.is_some()
            || self.filter.is_some()
            || self.within_group.is_some()
            || !self.order_by.is_empty();
        marked || KNOWN.binary_search(&self.plain_name().as_str()).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::KNOWN;

    #[test]
    fn the_list_of_aggregates_is_sorted() {
        assert!(KNOWN.is_sorted());
    }
}
