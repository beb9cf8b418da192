//! Lists of columns that many replies share.

use std::sync::{Arc, Mutex, TryLockError};

use crate::column::Column;

/// Lists kept at most, and columns of the longest one: about a megabyte together at the most.
const KEPT: usize = 64;
const LONGEST: usize = 64;

/// Makes one list of equal ones, so that later looks compare two addresses instead of two lists. Each connection reads the columns of a statement once; without
/// this each had a list of its own.
#[derive(Debug, Default)]
pub struct Lists {
    /// The one met last in front.
    kept: Mutex<Vec<Arc<[Column]>>>,
}

impl Lists {
    /// A list equal to this one: the one that was met first, as long as it is kept. Waits for nobody: while another looks, the list itself is given.
    pub fn shared(&self, list: Arc<[Column]>) -> Arc<[Column]> {
        if list.len() > LONGEST {
            return list;
        }
        let mut kept = match self.kept.try_lock() {
            Ok(kept) => kept,
            Err(TryLockError::Poisoned(kept)) => kept.into_inner(),
            Err(TryLockError::WouldBlock) => return list,
        };
        match kept.iter().position(|known| *known == list) {
            Some(at) => {
                let known = kept.remove(at);
                kept.insert(0, Arc::clone(&known));
                known
            }
            None => {
                kept.truncate(KEPT - 1);
                kept.insert(0, Arc::clone(&list));
                list
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Kind;

    fn list(names: &[&str]) -> Arc<[Column]> {
        names.iter().map(|name| Column::computed(*name, Kind::Int)).collect()
    }

    #[test]
    fn equal_lists_become_one_as_long_as_it_is_kept() {
        let lists = Lists::default();
        let first = lists.shared(list(&["a", "b"]));
        assert!(Arc::ptr_eq(&first, &lists.shared(list(&["a", "b"]))));
        assert!(!Arc::ptr_eq(&first, &lists.shared(list(&["a"]))));
        for n in 0..KEPT - 1 {
            lists.shared(list(&[&n.to_string()]));
            assert!(Arc::ptr_eq(&first, &lists.shared(list(&["a", "b"]))), "after {n}");
        }
        for n in 0..KEPT {
            lists.shared(list(&[&n.to_string(), ""]));
        }
        let other = lists.shared(list(&["a", "b"]));
        assert!(*first == *other && !Arc::ptr_eq(&first, &other));
    }

    #[test]
    fn long_lists_are_not_kept() {
        let lists = Lists::default();
        let long: Arc<[Column]> =
            (0..=LONGEST).map(|n| Column::computed(n.to_string(), Kind::Int)).collect();
        lists.shared(Arc::clone(&long));
        assert!(lists.kept.lock().unwrap().is_empty());
    }
}
