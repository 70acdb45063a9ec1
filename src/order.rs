//! The order of short lists. The sorts of the standard library are made for long ones, and each takes
//! kilobytes of a WASM module.

/// `items` by `key`, lowest first; equals keep their order.
pub(crate) fn sorted_by_key<T, K: Ord>(items: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut sorted: Vec<T> = Vec::new();
    for item in items {
        let behind = sorted.iter().position(|other| key(other) > key(&item));
        sorted.insert(behind.unwrap_or(sorted.len()), item);
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
