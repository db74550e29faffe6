//! People: they interrupt, steer, take back, decide twice, and change their minds, at any moment.

use heeler_core::{
    Block, Decision, Durability, Effect, EffectId, EffectKind, Input, InterruptCause,
    PermissionDecided, PermissionId, Record, RuleEffect, SteeringId, SteeringQueued,
};

use super::{Stop, World};
use crate::matrix::Fault;
use crate::{people, scene};

/// What people do besides saying the next thing, the calmest first.
const ACTS: [Fault; 19] = [
    Fault::Steer,
    Fault::Interrupt,
    Fault::SteerTwice,
    Fault::TakeBack,
    Fault::Queue,
    Fault::Rule,
    Fault::Limits,
    Fault::Policy,
    Fault::Settings,
    Fault::System,
    Fault::Compact,
    Fault::Steer,
    Fault::Compact,
    Fault::TakeBack,
    Fault::Undo,
    Fault::Rename,
    Fault::Undo,
    Fault::Stale,
    Fault::WorkCancelled,
];

impl World<'_> {
    /// Whether somebody acts now; `calm` times less often than usual.
    pub(super) fn has_act(&mut self, calm: u32) -> bool {
        self.scene.acts_left > 0 && self.chance.percent(self.scene.acts / calm)
    }

    /// Whether somebody acts before what is due is begun.
    pub(super) fn comes_between(&mut self, pending: &[Effect]) -> bool {
        let wish = match (is_half_planned(pending), is_cut_back(pending)) {
            (true, _) => 50,
            (false, true) => 30,
            (false, false) => return self.has_act(2),
        };
        self.scene.acts_left > 0 && self.chance.percent(wish)
    }

    /// Somebody does something. `false` when it could not be done now.
    pub(super) fn act(&mut self) -> Result<bool, Stop> {
        self.scene.acts_left -= 1;
        let pending = self.state.pending();
        if let Some(id) = self.open_request()
            && self.chance.percent(60)
        {
            let act = self.chance.pick(&people::ANSWERS);
            self.matrix.hit(act, &pending);
            return self.decide(act, id).map(|()| true);
        }
        let act = match !self.works.is_empty() && self.chance.percent(20) {
            true => Fault::WorkCancelled,
            false => self.chance.pick(&ACTS),
        };
        let records = match act {
            Fault::Interrupt => {
                if self.state.turn.is_none() && self.state.compaction.is_none() {
                    return Ok(false);
                }
                self.matrix.hit(act, &pending);
                return self.interrupt(InterruptCause::Cancelled).map(|()| true);
            }
            Fault::Steer | Fault::SteerTwice => {
                self.is_active = true;
                self.steering(act)
            }
            Fault::TakeBack => {
                let Some(id) = self.some_steering() else { return Ok(false) };
                vec![Record::SteeringTakenBack { id }]
            }
            Fault::Queue => {
                if self.state.turn.is_none() || self.scene.inputs_left == 0 {
                    return Ok(false);
                }
                match self.next_input() {
                    // A driver without a queue of its own leaves it to the machine.
                    Some(input) if self.chance.percent(50) => vec![Record::Input(Box::new(input))],
                    input => {
                        self.queue.extend(input);
                        vec![]
                    }
                }
            }
            Fault::WorkCancelled => match self.cancelled_work() {
                Some(records) => records,
                None => return Ok(false),
            },
            Fault::Stale => return self.repeat_an_outcome().map(|()| true),
            _ => self.change(act),
        };
        self.matrix.hit(act, &pending);
        self.write(records, Durability::Written)?;
        // What ran under the old rules, and dies under the new ones.
        let runs = self.flights.keys().any(|id| matches!(id, EffectId::Run(_)));
        let is_new_law = matches!(act, Fault::Rule | Fault::Policy);
        if is_new_law && runs && self.scene.crashes_left > 0 && self.chance.percent(30) {
            return Err(self.crash(&pending));
        }
        Ok(true)
    }

    /// What the session runs under is another from here on.
    fn change(&mut self, act: Fault) -> Vec<Record> {
        match act {
            Fault::Rule => {
                let effect = self.chance.pick(&[RuleEffect::Allow, RuleEffect::Deny]);
                let rule = match self.running_tool() {
                    // Aimed at what runs just now.
                    Some(tool) if self.chance.percent(40) => Some(scene::rule_against(&tool)),
                    _ => scene::rule(effect, self.chance),
                };
                rule.map(|rule| Record::RuleGranted(Box::new(rule))).into_iter().collect()
            }
            Fault::Limits => {
                let limits = scene::limits(self.chance);
                self.settings.limits = limits;
                vec![Record::LimitsChanged(limits)]
            }
            Fault::Policy => {
                self.settings.policy = scene::policy(self.chance);
                vec![Record::SettingsChanged(Box::new(self.settings.clone()))]
            }
            Fault::Settings => {
                self.settings = self.scene.other_settings(self.chance);
                vec![Record::SettingsChanged(Box::new(self.settings.clone()))]
            }
            Fault::System => {
                self.system_version += 1;
                self.tools_version += self.chance.below(2);
                vec![]
            }
            Fault::Rename => {
                let name = self.chance.pick(&[Some("first"), Some("second"), None]);
                let name = name.and_then(|name| name.parse().ok());
                vec![Record::Named { name }]
            }
            Fault::Undo => {
                self.is_active = true;
                self.undo_wanted = true;
                vec![]
            }
            _ => {
                self.is_active = true;
                self.compaction_wanted = true;
                vec![]
            }
        }
    }

    fn running_tool(&self) -> Option<String> {
        let calls = self.state.turn.iter().flat_map(|turn| &turn.calls);
        let mut running = calls.filter(|call| self.flights.contains_key(&EffectId::Run(call.id)));
        running.next().map(|call| call.name.clone())
    }

    fn steering(&mut self, act: Fault) -> Vec<Record> {
        let id = SteeringId(format!("s{}", self.steered.len()));
        self.steered.push(id.clone());
        let blocks = match self.chance.below(12) {
            11 => vec![Block::text(" ")],
            10 => vec![Block::text(format!("{} {}", id.0, "and more ".repeat(40)))],
            _ => vec![Block::text(format!("{} please", id.0))],
        };
        let input = Input { blocks, origin: heeler_core::InputOrigin::default() };
        let queued = Record::SteeringQueued(Box::new(SteeringQueued::said(id, input)));
        let twice = act == Fault::SteerTwice;
        if twice { vec![queued.clone(), queued] } else { vec![queued] }
    }

    fn some_steering(&mut self) -> Option<SteeringId> {
        if let Some(queued) = self.state.steering.last()
            && self.chance.percent(70)
        {
            return Some(queued.id.clone());
        }
        if self.steered.is_empty() {
            return None;
        }
        let at = self.chance.index(self.steered.len());
        Some(self.steered[at].clone())
    }

    /// The next thing the user says, if there is one.
    fn next_input(&mut self) -> Option<Input> {
        if self.scene.inputs_left == 0 {
            return None;
        }
        self.scene.inputs_left -= 1;
        self.inputs_said += 1;
        let text = match self.chance.below(20) {
            19 => "\n".to_owned(),
            18 => format!("input {} {}", self.inputs_said, "long ".repeat(60)),
            17 => format!("input {} {}", self.inputs_said, "too long ".repeat(300)),
            _ => format!("input {}", self.inputs_said),
        };
        Some(Input::text(text))
    }

    /// With nothing running, the user says the next thing. `false` when all is said.
    pub(super) fn say_next(&mut self) -> Result<bool, Stop> {
        let Some(input) = self.next_input() else { return Ok(false) };
        self.is_active = true;
        self.write(vec![Record::Input(Box::new(input))], Durability::Written)?;
        Ok(true)
    }

    /// Only a person can move the session on.
    pub(super) fn settle_what_waits_for_people(&mut self) -> Result<bool, Stop> {
        match self.open_request() {
            Some(id) => {
                let decision = people::decision(self.chance);
                let by = "person".into();
                let record =
                    Record::PermissionDecided(Box::new(PermissionDecided { id, decision, by }));
                self.write(vec![record], Durability::Written)?;
                Ok(true)
            }
            None => {
                let words = "a turn runs, nothing flies, and nobody is asked";
                Err(crate::check::Violation::new(crate::check::Invariant::Ends, words).into())
            }
        }
    }

    fn open_request(&mut self) -> Option<PermissionId> {
        let open = self.state.view().permissions;
        if open.is_empty() {
            return None;
        }
        let at = self.chance.index(open.len());
        Some(open[at].id)
    }

    fn decide(&mut self, act: Fault, id: PermissionId) -> Result<(), Stop> {
        let decision = match act {
            Fault::Deny => Decision::Deny { reason: Some("no".into()) },
            Fault::DenyAndStop => Decision::DenyAndStop { reason: None },
            Fault::Grant => people::grant(self.chance),
            Fault::Edit => people::edit(self.chance),
            Fault::LeavePlan => people::leave_plan(self.chance),
            _ => Decision::Once,
        };
        let durability = match decision {
            Decision::Always { .. } => Durability::Synced,
            _ => Durability::Written,
        };
        let answer = |decision, by: &str| {
            Record::PermissionDecided(Box::new(PermissionDecided { id, decision, by: by.into() }))
        };
        let mut records = vec![answer(decision, "person")];
        if act == Fault::ApproveTwice {
            let second = people::decision(self.chance);
            records.push(answer(second, "somebody else"));
        }
        self.write(records, durability)
    }

    /// A driver that retries blindly says what something came to a second time.
    fn repeat_an_outcome(&mut self) -> Result<(), Stop> {
        let pending = self.state.pending();
        let outcomes: Vec<Record> = self
            .store
            .entries()
            .iter()
            .rev()
            .map(|entry| &entry.record)
            .filter(|record| match record {
                Record::SteeringQueued(queued) => queued.background.is_some(),
                Record::CallFinished { .. }
                | Record::CallPlanned(_)
                | Record::CallStarted { .. }
                | Record::PermissionDecided(_)
                | Record::TurnFinished { .. } => true,
                _ => false,
            })
            .take(3)
            .cloned()
            .collect();
        if outcomes.is_empty() {
            return Ok(());
        }
        let at = self.chance.index(outcomes.len());
        if self.would_start_unseen(&outcomes[at]) {
            return Ok(());
        }
        self.matrix.hit(Fault::Stale, &pending);
        self.write(vec![outcomes[at].clone()], Durability::Written)
    }

    /// A start said again after a crash would be a start of its own, which nobody performs.
    fn would_start_unseen(&self, record: &Record) -> bool {
        let Record::CallStarted { call } = record else { return false };
        !self.flights.contains_key(&EffectId::Run(*call))
    }
}

/// The conversation is due to be cut back without a summary: rare, so it is used.
pub(super) fn is_cut_back(pending: &[Effect]) -> bool {
    let cuts = |kind: &EffectKind| matches!(kind, EffectKind::Prune(_) | EffectKind::Trim(_));
    pending.iter().any(|effect| cuts(&effect.kind))
}

/// Somebody is asked about one call while another is not looked up yet: rare, so it is used.
fn is_half_planned(pending: &[Effect]) -> bool {
    let plans = |effect: &Effect| matches!(effect.kind, EffectKind::PlanCall { .. });
    let asks =
        |effect: &Effect| matches!(effect.kind, EffectKind::AskPermission { asked: true, .. });
    pending.iter().any(plans) && pending.iter().any(asks)
}
