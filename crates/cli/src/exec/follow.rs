//! What is seen of a session that runs elsewhere, printed as `exec` prints its own.

use std::sync::Arc;

use heeler_core::{AgentPath, Envelope, Event, OpenPermission, TurnOutcome};
use heeler_engine::{Seen, Session};
use heeler_store::FileStore;

use super::ends::{End, Ends, is_end};
use super::finish::Finish;
use super::json::JsonPrinter;
use super::text::{TextPrinter, Told};
use super::watch::broken;
use super::{Printer, exit_of};
use crate::exit::Exit;
use crate::say::{one_line, say, told};

/// Prints what happens in a session until it ends; the exit code is that of its last turn, or says that
/// it could not be printed.
pub(crate) async fn follow(store: &FileStore, session: Session, is_json: bool) -> Exit {
    exit_of(print_all(store, session, is_json).await)
}

/// Says to a program that reads events why it is shown none.
pub(crate) fn not_followed(error: &anyhow::Error) -> Exit {
    let finish = Finish::failed(told(error));
    exit_of(JsonPrinter::new(true).finish(&finish).map(|()| finish.exit()))
}

async fn print_all(store: &FileStore, session: Session, is_json: bool) -> std::io::Result<Exit> {
    let mut printer: Box<dyn Printer> = match is_json {
        true => Box::new(JsonPrinter::new(true)),
        false => Box::new(TextPrinter::telling(Told::Progress)),
    };
    let (view, mut cursor) = session.subscribe();
    let model = session.state().await.map(|state| state.settings.model.name).unwrap_or_default();
    let mut ends = Ends::new(store, &session).await;
    printer.begin(&session, &model)?;
    let ask = |open: &OpenPermission| {
        if !is_json {
            say(asks(&session, open));
        }
    };
    for open in &view.permissions {
        // As if it were asked now: the events begin here.
        let event = Event::PermissionRequested(open.clone());
        let envelope = Envelope { seq: None, agent: AgentPath::default(), event };
        printer.print(&Seen::Event(Arc::new(envelope)))?;
        ask(open);
    }
    printer.flush()?;
    let mut last = None;
    let tell_end = async |end: End, printer: &mut dyn Printer| {
        let finish = finish_of(store, &session, end).await;
        match is_json {
            true => printer.turn_finished(&finish)?,
            false => printer.finish(&finish)?,
        }
        std::io::Result::Ok(finish)
    };
    loop {
        let mut next = tokio::select! {
            seen = cursor.next() => match seen {
                Some(seen) => Some(seen),
                None => break,
            },
            // The flush says why.
            () = broken(printer.outlet()) => None,
        };
        while let Some(seen) = next {
            for end in ends.until(&seen).await {
                last = Some(tell_end(end, printer.as_mut()).await?);
            }
            if !is_end(&seen) {
                printer.print(&seen)?;
            }
            match &seen {
                Seen::Event(envelope) => {
                    if let Event::PermissionRequested(open) = &envelope.event {
                        ask(open);
                    }
                }
                Seen::Resync(view) => view.permissions.iter().for_each(ask),
            }
            next = cursor.try_next();
        }
        printer.flush()?;
    }
    for end in ends.rest().await {
        last = Some(tell_end(end, printer.as_mut()).await?);
    }
    let (finish, is_told) = last_of(store, &session, last);
    if is_json || !is_told {
        printer.finish(&finish)?;
    }
    Ok(finish.exit())
}

/// Why a turn has no end.
pub(crate) const ENDED_IN_A_TURN: &str =
    "the heeler that had the session open ended in the middle of a turn";

/// How the session ended, after the last end of a turn; and whether people know it already.
fn last_of(store: &FileStore, session: &Session, last: Option<Finish>) -> (Finish, bool) {
    let (view, _) = session.subscribe();
    let ended = |outcome| Finish::of(session.id().clone(), outcome, None, &view).kept_in(store);
    match (&view.turn, last) {
        (None, Some(last)) => (last, true),
        // Nothing was done meanwhile.
        (None, None) => (ended(TurnOutcome::Done), true),
        (Some(_), _) => (ended(TurnOutcome::Failed { message: ENDED_IN_A_TURN.to_owned() }), false),
    }
}

async fn finish_of(store: &FileStore, session: &Session, end: End) -> Finish {
    let End { turn, outcome, answer, spent } = end;
    let state = session.state().await.ok();
    let (view, _) = session.subscribe();
    let finish = Finish::of(session.id().clone(), outcome, state.as_ref(), &view);
    Finish { turn, answer, ..finish.having(spent).kept_in(store) }
}

fn asks(session: &Session, open: &OpenPermission) -> String {
    let (id, what) = (session.id(), one_line(&open.summary));
    format!("  ? {what}: it waits for an answer; `heeler attach {id}` in a terminal")
}
