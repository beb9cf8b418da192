//! What reads give, also while others write.

use super::{Done, Failure, Stand, beside, hold, key};
use crate::{Change, Prefix};

pub(super) async fn a_prefix_gives_its_keys_in_order(stand: &dyn Stand) -> Done {
    let repository = stand.instance().await?;
    let paths = ["p", "p-1", "p/b", "p/a", "p/a/z", "p!", "p0", "pp", "q"];
    let mut change = Change::new();
    for path in paths {
        change = change.put(&key("prefix", path)?, path.to_owned());
    }
    repository.commit(change).await?;
    let all = repository.read(&Prefix::parse("/prefix")?).await?;
    let found: Vec<&str> = all.entries.keys().map(|key| key.as_str()).collect();
    let mut sorted = found.clone();
    sorted.sort_unstable();
    hold!(found.len() == paths.len() && found == sorted, "{found:?}");
    let own = repository.read(&Prefix::parse("/prefix/p")?).await?;
    let found: Vec<&str> = own.entries.keys().map(|key| key.as_str()).collect();
    hold!(found == ["/prefix/p", "/prefix/p/a", "/prefix/p/a/z", "/prefix/p/b"], "{found:?}");
    hold!(own.entries.values().all(|entry| !entry.value.is_empty()), "values are missing");
    let none = repository.read(&Prefix::parse("/prefix/none")?).await?;
    hold!(none.entries.is_empty() && none.revision >= own.revision, "{none:?}");
    let everything = repository.read(&Prefix::root()).await?;
    hold!(everything.entries.len() >= paths.len(), "the root has {}", everything.entries.len());
    Ok(Some(()))
}

pub(super) async fn a_thousand_keys_are_one_view(stand: &dyn Stand) -> Done {
    let repository = stand.instance().await?;
    for hundred in 0..10 {
        let mut change = Change::new();
        for n in 0..100 {
            let number = hundred * 100 + n;
            change =
                change.put(&key("many", &format!("{}/{number:04}", n % 7))?, number.to_string());
        }
        repository.commit(change).await?;
    }
    let view = repository.read(&Prefix::parse("/many")?).await?;
    let values = view.entries.values().filter_map(|entry| std::str::from_utf8(&entry.value).ok());
    let mut numbers: Vec<u32> = values.filter_map(|text| text.parse().ok()).collect();
    numbers.sort_unstable();
    hold!(numbers.iter().copied().eq(0..1000), "{} of 1,000 are right", numbers.len());
    Ok(Some(()))
}

/// Pairs of keys far from each other change together, appear and vanish together, while views are taken.
pub(super) async fn a_view_is_of_one_moment(stand: &dyn Stand) -> Done {
    const ROUNDS: usize = 60;
    let (writer, reader) = (stand.instance().await?, stand.instance().await?);
    let (a, b) = (key("moment", "a/x")?, key("moment", "z/deep/y")?);
    let (c, d) = (key("moment", "b/s")?, key("moment", "y/t")?);
    writer.commit(Change::new().put(&a, "0").put(&b, "0")).await?;
    // Enough of them between the pairs that no store gives all in one answer.
    let mut filler = Change::new();
    for n in 0..80 {
        filler = filler.put(&key("moment", &format!("m/{n}"))?, "");
    }
    writer.commit(filler).await?;
    let keys = (a.clone(), b.clone(), c.clone(), d.clone());
    let mut written = beside(stand, async move {
        let (a, b, c, d) = keys;
        for n in 1..=ROUNDS {
            let change = Change::new().put(&a, n.to_string()).put(&b, n.to_string());
            let change = match n % 2 {
                0 => change.delete(&c).delete(&d),
                _ => change.put_for_session(&c, "").put_for_session(&d, ""),
            };
            writer.commit(change).await?;
        }
        Ok::<_, Failure>(())
    });
    let below = Prefix::parse("/moment")?;
    let mut last = None;
    loop {
        let view = reader.read(&below).await?;
        let value = |key| view.entries.get(key).map(|entry| entry.value.clone());
        let found = [value(&a), value(&b), value(&c), value(&d)];
        hold!(found[0].is_some() && found[0] == found[1], "half a change: {found:?}");
        hold!(found[2].is_some() == found[3].is_some(), "half a change: {found:?}");
        hold!(Some(view.revision) >= last, "time runs back: {:?} {last:?}", view.revision);
        last = Some(view.revision);
        if value(&a).is_some_and(|text| text == ROUNDS.to_string()) {
            break;
        }
        // A writer that has failed would leave us reading for ever.
        let ended = std::future::poll_fn(|cx| std::task::Poll::Ready(written.as_mut().poll(cx)));
        if let std::task::Poll::Ready(ended) = ended.await {
            ended??;
            written = Box::pin(std::future::pending());
        }
    }
    Ok(Some(()))
}
