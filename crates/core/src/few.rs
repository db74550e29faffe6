//! A list that is nearly always empty.

use std::fmt;
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A list in the room of a pointer, for what nearly always has nothing in it: a vector keeps three
/// words for that, and each call of a session has several. It reads as a slice.
///
/// ```
/// use heeler_core::Few;
///
/// let mut tags = Few::from(vec!["a"]);
/// tags.push("b");
/// assert_eq!((tags.len(), &tags[..]), (2, &["a", "b"][..]));
/// assert_eq!(size_of_val(&tags), size_of::<usize>());
/// ```
#[derive(Clone)]
#[expect(clippy::box_collection, reason = "that is the point: one word where there is nothing")]
pub struct Few<T>(Option<Box<Vec<T>>>);

impl<T> Few<T> {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        (**self).is_empty()
    }

    /// Appends one.
    pub fn push(&mut self, item: T) {
        self.0.get_or_insert_default().push(item);
    }

    /// Keeps those that are `good`.
    pub fn retain(&mut self, mut good: impl FnMut(&T) -> bool) {
        self.retain_mut(|item| good(item));
    }

    /// Keeps those that are `good`, changed by it.
    pub fn retain_mut(&mut self, good: impl FnMut(&mut T) -> bool) {
        if let Some(items) = &mut self.0 {
            items.retain_mut(good);
        }
    }

    /// Keeps the first so many.
    pub fn truncate(&mut self, length: usize) {
        if let Some(items) = &mut self.0 {
            items.truncate(length);
        }
    }

    /// Leaves none.
    pub fn clear(&mut self) {
        self.0 = None;
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_deref_mut().map_or(&mut [], Vec::as_mut_slice)
    }
}

impl<T: fmt::Debug> fmt::Debug for Few<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Few<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Few<T> {}

impl<T> From<Vec<T>> for Few<T> {
    fn from(items: Vec<T>) -> Self {
        Self((!items.is_empty()).then(|| Box::new(items)))
    }
}

impl<T> From<Few<T>> for Vec<T> {
    fn from(few: Few<T>) -> Self {
        few.0.map(|items| *items).unwrap_or_default()
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<T> Extend<T> for Few<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(self).into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Few<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Few<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T: Serialize> Serialize for Few<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_list_that_takes_no_room_while_it_is_empty() {
        let mut few = Few::default();
        few.retain(|_: &u8| false);
        few.truncate(0);
        few.extend([]);
        assert!(few.is_empty() && few.0.is_none() && Few::<u8>::from(Vec::new()).0.is_none());
        few.extend([3, 1, 2]);
        few.iter_mut().for_each(|number| *number += 1);
        few.retain(|number| *number != 2);
        assert_eq!(format!("{few:?}"), "[4, 3]");
        (&mut few).into_iter().for_each(|number| *number -= 1);
        assert_eq!((&few).into_iter().collect::<Vec<_>>(), [&3, &2]);
        assert_ne!(few, Few::from(vec![3, 3]));
        few.truncate(1);
        assert_eq!((few.clone(), Vec::from(few.clone())), (Few::from(vec![3]), vec![3]));
        few.clear();
        assert_eq!(few, Few::default());
    }

    #[test]
    fn it_is_written_and_read_as_a_list() {
        for text in ["[]", "[1,2]"] {
            let few: Few<u8> = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&few).unwrap(), text);
        }
    }
}
