//! Maps and sets that keep an order, filled one by one.

/// As [`Iterator::collect`], which sorts first, with code that is compiled anew for each type.
pub(crate) fn gathered<C: Default + Extend<T>, T>(items: impl IntoIterator<Item = T>) -> C {
    let mut all = C::default();
    all.extend(items);
    all
}
