//! The idle connections, near those who will use them.
#![expect(clippy::vec_box, reason = "who borrows one takes the box along: a pointer moves")]

use std::collections::VecDeque;

use crate::live::Live;

/// One place for each event loop. A connection lies at the loop nearest to where its server's bytes arrive, or, where
/// nothing is known of that, at the loop that used it: who takes it from there wakes a server on its own core and is woken by one.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    places: Vec<Place>,
    count: usize,
}

/// What lies at one loop.
#[derive(Debug, Default)]
struct Place {
    /// The most recently used last.
    stack: Vec<Box<Live>>,
    /// Those that came back to clean themselves, the newest last: the others are taken before, and of these the one that has had most time for it.
    cleaning: VecDeque<Box<Live>>,
}

impl Place {
    fn len(&self) -> usize {
        self.stack.len() + self.cleaning.len()
    }

    fn pop(&mut self) -> Option<Box<Live>> {
        self.stack.pop().or_else(|| self.cleaning.pop_front())
    }
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
        if self.places.len() <= near {
            self.places.resize_with(near + 1, Place::default);
        }
        if let Some(place) = self.places.get_mut(near) {
            match live.memory.is_cleaning {
                false => place.stack.push(live),
                true => place.cleaning.push_back(live),
            }
            self.count += 1;
        }
    }

    /// Whether one is near this loop.
    pub(crate) fn is_near(&self, event_loop: usize) -> bool {
        self.places.get(event_loop).is_some_and(|place| place.len() > 0)
    }

    /// The one used last near this loop; where there is none, from the loop that has most.
    pub(crate) fn pop(&mut self, event_loop: usize) -> Option<Box<Live>> {
        let own = self.places.get_mut(event_loop).and_then(Place::pop);
        let live = match own {
            Some(live) => live,
            None => self.places.iter_mut().max_by_key(|place| place.len())?.pop()?,
        };
        self.count -= 1;
        Some(live)
    }

    /// Takes out those that are chosen, of each loop from the least recently used.
    pub(crate) fn extract(&mut self, mut chosen: impl FnMut(&Live) -> bool) -> Vec<Box<Live>> {
        let mut found = Vec::new();
        for place in &mut self.places {
            found.extend(place.stack.extract_if(.., |live| chosen(live)));
            let (out, kept) = place.cleaning.drain(..).partition(|live| chosen(live));
            place.cleaning = kept;
            found.extend::<VecDeque<_>>(out);
        }
        self.count -= found.len();
        found
    }

    /// Takes out those that are chosen, of each loop from the most recently used up to one that is not.
    pub(crate) fn extract_recent(
        &mut self,
        mut chosen: impl FnMut(&mut Live) -> bool,
    ) -> Vec<Box<Live>> {
        let mut found = Vec::new();
        for place in &mut self.places {
            while let Some(live) = place.stack.pop_if(|live| chosen(live)) {
                found.push(live);
            }
            while let Some(live) = place.cleaning.pop_back_if(|live| chosen(live)) {
                found.push(live);
            }
        }
        self.count -= found.len();
        found
    }
}
