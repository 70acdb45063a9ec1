//! The order of short lists. The sorts of the standard library are made for long ones, and each takes
//! kilobytes of a WASM module.

/// `items` by `key`, lowest first; equals keep their order.
pub(crate) fn sorted_by_key<T, K: Ord>(items: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut sorted: Vec<T> = Vec::new();
    for item in items {
        // From the end: what comes in order is placed at once.
        let before = sorted.iter().rposition(|other| key(other) <= key(&item));
        sorted.insert(before.map_or(0, |place| place.saturating_add(1)), item);
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::sorted_by_key;

    #[test]
    fn equals_keep_their_order() {
        let sorted = sorted_by_key([(2, 'a'), (1, 'b'), (2, 'c'), (0, 'd'), (1, 'e')], |(key, _)| *key);
        assert_eq!(sorted, [(0, 'd'), (1, 'b'), (1, 'e'), (2, 'a'), (2, 'c')]);
    }
}
