//! Walks over a statement's tree.
