//! Where what is for the user goes: a terminal, or lines of JSON.

use std::error::Error;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use heeler_core::{BoxFuture, Outbound, OutboundMessage};

/// Writes messages as a person reads them: the text, then each file by its reference, without what
/// would steer a terminal.
///
/// ```
/// use std::sync::Arc;
/// use heeler_toolkit::{Run, TerminalOutbound};
///
/// let run = Run::say("Tell me when it is done.").outbound(Arc::new(TerminalOutbound::new(std::io::stderr())));
/// # assert!(run.outbound.is_some());
/// ```
pub struct TerminalOutbound<W>(Arc<Mutex<W>>);

/// Writes each message as one line of JSON.
pub struct JsonLinesOutbound<W>(Arc<Mutex<W>>);

impl<W> TerminalOutbound<W> {
    /// Messages are written here.
    pub fn new(out: W) -> Self {
        Self(Arc::new(Mutex::new(out)))
    }
}

impl<W> JsonLinesOutbound<W> {
    /// Lines are written here.
    pub fn new(out: W) -> Self {
        Self(Arc::new(Mutex::new(out)))
    }
}

impl<W: Write + Send + 'static> Outbound for TerminalOutbound<W> {
    fn send(&self, message: OutboundMessage) -> Sent {
        let mut text = harmless(message.text.trim_end());
        for media in &message.media {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&media.to_string());
        }
        write(&self.0, text)
    }
}

impl<W: Write + Send + 'static> Outbound for JsonLinesOutbound<W> {
    fn send(&self, message: OutboundMessage) -> Sent {
        match serde_json::to_string(&message) {
            Ok(line) => write(&self.0, line),
            Err(error) => Box::pin(std::future::ready(Err(error.into()))),
        }
    }
}

type Sent = BoxFuture<Result<(), Box<dyn Error + Send + Sync>>>;

/// Writes a line beside the runtime: whoever reads the other end may be slow.
fn write<W: Write + Send + 'static>(out: &Arc<Mutex<W>>, mut line: String) -> Sent {
    let out = Arc::clone(out);
    line.push('\n');
    Box::pin(async move {
        let write = move || -> io::Result<()> {
            let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
            out.write_all(line.as_bytes())?;
            out.flush()
        };
        Ok(tokio::task::spawn_blocking(write).await??)
    })
}

fn harmless(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
