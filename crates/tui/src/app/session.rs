//! The session that is shown: opened, and followed by its events.

use heeler_core::{Decision, Event, PermissionId, Role, Timestamp, TurnOutcome};
use heeler_engine::Seen;

use super::{Action, App, Opened, apart, change};
use crate::transcript::{Note, Transcript};

/// What is otherwise where another process has the session open.
const GUEST: &str = "attached: the session runs elsewhere. Esc stops its turn; Ctrl-C twice or Ctrl-D \
                     leaves, and it goes on";

impl App {
    pub(super) fn open(&mut self, opened: Opened, now: Timestamp) {
        let is_other = opened.id != self.session;
        if !is_other && self.is_begun {
            let text = format!("{} answers from here on", opened.settings.model.name);
            self.transcript.note(Note::quiet(text));
        } else {
            self.transcript = Transcript::of_view(&opened.view, !opened.is_unfinished, now);
        }
        self.leave_works(is_other);
        if let Some(origin) = &opened.new_fork {
            self.transcript.note(Note::quiet(format!("forked from {origin}")));
        }
        if self.is_guest {
            self.transcript.note(Note::quiet(GUEST));
        }
        self.is_begun = true;
        self.switches(false);
        self.prompts.clear();
        for open in opened.view.permissions.clone() {
            self.prompts.request(open);
        }
        self.is_turn_new = false;
        self.take_untaken_back();
        self.wait_now(&opened.view.steering);
        if !self.is_guest {
            self.find_waiting();
        }
        self.know_waiting(opened.waiting.clone());
        self.picker = None;
        self.pager = None;
        self.status.open(&opened);
        // Whoever was given it for this window has it in each session of the window.
        self.mode_apart = apart(opened.settings.policy.mode).or(self.mode_apart);
        self.settings = opened.settings;
        self.session = opened.id;
        self.is_unfinished = opened.is_unfinished;
        if self.is_unfinished {
            let next = match self.prompts.is_open() {
                true => "your answer goes on with it, Esc ends it",
                false => "Enter goes on with it, Esc ends it; or say something else",
            };
            let text = format!("a turn was left unfinished: {next}");
            self.transcript.note(Note::warning(text));
        }
    }

    pub(super) fn see(&mut self, seen: &Seen, now: Timestamp) -> Vec<Action> {
        self.transcript.see(seen, now);
        self.status.see(seen, now);
        self.failure = failure(seen);
        let mut actions: Vec<Action> = self.see_works(seen, now).into_iter().collect();
        actions.extend(self.see_session(seen, now));
        actions
    }

    fn see_session(&mut self, seen: &Seen, now: Timestamp) -> Vec<Action> {
        if self.is_unfinished && matches!(seen, Seen::Event(envelope) if runs(&envelope.event)) {
            // Somebody at another terminal goes on with it.
            self.is_unfinished = false;
            self.transcript.resumed(now);
        }
        match seen {
            Seen::Event(envelope) => match &envelope.event {
                Event::PermissionRequested(open) => {
                    self.prompts.request(open.clone());
                    let path = change::path(open);
                    return path.map(|path| Action::Look(open.id, path)).into_iter().collect();
                }
                Event::PermissionDecided { id, decision, by } => self.decided(*id, decision, by),
                Event::CallFinished { call, is_error, .. } => {
                    let had_asked = self.prompts.ended(&envelope.agent, *call);
                    if had_asked && !is_error {
                        self.transcript.note(Note::quiet("answered elsewhere"));
                    }
                }
                Event::SteeringQueued { id } => return self.waits(id),
                Event::SteeringDelivered { id } => {
                    self.speaks(true);
                    self.delivered(id);
                }
                Event::Message { message }
                    if message.role == Role::User && envelope.agent.is_main() =>
                {
                    self.speaks(false);
                }
                // This may be seen before the answer to who took it back.
                Event::SteeringTakenBack { id } => {
                    self.take_back(id);
                }
                Event::TurnStarted { .. } if envelope.agent.is_main() => self.is_turn_new = true,
                Event::TurnFinished { .. } if envelope.agent.is_main() => {
                    self.is_turn_new = false;
                    self.is_unfinished = false;
                    self.told.has_ended = true;
                    self.prompts.clear();
                    self.forget_over();
                }
                _ => {}
            },
            Seen::Resync(view) => {
                self.missed(view);
                self.prompts.replace_requests(view.permissions.iter().cloned());
                self.is_unfinished &= view.turn.is_some();
                if view.turn.is_some() && !self.is_unfinished && !self.is_busy() {
                    self.transcript.resumed(now);
                }
                return self.wait_now(&view.steering);
            }
        }
        Vec::new()
    }

    /// Somebody decided; who asks here is told, unless it was answered here.
    pub(super) fn decided(&mut self, id: PermissionId, decision: &Decision, by: &str) {
        if let Decision::LeavePlan { mode } = decision {
            self.settings.policy.mode = *mode;
        }
        let is_own = by == if self.is_guest { "attached terminal" } else { "terminal" };
        if self.prompts.decided(id, is_own) {
            self.transcript.note(Note::quiet(format!("{}, by {by}", decision_name(decision))));
        }
    }
}

/// Why a turn of the session failed, when that is told.
fn failure(seen: &Seen) -> Option<String> {
    let Seen::Event(envelope) = seen else { return None };
    match &envelope.event {
        Event::TurnFinished { outcome: TurnOutcome::Failed { message }, .. }
            if envelope.agent.is_main() =>
        {
            Some(message.clone())
        }
        _ => None,
    }
}

/// What somebody else answered, in a word or two.
fn decision_name(decision: &Decision) -> &'static str {
    match decision {
        Decision::Once => "allowed once",
        Decision::Session { .. } => "allowed for this session",
        Decision::Always { .. } => "allowed in this folder",
        Decision::Edited { .. } => "edited and allowed",
        Decision::LeavePlan { .. } => "plan mode is left",
        Decision::Deny { .. } => "denied",
        Decision::DenyAndStop { .. } => "denied, and the turn stopped",
    }
}

/// Whether there are such events only of a turn that goes on.
fn runs(event: &Event) -> bool {
    matches!(
        event,
        Event::AttemptStarted { .. }
            | Event::TextDelta { .. }
            | Event::ThinkingDelta { .. }
            | Event::ToolInputDelta { .. }
            | Event::CallStarted { .. }
            | Event::CallProgress { .. }
            | Event::Heartbeat { .. }
    )
}
