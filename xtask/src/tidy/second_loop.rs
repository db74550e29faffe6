//! The agent loop exists once: nobody else asks the machine what is due, or asks a model.

use std::ops::Range;

use crate::finding::Finding;
use crate::rust_text::{body, closing, line_at, words};
use crate::shipped::{Shipped, shipped};
use crate::tree::Tree;

pub(super) const WHY: &str = "a second loop forgets a limit, a denial or a record that the first \
     one knows; hand a session to `heeler_engine`, or list the place here with its reason";

/// What a loop cannot do without. Folding records is none of it: `show` and `audit` do.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Sign {
    /// Asks the turn machine what is due.
    Due,
    /// Asks a provider.
    Ask,
    /// Knows where a model is asked, and so gets by without a provider.
    Address,
}

/// A file or folder where a sign may be found, and why.
type Listed = (Sign, &'static str, &'static str);

const LISTED: [Listed; 13] = [
    (Sign::Due, "crates/engine/src/driver/", "the loop"),
    (Sign::Ask, "crates/engine/src/driver/", "the loop, and the one question of a compaction"),
    (Sign::Due, "crates/turn/src/replay.rs", "says whether a record was due, and performs nothing"),
    (Sign::Due, "crates/simulator/src/drive/", "drives the shipped machine in virtual time"),
    (Sign::Due, "crates/simulator/src/live/", "counts what was due when a fault came"),
    (Sign::Due, "crates/simulator/src/check/", "compares what is due in two folds"),
    (Sign::Ask, "crates/toolkit/src/run/provider.rs", "is asked by the loop, and passes it on"),
    (Sign::Ask, "crates/cli/src/login/check.rs", "one question without tools, for a key alone"),
    (Sign::Address, "crates/providers/src/anthropic/", "the provider itself"),
    (Sign::Address, "crates/providers/src/chat/", "the provider itself"),
    (Sign::Address, "crates/providers/src/responses/", "the provider itself"),
    (Sign::Address, "crates/testkit/src/mock/", "the server's side, for tests"),
    (Sign::Address, "bench/src/", "the bare loop that heeler is measured against"),
];

/// Where models are asked, as far as a literal tells.
const ADDRESSES: [&str; 3] =
    [concat!("v1/", "messages"), concat!("chat/", "completions"), concat!("v1/", "responses")];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    check_listed(tree, &LISTED)
}

fn check_listed(tree: &Tree, listed: &[Listed]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut met = vec![false; listed.len()];
    for file in shipped(tree) {
        for (at, sign, what) in signs(&file) {
            let place = listed
                .iter()
                .position(|(of, place, _)| *of == sign && file.path.starts_with(place));
            match place {
                Some(index) => met[index] = true,
                None => {
                    let line = line_at(&file.file.text, at);
                    findings.push(Finding::refused(file.path, line, what));
                }
            }
        }
    }
    for ((sign, place, _), met) in listed.iter().zip(met) {
        if !met {
            let message =
                format!("listed for {sign:?}, and nothing there needs it: remove the row");
            findings.push(Finding::refused(place, 0, message));
        }
    }
    findings
}

/// The signs of a loop in a file, in the order of their kinds.
fn signs(file: &Shipped<'_>) -> Vec<(usize, Sign, String)> {
    let code = file.file.rust.code.as_str();
    let mut signs = Vec::new();
    let delegates = delegates(code);
    for (at, word) in file.words() {
        let (before, after) = (code[..at].trim_end(), code[at + word.len()..].trim_start());
        let is_method = before.ends_with('.') && after.starts_with('(');
        let takes_nothing = after.starts_with("()");
        let is_of_type = is_of_type(before);
        if word == "pending" && (is_method && takes_nothing || is_of_type) {
            let what = "asks the turn machine what is due, as only the driver does";
            signs.push((at, Sign::Due, what.to_owned()));
        }
        let is_ask = is_method && !takes_nothing || is_of_type;
        if word == "stream" && is_ask && !delegates.iter().any(|own| own.contains(&at)) {
            let what = "asks a model, as only the driver does";
            signs.push((at, Sign::Ask, what.to_owned()));
        }
    }
    signs.extend(ADDRESSES.into_iter().flat_map(|address| {
        let places = file.file.text.match_indices(address);
        let places = places.filter(|(at, _)| is_literal(file, *at) && file.ships(*at));
        places.map(move |(at, _)| {
            (
                at,
                Sign::Address,
                format!("`{address}`: only a provider knows where a model is asked"),
            )
        })
    }));
    signs
}

/// Whether what stands before a name is a type, whatever it is called here: `State::`, `Machine::` after
/// `use State as Machine`, `<dyn Provider>::`, `<M as Provider>::`. Modules are written small.
fn is_of_type(before: &str) -> bool {
    let Some(owner) = before.strip_suffix("::").map(str::trim_end) else { return false };
    let name = words(owner).last().filter(|(at, word)| at + word.len() == owner.len());
    owner.ends_with('>') || name.is_some_and(|(_, name)| name.starts_with(char::is_uppercase))
}

/// The bodies of `fn stream` and `fn resume`, without a loop: a provider around a provider asks it
/// once, and one that can go on with no answer asks anew.
fn delegates(code: &str) -> Vec<Range<usize>> {
    let words_of: Vec<_> = words(code).collect();
    let bodies = words_of.windows(2).filter_map(|pair| {
        let [(_, "fn"), (at, "stream" | "resume")] = pair else { return None };
        let open = body(code, *at)?;
        Some(open..closing(code, open)?)
    });
    let loops = |body: &Range<usize>| {
        words(&code[body.clone()]).any(|(_, word)| ["for", "loop", "while"].contains(&word))
    };
    bodies.filter(|body| !loops(body)).collect()
}

/// Whether the byte at `at` stands in a string.
fn is_literal(file: &Shipped<'_>, at: usize) -> bool {
    let blank = |half: &str| half.as_bytes().get(at) == Some(&b' ');
    blank(&file.file.rust.code) && blank(&file.file.rust.comments)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::finding::render;

    fn check_text(path: &str, text: &str, expected: Expect) {
        expected.assert_eq(&render(check_listed(&Tree::of([(path, text)]), &[])));
    }

    #[test]
    fn a_second_loop_over_the_machine_is_found() {
        check_text(
            "crates/cli/src/exec/own.rs",
            "loop {\n    for effect in self.state\n        .pending() {\n        perform(effect);\n    }\n}\n\
             let due = history.iter().map(State::pending);\n",
            expect![[r#"
                crates/cli/src/exec/own.rs:3: asks the turn machine what is due, as only the driver does
                crates/cli/src/exec/own.rs:7: asks the turn machine what is due, as only the driver does
            "#]],
        );
    }

    #[test]
    fn a_second_loop_over_a_provider_is_found() {
        check_text(
            "crates/assembly/src/own.rs",
            "loop {\n    let reply = model.stream(request).next().await;\n    Provider::stream(&*model, r);\n}\n",
            expect![[r#"
                crates/assembly/src/own.rs:2: asks a model, as only the driver does
                crates/assembly/src/own.rs:3: asks a model, as only the driver does
            "#]],
        );
        check_text(
            "crates/providers/src/again.rs",
            "fn stream(&self, r: ModelRequest) -> EventStream {\n    loop { self.0.stream(r) }\n}\n",
            expect![[r#"
                crates/providers/src/again.rs:2: asks a model, as only the driver does
            "#]],
        );
    }

    #[test]
    fn another_name_hides_nothing() {
        check_text(
            "crates/cli/src/exec/own.rs",
            "use heeler_turn::State as Machine;\nuse heeler_core::Provider as Model;\n\
             let due = Machine::pending(&machine);\nlet due = <Machine>::pending(&machine);\n\
             let due = heeler_turn::state::State::pending;\n\
             let events = <dyn Model>::stream(&*model, request);\n\
             let events = <M as Model>::stream(model, request);\nlet ask = Model::stream;\n",
            expect![[r#"
                crates/cli/src/exec/own.rs:3: asks the turn machine what is due, as only the driver does
                crates/cli/src/exec/own.rs:4: asks the turn machine what is due, as only the driver does
                crates/cli/src/exec/own.rs:5: asks the turn machine what is due, as only the driver does
                crates/cli/src/exec/own.rs:6: asks a model, as only the driver does
                crates/cli/src/exec/own.rs:7: asks a model, as only the driver does
                crates/cli/src/exec/own.rs:8: asks a model, as only the driver does
            "#]],
        );
    }

    #[test]
    fn a_second_loop_over_http_is_found() {
        check_text(
            "crates/tools/src/agent.rs",
            "loop {\n    client.post(format!(\"{base}/v1/messages\")).send().await;\n}\n",
            expect![[r#"
                crates/tools/src/agent.rs:2: `v1/messages`: only a provider knows where a model is asked
            "#]],
        );
    }

    #[test]
    fn what_only_sounds_like_a_loop_is_fine() {
        let text = "\
//! Speaks of `state.pending()`, of `provider.stream(request)` and of /v1/messages.
for entry in &journal.entries {
    state.apply(entry);
}
let waiting = self.pending.len() + std::future::pending::<()>().await;
let (never, each) = (future::pending(), Vec::<u8>::new());
let text = \"state.pending() provider.stream(request)\";
let events = futures::stream::iter(events);
let (bytes, own) = (response.bytes_stream(), self.stream.take());
let open = connection.stream();
impl Provider for Logged {
    fn stream(&self, request: ModelRequest) -> EventStream {
        self.inner.stream(request)
    }
}
#[cfg(test)]
mod tests {
    fn x() { state.pending(); model.stream(request); get(\"/v1/messages\"); }
}
";
        check_text("crates/a/src/lib.rs", text, expect![""]);
        check_text("crates/a/tests/it/main.rs", "loop { state.pending(); }", expect![""]);
    }

    #[test]
    fn a_place_is_listed_for_one_sign_and_only_while_it_needs_it() {
        let listed = [(Sign::Due, "crates/a/src/", "x"), (Sign::Ask, "crates/b/src/", "y")];
        let text = "state.pending();\nmodel.stream(request);\n";
        let findings = check_listed(&Tree::of([("crates/a/src/lib.rs", text)]), &listed);
        expect![[r#"
            crates/a/src/lib.rs:2: asks a model, as only the driver does
            crates/b/src/: listed for Ask, and nothing there needs it: remove the row
        "#]]
        .assert_eq(&render(findings));
    }
}
