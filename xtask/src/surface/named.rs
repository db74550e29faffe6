//! Whether users can name every type that a public line shows them.

use std::collections::{BTreeMap, BTreeSet};

/// What begins a path of ours.
const OURS: &str = "heeler_";
/// What brings a type to the page.
const DEFINED: [&str; 4] = ["pub struct ", "pub enum ", "pub trait ", "pub type "];

/// The types that lines of the page show and the page does not have, with one of those lines.
pub(super) fn unnamed(page: &str) -> BTreeMap<String, &str> {
    let lines = || page.lines().filter(|line| !line.starts_with("pub use "));
    let is_definition = |line: &&str| DEFINED.iter().any(|kind| line.contains(kind));
    let named: BTreeSet<String> =
        lines().filter(is_definition).filter_map(|line| types(line).next()).collect();
    let mut unnamed = BTreeMap::new();
    for line in lines() {
        for name in types(line).filter(|name| !named.contains(name)) {
            unnamed.entry(name).or_insert(line);
        }
    }
    unnamed
}

/// The types of ours on a line, each as `crate::Type`: the modules between may be private ones.
fn types(line: &str) -> impl Iterator<Item = String> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').filter_map(|path| {
        let mut parts = path.trim_end_matches(':').split("::");
        let source = parts.next().filter(|source| source.starts_with(OURS))?;
        let name = parts.find(|part| part.starts_with(|c: char| c.is_ascii_uppercase()))?;
        // A constant is a value, and stands where it is defined.
        let is_type = name.contains(|c: char| c.is_ascii_lowercase());
        is_type.then(|| format!("{source}::{name}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_behind_a_private_module_has_its_public_name() {
        let page = "pub use heeler_a::One as One\n\
                    #[non_exhaustive] pub struct heeler_a::One\n\
                    pub trait heeler_a::Ones: core::marker::Send\n\
                    impl heeler_a::Ones for heeler_a::One\n\
                    pub heeler_a::One::two: alloc::vec::Vec<heeler_b::inner::Two>\n\
                    pub const heeler_a::One::MAX: usize\n\
                    pub fn heeler_a::one(&heeler_a::within::One)";
        let found = unnamed(page);
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            [(
                "heeler_b::Two".to_owned(),
                "pub heeler_a::One::two: alloc::vec::Vec<heeler_b::inner::Two>"
            )]
        );
    }
}
