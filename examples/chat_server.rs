//! A chat for many users over plain TCP: `ADDRESS=127.0.0.1:4000 cargo run --bin chat-server`, then
//! `nc 127.0.0.1 4000`. The first line is the user's name; whoever comes back goes on.
use std::sync::Arc;

use anyhow::bail;
use futures::StreamExt;
use heeler::{
    Agent, AgentHooks, Client, ContextManager, Limits, MemorySessions, Message, RunEvent, Session,
    load_or_new, save,
};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

const USERS_AT_ONCE: usize = 1000;
const LINE_BYTES_MAX: usize = 8 * 1024;

async fn serve(agent: Agent, sessions: MemorySessions, socket: TcpStream) -> anyhow::Result<()> {
    let (reader, mut writer) = socket.into_split();
    let mut reader = BufReader::new(reader);
    writer.write_all(b"Who are you?\n").await?;
    let Some(name) = line(&mut reader).await? else { return Ok(()) };
    let mut session = load_or_new(&sessions, &name).await?;
    let greeting = match session.history.len() {
        0 => format!("Welcome, {name}.\n"),
        n => format!("Welcome back, {name}: {n} messages.\n"),
    };
    writer.write_all(greeting.as_bytes()).await?;
    while let Some(text) = line(&mut reader).await? {
        session.history.push(Message::user(text));
        let mut events = agent.step_stream(session.history.clone());
        while let Some(event) = events.next().await {
            match event {
                RunEvent::TextDelta { text, .. } => writer.write_all(text.as_bytes()).await?,
                RunEvent::Reset { .. } => writer.write_all(b"\n[once more] ").await?,
                RunEvent::Finished(result) => {
                    session.history = match result {
                        Ok(result) => result.messages,
                        Err(error) => {
                            writer.write_all(format!("[{error}]").as_bytes()).await?;
                            error.result.messages
                        }
                    };
                }
                _ => {}
            }
        }
        writer.write_all(b"\n").await?;
        keep(&sessions, &mut session).await?;
    }
    Ok(())
}

/// Keeps a conversation, unless the same user spoke somewhere else meanwhile.
async fn keep(sessions: &MemorySessions, session: &mut Session) -> anyhow::Result<()> {
    match save(sessions, session).await {
        Ok(_) => Ok(()),
        Err(error) => bail!("{} went on elsewhere: {error}", session.id),
    }
}

/// The next line that says something; `None` at the end.
async fn line(reader: &mut (impl AsyncBufReadExt + Unpin)) -> anyhow::Result<Option<String>> {
    loop {
        let mut line = Vec::new();
        let mut limited = (&mut *reader).take(LINE_BYTES_MAX as u64);
        let n_bytes = limited.read_until(b'\n', &mut line).await?;
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        match n_bytes {
            0 => return Ok(None),
            LINE_BYTES_MAX => bail!("a line is longer than {LINE_BYTES_MAX} bytes"),
            _ if text.is_empty() => {}
            _ => return Ok(Some(text)),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let hooks = AgentHooks::default().on_step_done(|result| match result {
        Ok(result) => println!("{} tokens", result.usage.total()),
        Err(error) => println!("failed: {error}"),
    });
    let agent = Agent::new(Client::from_env()?)
        .system("You are a friendly host. Be brief.")
        .context(ContextManager::new(20_000).keep_recent(20))
        .limits(Limits { rounds: 5, tokens: 50_000, ..Limits::default() })
        .hooks(hooks);
    let (sessions, room) = (MemorySessions::new(), Arc::new(Semaphore::new(USERS_AT_ONCE)));
    let address = std::env::var("ADDRESS").unwrap_or("127.0.0.1:4000".into());
    let listener = TcpListener::bind(address).await?;
    println!("listening on {}", listener.local_addr()?);
    loop {
        let place = Arc::clone(&room).acquire_owned().await?;
        let (socket, from) = listener.accept().await?;
        let (agent, sessions) = (agent.clone(), sessions.clone());
        tokio::spawn(async move {
            if let Err(error) = serve(agent, sessions, socket).await {
                println!("{from}: {error}");
            }
            drop(place);
        });
    }
}
