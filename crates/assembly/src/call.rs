//! A call as people write it, `Tool(argument)`: what it touches, by the tool's own word.

use heeler_core::{Access, Facts, RawJson};
use heeler_engine::Toolset;
use serde_json::{Value, json};

/// The tools whose argument is a host.
const OF_THE_WEB: [&str; 2] = ["WebFetch", "WebSearch"];

/// Where calls are made.
pub(crate) struct Place<'a> {
    pub(crate) tools: &'a Toolset,
    pub(crate) workspace: &'a str,
    /// The user's home folder, for `~/`.
    pub(crate) home: Option<&'a str>,
}

impl Place<'_> {
    /// The name of the tool that is meant, and what a call of it with this argument touches.
    ///
    /// # Errors
    /// When no tool takes an argument that is written like this; the text says why.
    pub(crate) fn facts(&self, tool: &str, argument: &str) -> Result<(String, Facts), String> {
        if let Some(name) = OF_THE_WEB.into_iter().find(|name| name.eq_ignore_ascii_case(tool)) {
            let accesses = self
                .hosts(argument)
                .ok_or_else(|| format!("`{argument}` names no host; write domain:HOST or a URL"))?;
            return Ok((name.to_owned(), Facts { accesses, ..Facts::default() }));
        }
        let names: Vec<&str> = self.tools.names().collect();
        let name = names.iter().find(|name| name.eq_ignore_ascii_case(tool));
        let tool = name.and_then(|name| Some((*name, self.tools.get(name)?)));
        let Some((name, tool)) = tool else {
            return Err(format!("there is no such tool; there are {}", names.join(", ")));
        };
        let input = self.input(name, argument).ok_or("calls of this tool cannot be written so")?;
        let input = RawJson::parse(&input.to_string()).map_err(|error| error.to_string())?;
        Ok((name.to_owned(), tool.facts(&input, self.workspace)))
    }

    /// The host of `domain:HOST` or of a URL, as requests are made to it.
    fn hosts(&self, argument: &str) -> Option<Vec<Access>> {
        let url = match argument.strip_prefix("domain:") {
            Some(host) if host.contains(['/', '@', ' ']) => return None,
            Some(host) => format!("https://{host}/"),
            None => argument.to_owned(),
        };
        let input = RawJson::parse(&json!({ "url": url }).to_string()).ok()?;
        let facts = self.tools.get("WebFetch")?.facts(&input, self.workspace);
        let is_host = facts.accesses.iter().all(|access| matches!(access, Access::Host(_)));
        is_host.then_some(facts.accesses)
    }

    /// The least input with which a model would make such a call.
    fn input(&self, tool: &str, argument: &str) -> Option<Value> {
        let path = self.path(argument);
        Some(match tool {
            "Bash" => json!({ "command": argument }),
            "Read" => json!({ "file_path": path }),
            "Write" => json!({ "file_path": path, "content": "" }),
            "Edit" => json!({ "file_path": path, "old_string": "a", "new_string": "b" }),
            "MultiEdit" => json!({
                "file_path": path, "edits": [{ "old_string": "a", "new_string": "b" }]
            }),
            "file_info" => json!({ "path": path }),
            "Glob" | "Grep" => json!({ "pattern": "a", "path": path }),
            "LS" => json!({ "path": path }),
            _ => return None,
        })
    }

    fn path(&self, argument: &str) -> String {
        match (argument.strip_prefix('~'), self.home) {
            (Some(below), Some(home)) if below.is_empty() || below.starts_with('/') => {
                format!("{}{below}", home.trim_end_matches('/'))
            }
            _ => argument.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use expect_test::expect;

    use super::*;
    use crate::Environment;
    use crate::setup::{bash, toolset};

    #[test]
    fn a_call_touches_what_its_tool_says() {
        let environment = Environment::default();
        let tools = toolset(bash(
            heeler_sandbox::Launcher::new(),
            &environment,
            &heeler_settings::Loaded::default(),
        ))
        .unwrap();
        let place = Place { tools: &tools, workspace: "/space", home: Some("/home/user/") };
        let mut shown = String::new();
        for (tool, argument) in [
            ("read", "~/.ssh/id"),
            ("Read", "../a"),
            ("Edit", "/etc/x"),
            ("Write", "a/./b"),
            ("Glob", "src"),
            ("GREP", "//x"),
            ("LS", "~"),
            ("WebFetch", "domain:example.com"),
            ("webfetch", "https://me@example.com:8080/a?b"),
            ("WebFetch", "http://2130706433/"),
            ("WebFetch", "https://b\u{fc}cher.de/"),
            ("WebSearch", "domain:EXAMPLE.com"),
            ("MultiEdit", "a"),
            ("file_info", "~/a"),
            ("WebFetch", "example.com"),
            ("WebFetch", "https://"),
            ("Task", "x"),
        ] {
            let facts = place.facts(tool, argument).map(|(tool, facts)| (tool, facts.accesses));
            writeln!(shown, "{tool}({argument}) {facts:?}").unwrap();
        }
        expect![[r#"
            read(~/.ssh/id) Ok(("Read", [Read("/home/user/.ssh/id")]))
            Read(../a) Ok(("Read", [Read("/a")]))
            Edit(/etc/x) Ok(("Edit", [Write("/etc/x")]))
            Write(a/./b) Ok(("Write", [Write("/space/a/b")]))
            Glob(src) Ok(("Glob", [Read("/space/src")]))
            GREP(//x) Ok(("Grep", [Read("/x")]))
            LS(~) Ok(("LS", [Read("/home/user")]))
            WebFetch(domain:example.com) Ok(("WebFetch", [Host("example.com")]))
            webfetch(https://me@example.com:8080/a?b) Ok(("WebFetch", [Host("example.com")]))
            WebFetch(http://2130706433/) Ok(("WebFetch", [Host("127.0.0.1")]))
            WebFetch(https://bücher.de/) Ok(("WebFetch", [Host("xn--bcher-kva.de")]))
            WebSearch(domain:EXAMPLE.com) Ok(("WebSearch", [Host("example.com")]))
            MultiEdit(a) Ok(("MultiEdit", [Write("/space/a")]))
            file_info(~/a) Ok(("file_info", [Read("/home/user/a")]))
            WebFetch(example.com) Err("`example.com` names no host; write domain:HOST or a URL")
            WebFetch(https://) Err("`https://` names no host; write domain:HOST or a URL")
            Task(x) Err("there is no such tool; there are Read, Write, Edit, Glob, Grep, LS, Bash, WebFetch, TodoWrite, TodoRead, batch, MultiEdit, apply_patch, file_info, ask_user, exec, git_status, git_diff, git_log, git_commit, CurrentTime, Calculator")
        "#]].assert_eq(&shown);
        let (tool, facts) = place.facts("bash", "ls; rm x").unwrap();
        assert_eq!((&*tool, facts.accesses.len()), ("Bash", 1));
    }
}
