//! One change after the other.

use bytes::Bytes;

use super::{Done, Stand, hold, key};
use crate::limits::{MAX_CHANGE_BYTES, MAX_CHANGE_KEYS, MAX_VALUE_BYTES};
use crate::{Change, Error, Expected, Lifetime, Prefix, Revision};

pub(super) async fn a_value_is_read_as_it_was_put(stand: &dyn Stand) -> Done {
    let repository = stand.instance().await?;
    let (empty, all) = (key("value", "empty")?, key("value", "all ü/bytes")?);
    let bytes: Vec<u8> = (0..=255).collect();
    let first = repository.commit(Change::new().put(&empty, "").put(&all, bytes.clone())).await?;
    let second = repository.commit(Change::new().put(&empty, Bytes::new())).await?;
    hold!(second > first, "{second:?} does not follow {first:?}");
    let view = stand.instance().await?.read(&Prefix::parse("/value")?).await?;
    hold!(view.entries.len() == 2, "a view of {:?}", view.entries.keys());
    let found = (&view.entries[&empty], &view.entries[&all]);
    hold!(found.0.value.is_empty() && found.1.value == bytes, "other bytes");
    hold!((found.0.revision, found.1.revision) == (second, first), "other revisions: {view:?}");
    hold!(found.0.lifetime == Lifetime::Forever, "not for ever");
    hold!(view.revision >= second, "a view at {:?} after {second:?}", view.revision);
    Ok(Some(()))
}

pub(super) async fn a_change_is_made_wholly_or_not_at_all(stand: &dyn Stand) -> Done {
    let repository = stand.instance().await?;
    let (a, b, c) = (key("whole", "a")?, key("whole", "b")?, key("whole", "c")?);
    let put = repository.commit(Change::new().put(&a, "1").put(&b, "1")).await?;
    let wrong = [
        (Change::new().expect(&a, Expected::At(put)).expect(&b, Expected::Absent), &b),
        (Change::new().expect(&c, Expected::At(put)), &c),
        (Change::new().expect(&a, Expected::At(Revision(put.0 + 1_000_000))), &a),
    ];
    for (expectations, culprit) in wrong {
        let change = expectations.put(&a, "2").delete(&b).put(&c, "2");
        let done = repository.commit(change).await;
        hold!(done == Err(Error::Conflict(culprit.clone())), "{culprit}: {done:?}");
    }
    let view = repository.read(&Prefix::parse("/whole")?).await?;
    let keys: Vec<_> = view.entries.keys().collect();
    hold!(keys == [&a, &b], "a part was made: {keys:?}");
    let right = Change::new().expect(&a, Expected::At(put)).expect(&c, Expected::Absent);
    repository.commit(right.put(&a, "3").delete(&b).put(&c, "3")).await?;
    let view = repository.read(&Prefix::parse("/whole")?).await?;
    let keys: Vec<_> = view.entries.keys().collect();
    hold!(keys == [&a, &c], "not all was made: {keys:?}");
    Ok(Some(()))
}

pub(super) async fn a_key_put_again_is_not_as_expected(stand: &dyn Stand) -> Done {
    let repository = stand.instance().await?;
    let a = key("again", "a")?;
    let first = repository.commit(Change::new().put(&a, "1")).await?;
    repository.commit(Change::new().delete(&a)).await?;
    repository.commit(Change::new().put(&a, "1")).await?;
    let change = Change::new().expect(&a, Expected::At(first)).put(&a, "2");
    let done = repository.commit(change).await;
    hold!(done == Err(Error::Conflict(a.clone())), "deleted and put again unseen: {done:?}");
    // Deleting what is not there is no conflict.
    repository.commit(Change::new().delete(&key("again", "never")?)).await?;
    Ok(Some(()))
}

pub(super) async fn a_deleted_key_leaves_those_above_and_below(stand: &dyn Stand) -> Done {
    let repository = stand.instance().await?;
    let below = Prefix::parse("/above")?;
    let (top, middle, bottom) = (key("above", "a")?, key("above", "a/b")?, key("above", "a/b/c")?);
    repository.commit(Change::new().put(&bottom, "c")).await?;
    let view = repository.read(&below).await?;
    hold!(view.entries.len() == 1, "keys that nobody put: {:?}", view.entries.keys());
    repository.commit(Change::new().put(&top, "a").put(&middle, "b")).await?;
    repository.commit(Change::new().delete(&middle)).await?;
    let view = repository.read(&below).await?;
    hold!(view.entries.keys().eq([&top, &bottom]), "{:?}", view.entries.keys());
    let change = Change::new().expect(&middle, Expected::Absent).delete(&bottom).delete(&top);
    repository.commit(change).await?;
    hold!(repository.read(&below).await?.entries.is_empty(), "something is left");
    repository.commit(Change::new().put(&bottom, "again")).await?;
    hold!(repository.read(&below).await?.entries.len() == 1, "it does not come again");
    Ok(Some(()))
}

pub(super) async fn the_largest_value_fits_and_a_larger_one_is_refused(stand: &dyn Stand) -> Done {
    let repository = stand.instance().await?;
    let (a, b) = (key("large", "a")?, key("large", "b")?);
    let zeros = |n: usize| Bytes::from(vec![0xff; n]);
    repository.commit(Change::new().put(&a, zeros(MAX_VALUE_BYTES))).await?;
    let rest = MAX_CHANGE_BYTES - MAX_VALUE_BYTES - a.as_str().len() - b.as_str().len();
    repository.commit(Change::new().put(&a, zeros(MAX_VALUE_BYTES)).put(&b, zeros(rest))).await?;
    for change in [
        Change::new().put(&a, zeros(MAX_VALUE_BYTES + 1)),
        Change::new().put(&a, zeros(MAX_VALUE_BYTES)).put(&b, zeros(rest + 1)),
    ] {
        let done = repository.commit(change).await;
        hold!(matches!(done, Err(Error::Refused(_))), "{done:?}");
    }
    let view = repository.read(&Prefix::parse("/large")?).await?;
    hold!(view.entries[&a].value == zeros(MAX_VALUE_BYTES), "other bytes");
    let mut many = Change::new();
    for n in 0..MAX_CHANGE_KEYS {
        let own = key("large", &format!("many/{}/{n}", "x".repeat(900)))?;
        many = many.expect(&own, Expected::Absent).put(&own, zeros(5000));
    }
    repository.commit(many).await?;
    Ok(Some(()))
}

pub(super) async fn a_closed_instance_says_so(stand: &dyn Stand) -> Done {
    let repository = stand.instance().await?;
    let mut watch = repository.watch(&Prefix::root());
    let mut session = repository.session();
    repository.close().await;
    // A signal may have come before the end did.
    while watch.changed().await.is_ok() {}
    while session.changed().await.is_ok() {}
    let done = repository.commit(Change::new().put(&key("closed", "a")?, "x")).await;
    hold!(matches!(done, Err(Error::Unavailable(_))), "{done:?}");
    let done = repository.read(&Prefix::root()).await;
    hold!(matches!(done, Err(Error::Unavailable(_))), "{done:?}");
    repository.close().await;
    Ok(Some(()))
}
