//! What is seen of a session that runs elsewhere, printed as `exec` prints its own.

use heeler_core::{Event, OpenPermission, TurnOutcome};
use heeler_engine::{Seen, Session};
use heeler_store::FileStore;

use super::finish::Finish;
use super::json::JsonPrinter;
use super::text::{TextPrinter, Told, one_line};
use super::watch::broken;
use super::{Printer, exit_of};
use crate::exit::Exit;
use crate::say::say;

/// Prints what happens in a session until it ends; the exit code is that of its last turn, or says that
/// it could not be printed.
pub(crate) async fn follow(store: &FileStore, session: Session, is_json: bool) -> Exit {
    exit_of(print_all(store, session, is_json).await)
}

async fn print_all(store: &FileStore, session: Session, is_json: bool) -> std::io::Result<Exit> {
    let mut printer: Box<dyn Printer> = match is_json {
        true => Box::new(JsonPrinter::new(true)),
        false => Box::new(TextPrinter { told: Told::Progress }),
    };
    let (view, mut cursor) = session.subscribe();
    let model = session.state().await.map(|state| state.settings.model.name).unwrap_or_default();
    printer.begin(&session, &model)?;
    let ask = |open: &OpenPermission| {
        if !is_json {
            say(asks(&session, open));
        }
    };
    view.permissions.iter().for_each(ask);
    printer.flush()?;
    let mut last = None;
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
            if let Some(finish) = finish_of(store, &session, &seen).await {
                match is_json {
                    true => printer.turn_finished(&finish)?,
                    false => printer.finish(&finish)?,
                }
                last = Some(finish);
            } else {
                printer.print(&seen)?;
                if let Seen::Event(envelope) = &seen
                    && let Event::PermissionRequested(open) = &envelope.event
                {
                    ask(open);
                }
            }
            next = cursor.try_next();
        }
        printer.flush()?;
    }
    let (view, _) = session.subscribe();
    let finish = match (view.turn, last) {
        (None, Some(last)) => last,
        // Nothing was done meanwhile.
        (None, None) => return Ok(Exit::Done),
        (Some(_), _) => {
            let message = "the heeler that had the session open ended in the middle of a turn";
            let outcome = TurnOutcome::Failed { message: message.to_owned() };
            let (view, _) = session.subscribe();
            let finish = Finish::of(session.id().clone(), outcome, None, &view).kept_in(store);
            if !is_json {
                printer.finish(&finish)?;
            }
            finish
        }
    };
    if is_json {
        printer.finish(&finish)?;
    }
    Ok(finish.exit())
}

/// The end of a turn, if this is one.
async fn finish_of(store: &FileStore, session: &Session, seen: &Seen) -> Option<Finish> {
    let Seen::Event(envelope) = seen else { return None };
    let Event::TurnFinished { turn, outcome, answer } = &envelope.event else { return None };
    let state = session.state().await.ok();
    let (view, _) = session.subscribe();
    let finish = Finish::of(session.id().clone(), outcome.clone(), state.as_ref(), &view);
    Some(Finish { turn: *turn, answer: answer.clone(), ..finish.kept_in(store) })
}

fn asks(session: &Session, open: &OpenPermission) -> String {
    let (id, what) = (session.id(), one_line(&open.summary));
    format!("  ? {what}: it waits for an answer; `heeler attach {id}` in a terminal")
}
