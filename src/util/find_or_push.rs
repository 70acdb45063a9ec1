//! Lists whose items are each there once.

/// The position of the item that is `same`, and the item. Where there is none, `make` adds it at the end.
#[allow(clippy::indexing_slicing, reason = "the position is that of an item, or of the one just added")]
pub(crate) fn find_or_push<T>(
    items: &mut Vec<T>,
    same: impl FnMut(&T) -> bool,
    make: impl FnOnce() -> T,
) -> (usize, &mut T) {
    let found = items.iter().position(same);
    let position = found.unwrap_or(items.len());
    if found.is_none() {
        items.push(make());
    }
    (position, &mut items[position])
}
