//! Names of current models. The catalogue has what they can do and what they cost.

/// Anthropic's most able model for long work.
pub const OPUS: &str = "anthropic/claude-opus-5-5";
/// Anthropic's model for everyday work, and heeler's default.
pub const SONNET: &str = crate::catalogue::DEFAULT_MODEL;
/// Anthropic's fastest model.
pub const HAIKU: &str = "anthropic/claude-haiku-5-5";

#[cfg(test)]
mod tests {
    #[test]
    fn the_catalogue_knows_each() {
        for name in [super::OPUS, super::SONNET, super::HAIKU] {
            assert!(crate::catalogue::lookup(name).is_some(), "{name}");
        }
    }
}
