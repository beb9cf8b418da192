//! How many statements run at once: a counter, and a queue in which later ones wait for the end of earlier ones.
//!
//! While nobody waits, entering and leaving is one atomic operation each. Who comes while others wait stands behind them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The gate. What may be inside at most can be altered at any time; who is inside stays.
#[derive(Debug)]
pub(crate) struct Gate {
    most: AtomicUsize,
    inside: AtomicUsize,
    /// As many as stand in the queue.
    waiting: AtomicUsize,
    queue: Mutex<VecDeque<Arc<Ticket>>>,
}

/// A place in the queue.
#[derive(Debug, Default)]
struct Ticket {
    granted: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

/// Who stands in the queue; dropped, he leaves it.
#[derive(Debug)]
pub(crate) struct Place<H: HasGate> {
    gate: Arc<H>,
    ticket: Arc<Ticket>,
    has_entered: bool,
}

/// What a gate belongs to.
pub(crate) trait HasGate {
    fn gate(&self) -> &Gate;
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            most: AtomicUsize::new(usize::MAX),
            inside: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            queue: Mutex::default(),
        }
    }
}

impl Gate {
    /// From now on so many may be inside.
    pub(crate) fn allow(&self, most: usize) {
        if self.most.swap(most, Ordering::SeqCst) != most {
            self.serve();
        }
    }

    /// Enters if there is room and nobody waits.
    pub(crate) fn try_enter(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) == 0 && self.take()
    }

    /// Somebody is inside no more.
    pub(crate) fn leave(&self) {
        self.inside.fetch_sub(1, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.serve();
        }
    }

    pub(crate) fn inside(&self) -> usize {
        self.inside.load(Ordering::Relaxed)
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    fn take(&self) -> bool {
        let most = self.most.load(Ordering::SeqCst);
        let one_more = |inside: usize| (inside < most).then_some(inside + 1);
        self.inside.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).is_ok()
    }

    /// Lets in who waits, in order, as far as there is room.
    fn serve(&self) {
        let mut woken = Vec::new();
        {
            let mut queue = self.queue();
            while !queue.is_empty() && self.take() {
                let Some(ticket) = queue.pop_front() else { break };
                ticket.granted.store(true, Ordering::SeqCst);
                woken.extend(ticket.waker().take());
            }
            self.waiting.store(queue.len(), Ordering::SeqCst);
        }
        woken.into_iter().for_each(Waker::wake);
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<Arc<Ticket>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    fn waker(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<H: HasGate> Place<H> {
    /// Stands in the queue, behind all others; `None` where `longest` stand there already.
    pub(crate) fn last(of: &Arc<H>, longest: usize) -> Option<Self> {
        let (gate, ticket) = (of.gate(), Arc::<Ticket>::default());
        {
            let mut queue = gate.queue();
            if queue.len() >= longest {
                return None;
            }
            queue.push_back(Arc::clone(&ticket));
            gate.waiting.store(queue.len(), Ordering::SeqCst);
        }
        // Who left before this was seen has served nobody.
        gate.serve();
        Some(Self { gate: Arc::clone(of), ticket, has_entered: false })
    }

    /// Whether he is inside now.
    pub(crate) fn poll_entered(&mut self, task: &Context<'_>) -> Poll<()> {
        {
            let mut waker = self.ticket.waker();
            if !self.ticket.granted.load(Ordering::SeqCst) {
                *waker = Some(task.waker().clone());
                return Poll::Pending;
            }
        }
        self.has_entered = true;
        Poll::Ready(())
    }
}

impl<H: HasGate> Drop for Place<H> {
    fn drop(&mut self) {
        if self.has_entered {
            return;
        }
        let gate = self.gate.gate();
        {
            let mut queue = gate.queue();
            queue.retain(|ticket| !Arc::ptr_eq(ticket, &self.ticket));
            gate.waiting.store(queue.len(), Ordering::SeqCst);
        }
        if self.ticket.granted.load(Ordering::SeqCst) {
            gate.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl HasGate for Gate {
        fn gate(&self) -> &Gate {
            self
        }
    }

    fn gate(most: usize) -> Arc<Gate> {
        let gate = Arc::new(Gate::default());
        gate.allow(most);
        gate
    }

    fn is_in(place: &mut Place<Gate>) -> bool {
        place.poll_entered(&Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn who_waits_enters_in_order_when_others_leave() {
        let gate = gate(1);
        assert!(gate.try_enter());
        let mut first = Place::last(&gate, 2).unwrap();
        let mut second = Place::last(&gate, 2).unwrap();
        assert!(Place::last(&gate, 2).is_none(), "the queue is full");
        assert!(!gate.try_enter() && !is_in(&mut first));
        gate.leave();
        assert!(!is_in(&mut second) && is_in(&mut first));
        gate.leave();
        assert!(is_in(&mut second));
        assert_eq!((gate.inside(), gate.waiting()), (1, 0));
    }

    #[test]
    fn who_comes_while_others_wait_does_not_overtake() {
        let gate = gate(1);
        assert!(gate.try_enter());
        let _first = Place::last(&gate, 9).unwrap();
        gate.leave();
        let mut late = Place::last(&gate, 9).unwrap();
        assert!(!gate.try_enter() && !is_in(&mut late));
    }

    #[test]
    fn a_place_that_is_given_up_goes_to_the_next() {
        let gate = gate(1);
        assert!(gate.try_enter());
        let first = Place::last(&gate, 9).unwrap();
        let granted = Place::last(&gate, 9).unwrap();
        let mut third = Place::last(&gate, 9).unwrap();
        drop(first);
        gate.leave();
        drop(granted);
        assert!(is_in(&mut third));
        gate.leave();
        assert_eq!((gate.inside(), gate.waiting()), (0, 0));
    }

    #[test]
    fn a_larger_limit_lets_in_who_waits_and_a_smaller_one_lets_who_is_in_stay() {
        let gate = gate(1);
        assert!(gate.try_enter());
        let mut first = Place::last(&gate, 9).unwrap();
        gate.allow(2);
        assert!(is_in(&mut first));
        gate.allow(1);
        gate.leave();
        assert!(!gate.try_enter());
        gate.leave();
        assert!(gate.try_enter());
    }

    #[test]
    fn there_are_never_more_inside_than_may_be_and_nobody_is_forgotten() {
        let (gate, most) = (gate(3), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        if !gate.try_enter() {
                            let mut place = Place::last(&gate, 100).unwrap();
                            while !is_in(&mut place) {
                                std::thread::yield_now();
                            }
                        }
                        most.fetch_max(gate.inside(), Ordering::Relaxed);
                        gate.leave();
                    }
                });
            }
        });
        assert!(most.load(Ordering::Relaxed) <= 3);
        assert_eq!((gate.inside(), gate.waiting()), (0, 0));
    }
}
