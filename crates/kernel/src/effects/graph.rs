//! Who may run what: from routines and relations to the names in their texts, and to what these may leave.

use std::collections::HashMap;

use super::said::{Said, Stands};
use super::{Effectful, Effects, Leaves};

/// What a name or number in [`Graph::at`] is one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// What stands in no text and may run with everything. One of it; its name is empty.
    All,
    /// All routines: what runs texts that it is given may run any of them. One of it; its name is empty.
    Any,
    /// A routine by what tells it from others of its name. One that nothing was told of may leave anything.
    Routine,
    /// Functions of a name, called with a parenthesis behind it.
    Call,
    /// A relation that is read.
    Read,
    /// A relation that is written.
    Write,
    /// What a name may stand for anywhere in a text.
    Name,
    /// What a name may stand for in a text that writes.
    Written,
}

/// A place in a [`Graph`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(usize);

#[derive(Debug, Default)]
struct Node {
    leaves: Leaves,
    is_told: bool,
    /// Who may run it.
    from: Vec<usize>,
}

/// Grows by what a family reads of a unit, and is solved once.
#[derive(Debug, Default)]
pub struct Graph {
    places: HashMap<(Space, String), usize>,
    nodes: Vec<Node>,
    texts: Vec<(usize, Vec<Said>)>,
}

impl Graph {
    /// The place of a thing, in lower case where it is a name.
    pub fn at(&mut self, space: Space, name: &str) -> Place {
        let nodes = &mut self.nodes;
        let place = self.places.entry((space, name.to_owned())).or_insert_with(|| {
            nodes.push(Node::default());
            nodes.len() - 1
        });
        Place(*place)
    }

    /// It may leave this by itself.
    pub fn leaves(&mut self, place: Place, leaves: Leaves) {
        if let Some(node) = self.nodes.get_mut(place.0) {
            node.leaves = node.leaves.max(leaves);
            node.is_told = true;
        }
    }

    /// Whatever the second may leave, the first may.
    pub fn leads(&mut self, from: Place, to: Place) {
        if let Some(node) = self.nodes.get_mut(to.0) {
            node.from.push(from.0);
        }
    }

    /// It runs a text in which these names stand.
    pub fn says(&mut self, place: Place, text: Vec<Said>) {
        self.texts.push((place.0, text));
    }

    /// It may run any routine there is, and leaves some state at least.
    pub fn runs_any(&mut self, place: Place) {
        let any = self.at(Space::Any, "");
        self.leads(place, any);
        self.leaves(place, Leaves::State);
    }

    /// What all names may leave.
    pub fn solved(mut self, effects: &dyn Effects) -> Effectful {
        self.resolve(effects);
        self.spread();
        let mut effectful = Effectful { unknown: Leaves::State, ..Effectful::default() };
        for ((space, name), at) in self.places {
            let leaves = self.nodes.get(at).map_or(Leaves::Definitions, |node| node.leaves);
            let names = match space {
                Space::All => {
                    effectful.everything = leaves;
                    continue;
                }
                Space::Any => {
                    effectful.unknown = effectful.unknown.max(leaves);
                    continue;
                }
                Space::Routine | Space::Read | Space::Write => continue,
                // Those that leave nothing are known by being here.
                Space::Call => {
                    effectful.calls.insert(name, leaves);
                    continue;
                }
                Space::Name => &mut effectful.names,
                Space::Written => &mut effectful.written,
            };
            if leaves > Leaves::Nothing {
                names.insert(name, leaves);
            }
        }
        effectful
    }

    /// Leads from texts to what is named in them, as [`Effectful::of`] judges statements.
    fn resolve(&mut self, effects: &dyn Effects) {
        let any = self.at(Space::Any, "");
        let routines: Vec<usize> = self
            .places
            .iter()
            .filter_map(|((space, _), at)| (*space == Space::Routine).then_some(*at))
            .collect();
        for at in routines {
            self.leads(any, Place(at));
            if let Some(node) = self.nodes.get_mut(at).filter(|node| !node.is_told) {
                node.leaves = Leaves::Definitions;
            }
        }
        for (place, text) in std::mem::take(&mut self.texts) {
            for Said { name, stands } in text {
                let mut key = (Space::Name, name);
                let mut found = |places: &HashMap<_, usize>, space| {
                    key.0 = space;
                    places.get(&key).copied()
                };
                let named = [Space::Name, Space::Written].map(|one| found(&self.places, one));
                let called = found(&self.places, Space::Call);
                let is_called = stands != Stands::Alone;
                let called = called.filter(|_| is_called);
                if stands == Stands::Called && called.is_none() && !effects.is_harmless(&key.1) {
                    self.runs_any(Place(place));
                }
                for to in named.into_iter().chain([called]).flatten() {
                    self.leads(Place(place), Place(to));
                }
            }
        }
    }

    /// Carries what is left to all who may run it.
    fn spread(&mut self) {
        for leaves in [Leaves::Definitions, Leaves::Anything, Leaves::State] {
            let is_it = |(at, node): (usize, &Node)| (node.leaves == leaves).then_some(at);
            let mut open: Vec<usize> = self.nodes.iter().enumerate().filter_map(is_it).collect();
            while let Some(at) = open.pop() {
                let Some(node) = self.nodes.get_mut(at) else { continue };
                for from in std::mem::take(&mut node.from) {
                    if let Some(node) = self.nodes.get_mut(from)
                        && node.leaves < leaves
                    {
                        node.leaves = leaves;
                        open.push(from);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    #[derive(Debug)]
    struct Few;

    impl Effects for Few {
        fn query(&self) -> &'static str {
            ""
        }

        fn read(&self, _: &[Vec<Value>]) -> Effectful {
            Effectful::default()
        }

        fn is_harmless(&self, function: &str) -> bool {
            function == "lower"
        }
    }

    fn called(name: &str) -> Said {
        Said { name: name.to_owned(), stands: Stands::Called }
    }

    fn function(graph: &mut Graph, name: &str, (leaves, says): (Leaves, Vec<Said>)) {
        let (call, routine) = (graph.at(Space::Call, name), graph.at(Space::Routine, name));
        graph.leads(call, routine);
        graph.leaves(routine, leaves);
        graph.says(routine, says);
    }

    #[test]
    fn what_a_routine_calls_it_may_leave() {
        let mut graph = Graph::default();
        function(&mut graph, "a", (Leaves::Nothing, vec![called("b"), called("lower")]));
        function(&mut graph, "b", (Leaves::Nothing, vec![called("c")]));
        function(&mut graph, "c", (Leaves::State, Vec::new()));
        function(&mut graph, "alone", (Leaves::Nothing, vec![called("alone"), called("lower")]));
        let found = graph.solved(&Few);
        let of = |name: &str| found.calls.get(name).copied();
        assert_eq!([of("a"), of("b"), of("c")], [Some(Leaves::State); 3]);
        assert_eq!((of("alone"), of("other")), (Some(Leaves::Nothing), None));
    }

    #[test]
    fn what_is_not_known_may_run_the_worst_there_is() {
        let mut graph = Graph::default();
        function(&mut graph, "a", (Leaves::Nothing, vec![called("stranger")]));
        function(&mut graph, "worst", (Leaves::Definitions, Vec::new()));
        let found = graph.solved(&Few);
        assert_eq!(found.calls.get("a"), Some(&Leaves::Definitions));
        assert_eq!(found.unknown, Leaves::Definitions);
        let mut graph = Graph::default();
        function(&mut graph, "a", (Leaves::Nothing, vec![called("stranger")]));
        assert_eq!(graph.solved(&Few).calls.get("a"), Some(&Leaves::State));
    }

    #[test]
    fn a_routine_of_which_nothing_was_told_may_leave_anything() {
        let mut graph = Graph::default();
        let (table, routine) = (graph.at(Space::Written, "t"), graph.at(Space::Routine, "7"));
        graph.leads(table, routine);
        assert_eq!(graph.solved(&Few).written.get("t"), Some(&Leaves::Definitions));
    }

    #[test]
    fn tables_count_wherever_they_are_named() {
        let mut graph = Graph::default();
        let log = graph.at(Space::Written, "log");
        graph.leaves(log, Leaves::State);
        let alone = Said { name: "log".to_owned(), stands: Stands::Alone };
        function(&mut graph, "writes", (Leaves::Nothing, vec![alone]));
        assert_eq!(graph.solved(&Few).calls.get("writes"), Some(&Leaves::State));
    }
}
