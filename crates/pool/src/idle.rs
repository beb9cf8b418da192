//! The idle connections, near those who will use them.
#![expect(clippy::vec_box, reason = "who borrows one takes the box along: a pointer moves")]

use crate::live::Live;

/// One stack for each event loop, the most recently used last. A connection lies on the stack of the loop nearest to where its server's bytes arrive, or, where
/// nothing is known of that, of the loop that used it: who takes it from there wakes a server on its own core and is woken by one.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    stacks: Vec<Vec<Box<Live>>>,
    count: usize,
}

impl Idle {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Lays down what was used on this loop.
    pub(crate) fn push(&mut self, event_loop: usize, live: Box<Live>) {
        let near = match live.near.event_loop() {
            0 => event_loop,
            near => near,
        };
        if self.stacks.len() <= near {
            self.stacks.resize_with(near + 1, Vec::new);
        }
        if let Some(stack) = self.stacks.get_mut(near) {
            stack.push(live);
            self.count += 1;
        }
    }

    /// Whether one is near this loop.
    pub(crate) fn is_near(&self, event_loop: usize) -> bool {
        self.stacks.get(event_loop).is_some_and(|stack| !stack.is_empty())
    }

    /// The one used last near this loop; where there is none, from the loop that has most.
    pub(crate) fn pop(&mut self, event_loop: usize) -> Option<Box<Live>> {
        let own = self.stacks.get_mut(event_loop).and_then(Vec::pop);
        let live = match own {
            Some(live) => live,
            None => self.stacks.iter_mut().max_by_key(|stack| stack.len())?.pop()?,
        };
        self.count -= 1;
        Some(live)
    }

    /// Takes out those that are chosen, of each stack from the least recently used.
    pub(crate) fn extract(&mut self, mut chosen: impl FnMut(&Live) -> bool) -> Vec<Box<Live>> {
        let mut found = Vec::new();
        for stack in &mut self.stacks {
            found.extend(stack.extract_if(.., |live| chosen(live)));
        }
        self.count -= found.len();
        found
    }

    /// Takes out those that are chosen, of each stack from the most recently used up to one that is not.
    pub(crate) fn extract_recent(
        &mut self,
        mut chosen: impl FnMut(&mut Live) -> bool,
    ) -> Vec<Box<Live>> {
        let mut found = Vec::new();
        for stack in &mut self.stacks {
            while let Some(live) = stack.pop_if(|live| chosen(live)) {
                found.push(live);
            }
        }
        self.count -= found.len();
        found
    }
}
