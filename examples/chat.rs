//! A conversation that survives its process, with a log of what each turn did:
//! `cargo run --bin chat -- FOLDER NAME`, then a line for each message.
use std::io::Write;
use std::sync::Arc;

use heeler::{
    Agent, Client, ContextManager, FileSessions, Message, RecordedEventKind, Session,
    SessionRecorder, load_or_new, save,
};
use tokio::io::{AsyncBufReadExt, BufReader, stdin};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(name)) = (arguments.next(), arguments.next()) else {
        anyhow::bail!("say where conversations are kept, and the name of this one");
    };
    let sessions = FileSessions::open(folder)?;
    let mut session = load_or_new(&sessions, &name).await?;
    println!("{} messages so far", session.history.len());

    let recorder = Arc::new(SessionRecorder::new());
    // What is sent is kept short; the session keeps everything.
    let context = ContextManager::new(50_000).keep_first(2).keep_recent(20);
    let client = Client::from_env()?.with_recorder(Arc::clone(&recorder))?;
    let agent = Agent::new(client).system("You are good company.").context(context);

    let mut lines = BufReader::new(stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        if line.trim().is_empty() {
            continue;
        }
        session.history.push(Message::user(line));
        match agent.step(session.history.clone()).await {
            Ok(result) => {
                println!("{}", result.final_text());
                session.history = result.messages;
            }
            // Its history is valid as well: go on from what was done.
            Err(error) => {
                println!("[{error}]");
                session.history = error.result.messages;
            }
        }
        let seen = session.events.len();
        recorder.move_into(&mut session);
        log(&session, seen)?;
        // Fails if another process changed the conversation meanwhile; nothing is overwritten.
        save(&sessions, &mut session).await?;
    }
    Ok(())
}

/// What the last turn did.
fn log(session: &Session, seen: usize) -> std::io::Result<()> {
    let mut errors = std::io::stderr();
    for event in session.events.iter().skip(seen) {
        let more = match &event.kind {
            RecordedEventKind::ToolCallStart { tool, .. } => format!(" {tool}"),
            RecordedEventKind::TurnEnd { usage } => format!(" {} tokens", usage.total()),
            RecordedEventKind::TurnError { error, .. } => format!(" {error}"),
            _ => String::new(),
        };
        writeln!(errors, "  #{} {}{more}", event.seq, event.kind.name())?;
    }
    Ok(())
}
