//! Tests that need something a machine may lack.

/// The variable that turns a skipped test into a failed one, for machines that must have it all.
const REQUIRE: &str = "HEELER_TEST_REQUIRE";

/// Whether a test can run: returns `is_there`, and says what is missing when it is not.
///
/// ```
/// # use heeler_testkit::require;
/// if !require("git", true) {
///     return;
/// }
/// ```
///
/// # Panics
/// When it is missing and `HEELER_TEST_REQUIRE=all` is set.
#[must_use]
pub fn require(what: &str, is_there: bool) -> bool {
    let all = std::env::var(REQUIRE).is_ok_and(|value| value == "all");
    let verdict = judge(what, is_there, all);
    match verdict {
        Verdict::Run => true,
        Verdict::Skip(message) => {
            eprintln!("{message}");
            false
        }
        Verdict::Fail(message) => panic!("{message}"),
    }
}

#[derive(Debug, PartialEq)]
enum Verdict {
    Run,
    Skip(String),
    Fail(String),
}

fn judge(what: &str, is_there: bool, all: bool) -> Verdict {
    match (is_there, all) {
        (true, _) => Verdict::Run,
        (false, false) => Verdict::Skip(format!("skipped: needs {what}")),
        (false, true) => {
            Verdict::Fail(format!("needs {what}, and {REQUIRE}=all lets no test be skipped"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_thing_skips_or_fails() {
        assert_eq!(judge("git", true, true), Verdict::Run);
        assert_eq!(judge("git", false, false), Verdict::Skip("skipped: needs git".into()));
        let message = "needs git, and HEELER_TEST_REQUIRE=all lets no test be skipped";
        assert_eq!(judge("git", false, true), Verdict::Fail(message.into()));
    }
}
