//! A repository that fails when it is told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pando_kernel::runtime::BoxFuture;
use pando_repository::{Change, Error, Prefix, Repository, Result, Revision, Session, View, Watch};

/// Lets a number of commits through; the one after it is made or not, and not answered; all later ones fail.
#[derive(Debug)]
pub(crate) struct Faulty {
    pub(crate) inner: Arc<dyn Repository>,
    pub(crate) left: AtomicUsize,
    pub(crate) makes_last: bool,
}

impl Repository for Faulty {
    fn read<'a>(&'a self, below: &'a Prefix) -> BoxFuture<'a, Result<View>> {
        Box::pin(async move {
            if self.left.load(Ordering::SeqCst) == 0 {
                return Err(Error::Unavailable("it was cut off".into()));
            }
            self.inner.read(below).await
        })
    }

    fn commit(&self, change: Change) -> BoxFuture<'_, Result<Revision>> {
        Box::pin(async move {
            let down = |left: usize| left.checked_sub(1);
            let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, down);
            match left {
                Err(_) => Err(Error::Unavailable("it was cut off".into())),
                Ok(1) => {
                    if self.makes_last {
                        self.inner.commit(change).await?;
                    }
                    Err(Error::Unknown("it was cut off".into()))
                }
                Ok(_) => self.inner.commit(change).await,
            }
        })
    }

    fn watch(&self, below: &Prefix) -> Watch {
        self.inner.watch(below)
    }

    fn session(&self) -> Session {
        self.inner.session()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.inner.close()
    }
}

/// One repository, and from some moment on a copy of it as it was earlier.
#[derive(Debug)]
pub(crate) struct Restored {
    pub(crate) inner: Arc<dyn Repository>,
    pub(crate) copy: Arc<dyn Repository>,
    pub(crate) is_restored: AtomicBool,
}

impl Restored {
    fn now(&self) -> &dyn Repository {
        if self.is_restored.load(Ordering::SeqCst) { &*self.copy } else { &*self.inner }
    }
}

impl Repository for Restored {
    fn read<'a>(&'a self, below: &'a Prefix) -> BoxFuture<'a, Result<View>> {
        self.now().read(below)
    }

    fn commit(&self, change: Change) -> BoxFuture<'_, Result<Revision>> {
        self.now().commit(change)
    }

    fn watch(&self, below: &Prefix) -> Watch {
        self.inner.watch(below)
    }

    fn session(&self) -> Session {
        self.inner.session()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.inner.close()
    }
}
