//! Playing: which recorded exchange answers a request.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use heeler_core::{
    Message, ModelEvent, ProviderError, ProviderErrorKind, ToolDefinition, from_json,
};

use super::line::{ExchangeLine, Line, VERSION};
use super::{Asked, CASSETTE_BYTES_MAX, CassetteError, Exchange, ExchangeEnd};

/// The exchanges of a cassette, in the order in which they were asked.
///
/// # Errors
/// When the file cannot be read or is no cassette; the message names the line. One that was cut short
/// at its end, as by the death of its writer, has all exchanges before that.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<Exchange>, CassetteError> {
    let path = path.as_ref();
    let failed = |why: String| CassetteError { what: "cannot replay", path: path.into(), why };
    let text = match read_text(path) {
        Ok(Some(text)) => text,
        Ok(None) => return Err(failed(format!("it is longer than {CASSETTE_BYTES_MAX} bytes"))),
        Err(error) => return Err(failed(error.to_string())),
    };
    exchanges(&text).map_err(failed)
}

/// The file's text, unless it is too long.
fn read_text(path: &Path) -> std::io::Result<Option<String>> {
    let file = File::open(path)?;
    if file.metadata()?.len() > CASSETTE_BYTES_MAX {
        return Ok(None);
    }
    let mut text = String::new();
    // It may grow while it is read.
    file.take(CASSETTE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Said of a file that is something else.
const NO_CASSETTE: &str = "it is no cassette, which begins with its version";

/// What is wrong with a line, which is the only one its parser saw.
fn unreadable(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    format!("{what}, at its byte {}", error.column())
}

#[derive(Default)]
struct Known {
    systems: Vec<Arc<str>>,
    tools: Vec<Arc<[ToolDefinition]>>,
    messages: Vec<Arc<Message>>,
}

fn exchanges(text: &str) -> Result<Vec<Exchange>, String> {
    let mut known = Known::default();
    let mut exchanges = Vec::new();
    let mut is_begun = false;
    for (line, at) in text.split_inclusive('\n').zip(1..) {
        // What lacks its line break was cut short.
        let Some(line) = line.strip_suffix('\n') else { break };
        let wrong = |why: &str| format!("line {at}: {why}");
        let line = match from_json(line) {
            Ok(line) => line,
            Err(_) if !is_begun => return Err(wrong(NO_CASSETTE)),
            Err(error) => return Err(wrong(&unreadable(&error))),
        };
        match line {
            Line::Cassette { version, heeler } if !is_begun => {
                if version != VERSION {
                    return Err(wrong(&format!(
                        "it has version {version}, of heeler {heeler}; this one reads version \
                         {VERSION}"
                    )));
                }
                is_begun = true;
            }
            _ if !is_begun => return Err(wrong(NO_CASSETTE)),
            Line::Cassette { .. } => return Err(wrong("another cassette begins here")),
            Line::System { number, text } => {
                next(&mut known.systems, number, text.into()).map_err(|why| wrong(&why))?;
            }
            Line::Tools { number, tools } => {
                next(&mut known.tools, number, tools.into()).map_err(|why| wrong(&why))?;
            }
            Line::Message { number, message } => {
                next(&mut known.messages, number, Arc::new(message)).map_err(|why| wrong(&why))?;
            }
            Line::Exchange(exchange) => {
                exchanges.push(known.exchange(*exchange).map_err(|why| wrong(&why))?);
            }
        }
    }
    if !is_begun {
        return Err(format!("line 1: {NO_CASSETTE}"));
    }
    // They were written as they ended.
    heeler_core::sort_by_key(&mut exchanges, |exchange| exchange.number);
    Ok(exchanges)
}

/// Adds a part whose number must be the next.
fn next<T>(parts: &mut Vec<T>, number: u32, part: T) -> Result<(), String> {
    parts.push(part);
    match parts.len() == number as usize {
        true => Ok(()),
        false => Err(format!("part {number} stands where {} should", parts.len())),
    }
}

fn part<T: Clone>(parts: &[T], number: u32) -> Result<T, String> {
    let part = (number as usize).checked_sub(1).and_then(|at| parts.get(at));
    part.cloned().ok_or_else(|| format!("part {number} was not said before"))
}

impl Known {
    fn exchange(&self, line: ExchangeLine) -> Result<Exchange, String> {
        let messages: Result<_, String> =
            line.messages.iter().map(|number| part(&self.messages, *number)).collect();
        let asked = Asked {
            model: line.model,
            system: part(&self.systems, line.system)?,
            tools: part(&self.tools, line.tools)?,
            provider_tools: line.provider_tools,
            messages: messages?,
            output_max: line.output_max,
            parameters: line.parameters,
        };
        Ok(Exchange { number: line.number, asked, events: line.events, end: line.end.into() })
    }
}

/// What of a cassette was played.
pub(super) struct Played {
    exchanges: Vec<Exchange>,
    is_played: Vec<bool>,
    /// How many requests came.
    came: u32,
    mismatch: Option<String>,
}

type Steps = Vec<Result<ModelEvent, ProviderError>>;

impl Played {
    pub(super) fn new(exchanges: Vec<Exchange>) -> Self {
        let is_played = vec![false; exchanges.len()];
        Self { exchanges, is_played, came: 0, mismatch: None }
    }

    pub(super) fn remaining(&self) -> usize {
        self.is_played.iter().filter(|is_played| !**is_played).count()
    }

    pub(super) fn mismatch(&self) -> Option<String> {
        self.mismatch.clone()
    }

    /// The answer to a request, or why there is none.
    pub(super) fn answer(&mut self, asked: &Asked) -> Result<Steps, String> {
        self.came = self.came.saturating_add(1);
        let mut waiting = self.exchanges.iter().zip(&self.is_played);
        let same = waiting.position(|(exchange, is_played)| !is_played && exchange.asked == *asked);
        let Some(at) = same else {
            let why = self.refuse(asked);
            self.mismatch.get_or_insert_with(|| why.clone());
            return Err(why);
        };
        self.is_played[at] = true;
        Ok(steps(&self.exchanges[at]))
    }

    fn refuse(&self, asked: &Asked) -> String {
        let came = self.came;
        if let Some(same) = self.exchanges.iter().find(|exchange| exchange.asked == *asked) {
            let number = same.number;
            return format!("request {came} is recorded as request {number}, which was answered");
        }
        // Of those that wait, the one that is the same for longest; of all, when none waits.
        let is_left = self.remaining() > 0;
        let all = self.exchanges.iter().zip(&self.is_played);
        let nearest = all
            .filter(|(_, is_played)| !is_left || !**is_played)
            .map(|(exchange, _)| exchange)
            .rev()
            .max_by_key(|exchange| exchange.asked.nearness(asked));
        let Some(Exchange { number, asked: recorded, .. }) = nearest else {
            return format!("request {came} is not recorded, since nothing is");
        };
        let Some(difference) = recorded.difference(asked) else {
            return format!("request {came} is not recorded");
        };
        let rest = if is_left { "" } else { " (all that is recorded was played)" };
        format!(
            "request {came} is not recorded; it differs from recorded request {number}{rest} \
             {difference}"
        )
    }
}

fn steps(exchange: &Exchange) -> Steps {
    let end = match &exchange.end {
        ExchangeEnd::Finished(reply) => Ok(ModelEvent::Finished((**reply).clone())),
        ExchangeEnd::Failed(error) => Err(error.clone()),
        ExchangeEnd::Cut => Err(ProviderError::new(
            ProviderErrorKind::InvalidRequest,
            format!("the answer to request {} was recorded only to here", exchange.number),
        )),
    };
    exchange.events.iter().cloned().map(Ok).chain([end]).collect()
}
