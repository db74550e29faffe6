//! The bare loop: ask, run what is asked for with bash, append each message to a file, again.
//!
//! `bare-loop PROMPT JOURNAL [PROGRAM...]` does one session with real commands, each started by that
//! program where there is one; `bare-loop --sessions N` does N at once with a tool that does nothing,
//! in the process, and no file. With `--over-reqwest` before them, it asks with the client that most
//! programs would take instead of heeler's.

use std::fs::File;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use heeler_bench::{Answer, Call, Client, read, target};
use serde_json::{Value, json};
use tokio::task::JoinSet;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (is_over_reqwest, arguments) = match arguments.as_slice() {
        ["--over-reqwest", rest @ ..] => (true, rest),
        all => (false, all),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = async || if is_over_reqwest { Client::reqwest() } else { Client::own().await };
        match arguments {
            ["--version"] => println!("bare-loop"),
            ["--sessions", n] => sessions(client().await?, n.parse()?).await?,
            [prompt, journal, wrapper @ ..] => {
                let file = File::create(journal).with_context(|| format!("making {journal}"))?;
                run(&client().await?, prompt, Some(file), wrapper).await?;
            }
            _ => bail!("usage: bare-loop [--over-reqwest] PROMPT JOURNAL [PROGRAM...]"),
        }
        Ok(())
    })
}

/// Each is a task of its own: futures within one share its turns, and it has done with most of a
/// thousand before the last of them are begun.
async fn sessions(client: Client, n: usize) -> Result<()> {
    let mut sessions = JoinSet::new();
    for _ in 0..n {
        let client = client.clone();
        sessions.spawn(async move { run(&client, "go", None, &[]).await });
    }
    while let Some(done) = sessions.join_next().await {
        done??;
    }
    Ok(())
}

async fn run(
    client: &Client,
    prompt: &str,
    mut journal: Option<File>,
    wrapper: &[&str],
) -> Result<()> {
    let target = target()?;
    // The conversation as it is sent; only its end is new in a round.
    let mut body = head().into_bytes();
    push(&mut body, &mut journal, &json!({"role": "user", "content": prompt}))?;
    loop {
        let mut whole = Vec::with_capacity(body.len() + 2);
        whole.extend_from_slice(&body);
        whole.extend_from_slice(b"]}");
        let answer = read(client.post(&target, whole).await?).await?;
        body.push(b',');
        push(&mut body, &mut journal, &said(&answer)?)?;
        if answer.calls.is_empty() {
            return Ok(());
        }
        let outputs = match journal {
            Some(_) => outputs(&answer.calls, wrapper)?,
            None => answer.calls.iter().map(|_| "done".to_owned()).collect(),
        };
        let results = answer.calls.iter().zip(outputs).map(|(call, output)| {
            json!({"type": "tool_result", "tool_use_id": call.id, "content": output})
        });
        let results = json!({"role": "user", "content": results.collect::<Vec<_>>()});
        body.push(b',');
        push(&mut body, &mut journal, &results)?;
    }
}

fn head() -> String {
    let schema = json!({
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    });
    let tool = json!({"name": "Bash", "description": "Runs a command.", "input_schema": schema});
    format!(r#"{{"model":"bare","max_tokens":1000,"stream":true,"tools":[{tool}],"messages":["#)
}

/// Adds a message to the conversation and to the file.
fn push(body: &mut Vec<u8>, journal: &mut Option<File>, message: &Value) -> Result<()> {
    let mut line = serde_json::to_vec(message)?;
    body.extend_from_slice(&line);
    if let Some(file) = journal {
        line.push(b'\n');
        file.write_all(&line)?;
    }
    Ok(())
}

fn said(answer: &Answer) -> Result<Value> {
    let mut content = Vec::new();
    if !answer.text.is_empty() {
        content.push(json!({"type": "text", "text": answer.text}));
    }
    for call in &answer.calls {
        let input: Value = serde_json::from_str(&call.input)?;
        content.push(json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input}));
    }
    Ok(json!({"role": "assistant", "content": content}))
}

/// Runs all calls at once, and waits for them in order.
fn outputs(calls: &[Call], wrapper: &[&str]) -> Result<Vec<String>> {
    let children: Vec<Child> =
        calls.iter().map(|call| start(call, wrapper)).collect::<Result<_>>()?;
    let outputs = children.into_iter().map(|child| {
        let output = child.wait_with_output()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    });
    outputs.collect()
}

#[expect(clippy::disallowed_methods, reason = "a loop without an engine has no launcher either")]
fn start(call: &Call, wrapper: &[&str]) -> Result<Child> {
    let input: Value = serde_json::from_str(&call.input)?;
    let line = input["command"].as_str().context("a call without a command")?;
    let mut words = wrapper.iter().copied().chain(["bash", "-c", "--", line]);
    let mut command = Command::new(words.next().context("nothing to start")?);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped());
    Ok(command.spawn()?)
}
