//! How long the command line lets a turn go on.

use heeler_core::{Cost, Limits};

use crate::arguments::ExecArguments;

/// When a turn ends whatever the model wants.
pub(super) fn limits(arguments: &ExecArguments) -> Limits {
    // What is too little to be counted is a limit still; zero would be none.
    let cost = match Cost::from_dollars(arguments.max_cost).0 {
        0 if arguments.max_cost > 0.0 => 1,
        cost => cost,
    };
    Limits {
        rounds: arguments.max_rounds,
        tokens: arguments.max_tokens,
        cost,
        wall_millis: arguments.timeout.saturating_mul(1000),
        ..Limits::default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::arguments::{Command, read};

    fn arguments(words: &[String]) -> ExecArguments {
        let words = ["heeler", "exec"].map(str::to_owned).into_iter().chain(words.to_vec());
        match read(words.map(Into::into)).unwrap() {
            Command::Exec(arguments) => *arguments,
            _ => panic!("no exec"),
        }
    }

    proptest! {
        /// A figure is kept, or becomes the largest there is; it never turns into "no limit".
        #[test]
        fn no_limit_wraps(rounds: u32, tokens: u64, cost in 0.0..1e9f64, timeout: u64) {
            let words = [
                format!("--max-rounds={rounds}"),
                format!("--max-tokens={tokens}"),
                format!("--max-cost={cost}"),
                format!("--timeout={timeout}"),
            ];
            let limits = limits(&arguments(&words));
            prop_assert_eq!((limits.rounds, limits.tokens), (rounds, tokens));
            prop_assert_eq!(limits.wall_millis == 0, timeout == 0);
            prop_assert!(limits.wall_millis >= timeout);
            prop_assert!((limits.cost == 0) == (cost == 0.0), "{} of {}", limits.cost, cost);
        }
    }

    #[test]
    fn the_smallest_cost_is_a_limit() {
        for cost in ["1e-300", "0.0000000001", "0.000001"] {
            assert_ne!(limits(&arguments(&[format!("--max-cost={cost}")])).cost, 0, "{cost}");
        }
    }
}
