//! Circles in a graph of files: those that lead to each other.

use std::collections::{BTreeMap, BTreeSet};

/// From each file to those that it uses.
pub(crate) type Graph = BTreeMap<String, BTreeSet<String>>;

/// The sets of files each of which leads to all others of its set, largest first; a file alone is none.
pub(super) fn circles(graph: &Graph) -> Vec<Vec<String>> {
    let back = reversed(graph);
    let mut seen = BTreeSet::new();
    let mut order = Vec::new();
    for start in graph.keys() {
        visit(graph, start, &mut seen, &mut order);
    }
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut seen = BTreeSet::new();
    for start in order.into_iter().rev() {
        let mut circle = Vec::new();
        visit(&back, start, &mut seen, &mut circle);
        circle.sort_unstable();
        found.push(circle.into_iter().map(str::to_owned).collect());
    }
    found.retain(|circle| circle.len() > 1);
    found.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    found
}

fn reversed(graph: &Graph) -> Graph {
    let mut back = Graph::new();
    for (from, all) in graph {
        back.entry(from.clone()).or_default();
        for to in all {
            back.entry(to.clone()).or_default().insert(from.clone());
        }
    }
    back
}

/// Walks in depth from a file and notes each that was not seen once all behind it are. Without recursion: a graph may
/// be deep.
fn visit<'g>(
    graph: &'g Graph,
    start: &'g str,
    seen: &mut BTreeSet<&'g str>,
    order: &mut Vec<&'g str>,
) {
    enum Step<'g> {
        Enter(&'g str),
        Leave(&'g str),
    }
    let mut steps = vec![Step::Enter(start)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Leave(file) => order.push(file),
            Step::Enter(file) => {
                if !seen.insert(file) {
                    continue;
                }
                steps.push(Step::Leave(file));
                let next = graph.get(file).into_iter().flatten();
                steps.extend(next.map(|to| Step::Enter(to.as_str())));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &str)]) -> Graph {
        let mut graph = Graph::new();
        for (from, to) in edges {
            graph.entry((*from).into()).or_default().insert((*to).into());
            graph.entry((*to).into()).or_default();
        }
        graph
    }

    #[test]
    fn files_that_lead_to_each_other_are_a_circle() {
        let graph = graph(&[
            ("a", "b"),
            ("b", "c"),
            ("c", "a"),
            ("c", "d"),
            ("d", "e"),
            ("e", "d"),
            ("x", "a"),
        ]);
        assert_eq!(circles(&graph), [vec!["a", "b", "c"], vec!["d", "e"]]);
    }

    #[test]
    fn a_line_of_files_is_no_circle() {
        assert!(circles(&graph(&[("a", "b"), ("b", "c"), ("a", "c"), ("a", "a")])).is_empty());
    }
}
