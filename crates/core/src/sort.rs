//! Sorting whose code is there once.
//!
//! `slice::sort_by` is compiled anew for each type and each order, to 4 or 5 kB each time, and the
//! program sorts fifty kinds of short lists. Here their places are sorted, which is one function for
//! all of them. What is long, or sorted in each round, is better off with the standard library's.

use std::cmp::Ordering;

/// As [`slice::sort_by`]: equal elements stay in their order.
///
/// # Panics
///
/// May panic if `compare` is no total order, as the standard library's may.
pub fn sort_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    if items.len() < 2 {
        return;
    }
    let mut from =
        sorted_places(items.len(), &mut |one, other| compare(&items[one], &items[other]));
    // Each place takes what belongs there, along the circles that the places form.
    for start in 0..items.len() {
        let mut place = start;
        loop {
            let next = std::mem::replace(&mut from[place], place);
            if next == start {
                break;
            }
            items.swap(place, next);
            place = next;
        }
    }
}

/// As [`slice::sort_by_key`]: equal elements stay in their order.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_by(items, |one, other| key(one).cmp(&key(other)));
}

/// As [`slice::sort`].
pub fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// As [`Iterator::collect`] into a map or a set that keeps an order. `collect` sorts first, with code that is
/// compiled anew for each type; here each item goes to its place.
pub fn gathered<C: Default + Extend<T>, T>(items: impl IntoIterator<Item = T>) -> C {
    let mut all = C::default();
    all.extend(items);
    all
}

/// Where each element of a sorted list came from.
#[inline(never)]
fn sorted_places(n: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..n).collect();
    places.sort_by(|one, other| compare(*one, *other));
    places
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn two_are_sorted_as_well_and_all_are_gathered() {
        let mut two = [2, 1];
        sort(&mut two);
        assert_eq!(two, [1, 2]);
        let gathered: std::collections::BTreeSet<i32> = gathered(two);
        assert_eq!(gathered, two.into());
    }

    proptest! {
        #[test]
        fn sorts_as_the_standard_library_does(items in prop::collection::vec((0..9_u8, any::<u8>()), 0..60)) {
            let mut expected = items.clone();
            expected.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
            let mut ours = items;
            sort_by_key(&mut ours, |(key, _)| std::cmp::Reverse(*key));
            prop_assert_eq!(&ours, &expected);
            expected.sort();
            sort(&mut ours);
            prop_assert_eq!(ours, expected);
        }
    }
}
