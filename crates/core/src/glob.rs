//! How much a pattern of file names may hold.

/// The longest pattern, in bytes.
const GLOB_BYTES_MAX: usize = 4 * 1024;
/// The most alternatives (`{a,b}`) of one, which stand in each other at worst.
const ALTERNATIVES_MAX: usize = 32;

/// Whether a pattern is so short and flat that whoever reads it needs little room for it: readers of
/// patterns call themselves for each `{`, and what a repository says must not take their stack.
#[must_use]
pub fn is_bounded_glob(pattern: &str) -> bool {
    let n_alternatives = pattern.bytes().filter(|byte| *byte == b'{').count();
    pattern.len() <= GLOB_BYTES_MAX && n_alternatives <= ALTERNATIVES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_a_length_and_a_depth() {
        assert!(is_bounded_glob("src/**/{a,b,{c,d}}*.rs"));
        assert!(is_bounded_glob(&"x".repeat(GLOB_BYTES_MAX)));
        assert!(!is_bounded_glob(&"x".repeat(GLOB_BYTES_MAX + 1)));
        assert!(is_bounded_glob(&"{".repeat(ALTERNATIVES_MAX)));
        assert!(!is_bounded_glob(&"{".repeat(ALTERNATIVES_MAX + 1)));
    }
}
