//! How long the command line lets a turn go on.

use heeler_core::Cost;
use heeler_settings::{COST, Key, KeyValue, ROUNDS, SECONDS, Setting, TOKENS};

use super::ExecArguments;

/// When a turn ends whatever the model wants, as the flags say.
pub(super) fn values(arguments: &ExecArguments) -> Vec<(&'static Key, Setting<KeyValue>)> {
    // What is too little to be counted is a limit still; zero would be none.
    let billionths = |dollars: f64| match Cost::from_dollars(dollars).0 {
        0 if dollars > 0.0 => 1,
        cost => cost,
    };
    let flags: [(&'static Key, _, _); 4] = [
        (&ROUNDS, arguments.max_rounds.map(u64::from), "--max-rounds"),
        (&TOKENS, arguments.max_tokens, "--max-tokens"),
        (&COST, arguments.max_cost.map(billionths), "--max-cost"),
        (&SECONDS, arguments.timeout, "--timeout"),
    ];
    let set = flags.into_iter().filter_map(|(key, value, flag)| {
        let value = KeyValue::Number(value?);
        Some((key, Setting { value, source: flag.to_owned() }))
    });
    set.collect()
}

#[cfg(test)]
mod tests {
    use heeler_core::Limits;
    use heeler_settings::{Context, Layer, merge};
    use proptest::prelude::*;

    use super::*;
    use crate::arguments::{Command, Parsed, read};

    fn limits(words: &[String]) -> Limits {
        let words = ["heeler", "exec"].map(str::to_owned).into_iter().chain(words.to_vec());
        let Parsed::Command(Command::Exec(arguments)) = read(words.map(Into::into)).unwrap() else {
            panic!("no exec");
        };
        let flags = Layer::of_flags(Vec::new(), None, &Context::default()).unwrap();
        let loaded = merge(vec![flags.with_values(values(&arguments))]).unwrap();
        loaded.preferences().limits.over(Limits::default())
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
            let limits = limits(&words);
            prop_assert_eq!((limits.rounds, limits.tokens), (rounds, tokens));
            prop_assert_eq!(limits.wall_millis == 0, timeout == 0);
            prop_assert!(limits.wall_millis >= timeout);
            prop_assert!((limits.cost == 0) == (cost == 0.0), "{} of {}", limits.cost, cost);
        }
    }

    #[test]
    fn the_smallest_cost_is_a_limit() {
        for cost in ["1e-300", "0.0000000001", "0.000001"] {
            assert_ne!(limits(&[format!("--max-cost={cost}")]).cost, 0, "{cost}");
        }
    }

    #[test]
    fn without_flags_the_defaults_stay() {
        assert_eq!(limits(&[]), Limits::default());
    }
}
