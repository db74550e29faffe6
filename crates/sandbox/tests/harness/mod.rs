//! A small test runner for programs that must own their `main`: the launcher is the test
//! executable itself, executed again. Prints what libtest prints and understands a name filter,
//! `--exact` and `--list`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::process::ExitCode;

/// A test: its name, and how to run it.
pub(crate) type Case = (&'static str, fn() -> Pin<Box<dyn Future<Output = ()>>>);

/// Lists async functions as cases.
#[macro_export]
macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
{
        const CASES: &[$crate::harness::Case] =
            &[$((stringify!($name), || Box::pin($name()))),+];
        CASES
    }    };
}

/// Runs the cases that the arguments ask for, one after the other, each on a runtime of its own.
pub(crate) fn run(cases: &[Case]) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let filters: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    let is_chosen = |name: &str| {
        filters.is_empty()
            || filters.iter().any(|f| if has("--exact") { *f == name } else { name.contains(*f) })
    };
    let chosen: Vec<&Case> = cases.iter().filter(|(name, _)| is_chosen(name)).collect();
    if has("--list") {
        chosen.iter().filter(|_| !has("--ignored")).for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    println!("\nrunning {} tests", chosen.len());
    let mut n_failed = 0;
    for (name, case) in &chosen {
        let is_ok = catch_unwind(AssertUnwindSafe(|| runtime().block_on(case()))).is_ok();
        n_failed += usize::from(!is_ok);
        println!("test {name} ... {}", if is_ok { "ok" } else { "FAILED" });
    }
    println!(
        "\ntest result: {}. {} passed; {n_failed} failed; 0 ignored; 0 measured; {} filtered out\n",
        if n_failed == 0 { "ok" } else { "FAILED" },
        chosen.len() - n_failed,
        cases.len() - chosen.len(),
    );
    ExitCode::from(if n_failed == 0 { 0 } else { 101 })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}
