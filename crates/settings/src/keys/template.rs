//! What a new settings file begins with: every key, commented out.

use std::fmt::Write as _;

use super::{KEYS, Key, Kind};

/// Columns of a line of words.
const WIDTH: usize = 96;

/// Stands above.
const HEAD: &str = "\
# Settings of heeler. Nothing here counts until its `#` is taken away; what is not said has the value
# that stands here. `heeler config list` shows what holds, `heeler config explain KEY` why, and
# `heeler config schema` prints a schema for editors.
";

/// Examples of keys that have no default.
const EXAMPLES: [(&str, &str); 20] = [
    ("permissions.deny", r#"["Read(~/private/**)"]"#),
    ("permissions.ask", r#"["Bash(git push:*)"]"#),
    ("permissions.allow", r#"["Bash(cargo test:*)"]"#),
    ("permissions.mode", r#""accept-edits""#),
    ("permissions.disableBypassPermissionsMode", r#""disable""#),
    ("permissions.additionalDirectories", r#"["~/notes"]"#),
    ("hooks", r#"{ PreToolUse = [{ matcher = "Bash", hooks = [{ command = "./guard.sh" }] }] }"#),
    ("disableAllHooks", "true"),
    ("env", r#"{ RUST_LOG = "debug" }"#),
    ("sandbox.mode", r#""required""#),
    ("sandbox.writable", r#"["~/.cargo/registry"]"#),
    ("sandbox.network", "false"),
    ("models.\"PROVIDER/NAME\"", "{ window = 100000, output_max = 8000 }"),
    ("models.fallback", r#"["openai/gpt-6.2-sol"]"#),
    ("web_search.backend", r#""searxng""#),
    ("web_search.address", r#""http://localhost:8888""#),
    ("web_fetch.allowed_hosts", r#"["wiki.lan"]"#),
    ("model.default", r#""anthropic/claude-sonnet-5-5""#),
    ("model.thinking", r#""high""#),
    ("context.limit", "100000"),
];

/// The text of a new file.
#[must_use]
pub fn template() -> String {
    let mut text = HEAD.to_owned();
    // A key of the file itself has to stand above all tables.
    let (of_file, of_tables): (Vec<_>, Vec<_>) =
        KEYS.into_iter().partition(|key| key.place().0.is_empty());
    let mut table = "";
    for key in of_file.into_iter().chain(of_tables) {
        if key.place().0 != table {
            table = key.place().0;
            // A `String` takes whatever is written to it.
            let _ = writeln!(text, "\n[{table}]");
        } else if table.is_empty() {
            text.push('\n');
        }
        lines(&mut text, key);
    }
    text
}

fn lines(text: &mut String, key: &Key) {
    let mut words = key.words.to_owned();
    if !matches!(key.kind, Kind::Outside(_)) {
        let _ = write!(words, "; {}", key.kind.words());
    }
    let mut line = String::from("#");
    for word in words.split_whitespace() {
        if line.len() + word.len() >= WIDTH {
            let _ = writeln!(text, "{line}");
            "#".clone_into(&mut line);
        }
        let _ = write!(line, " {word}");
    }
    let _ = writeln!(text, "{line}");
    let example = EXAMPLES.iter().find(|(path, _)| *path == key.path).map(|(_, value)| *value);
    let value = example.unwrap_or(key.default);
    let _ = writeln!(text, "# {} = {value}", key.place().1);
}
