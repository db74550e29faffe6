//! Takes a session over: lease, journal, what dead calls left, crash rules.

use std::path::Path;
use std::sync::Arc;

use heeler_core::{
    Durability, Journal, Latest, Lease, Mode, Opened, Record, Rule, RuleEffect, Seq, SessionId,
    StoreError,
};
use heeler_turn::State;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::checkpoint::Checkpoints;
use super::eager::EagerCalls;
use super::fallback::Fallbacks;
use super::outbound::Messenger;
use super::prompts::Prompts;
use super::running::Running;
use super::write::Unwritten;
use super::{Command, Driver};
use crate::Parts;
use crate::bugs::{Bug, is_on};
use crate::images::ImageDoor;
use crate::log::EventLog;

impl Driver {
    pub(crate) async fn open(
        parts: Parts,
        id: SessionId,
        commands: mpsc::Receiver<Box<Command>>,
    ) -> Result<Box<Self>, StoreError> {
        let empty = match &parts.estimate {
            Some(estimate) => State::with_estimate(Arc::clone(estimate)),
            None => State::new(),
        };
        let resumed = parts.store.resume(id, empty.checkpoint_format()).await?;
        let lease = Arc::new(resumed.lease);
        let (mut state, journal, kept) = fold(&parts, empty, resumed.latest).await?;
        if !journal.damage.is_empty() {
            state.distrust(journal.lost_up_to());
        }
        let incarnation = state.incarnation.saturating_add(1);
        let mut parts = parts;
        add_own_rules(&mut parts, &journal.header.id);
        let checkpoints = Checkpoints::after(kept);
        let mut driver = Self::at_rest(parts, lease, state, &journal, checkpoints, commands);
        driver.messenger =
            driver.parts.outbound.clone().map(|outbound| Messenger::new(outbound, driver.log()));
        let mut settings = std::mem::take(&mut driver.parts.settings);
        if driver.parts.keeps_plan && driver.state.settings.policy.mode == Mode::Plan {
            settings.policy.mode = Mode::Plan;
        }
        driver.parts.settings = driver.state.settings_to_go_on_with(settings);
        // From the next record on nobody knows any more which calls were cut off.
        if !is_on(Bug::UnclearedCalls) {
            driver.clean_up().await;
        }
        let build = driver.parts.build.clone();
        let mut records = vec![Record::Opened(Opened { incarnation, build })];
        let is_chosen = driver.state.chosen.model() == driver.parts.settings.model.name;
        // One that only stood in until now may be the chosen one from here on.
        if driver.state.settings != driver.parts.settings || !is_chosen {
            records.push(Record::SettingsChanged(Box::new(driver.parts.settings.clone())));
        }
        driver.write(records, Durability::Written).await?;
        Ok(driver)
    }

    /// A driver of a session in which nothing is going on.
    fn at_rest(
        parts: Parts,
        lease: Arc<Lease>,
        state: State,
        journal: &Journal,
        checkpoints: Checkpoints,
        commands: mpsc::Receiver<Box<Command>>,
    ) -> Box<Self> {
        Box::new(Self {
            workspace: journal.header.workspace.clone(),
            lease,
            log: EventLog::new(state.view()),
            state,
            lost_up_to: journal.lost_up_to(),
            unwritten: Unwritten::default(),
            commands,
            tasks: JoinSet::new(),
            running: Running::default(),
            done_at_once: std::collections::VecDeque::new(),
            stream: None,
            steps: 0,
            eager: EagerCalls::default(),
            inner_room: None,
            just_planned: Vec::new(),
            permission: None,
            waiting: Vec::new(),
            queue: std::collections::VecDeque::new(),
            prompts: Prompts::default(),
            images: ImageDoor::default(),
            tools: parts.tools.clone(),
            seen_at: parts.clock.now(),
            alarm: None,
            closing: None,
            compaction_wanted: Vec::new(),
            compaction_waiting: Vec::new(),
            undo_waiting: Vec::new(),
            is_active: false,
            is_halted: false,
            notice: (!journal.damage.is_empty()).then(|| damage_notice(journal)),
            checkpoints,
            messenger: None,
            desk: super::background::Desk::new(),
            fallbacks: Fallbacks::default(),
            is_settled: false,
            parts,
        })
    }
}

/// The state after all records, their journal, and the record after which a checkpoint stands.
async fn fold(
    parts: &Parts,
    empty: State,
    latest: Latest,
) -> Result<(State, Journal, Seq), StoreError> {
    let Latest { checkpoint, mut journal } = latest;
    let (mut state, kept) = match &checkpoint {
        None => (empty, 0),
        Some(checkpoint) => match State::from_checkpoint(&checkpoint.state) {
            Ok(state) => (state, checkpoint.seq),
            Err(error) => {
                tracing::warn!(%error, "a checkpoint of today's format cannot be read");
                journal = parts.store.read(journal.header.id.clone()).await?;
                (empty, 0)
            }
        },
    };
    for entry in &journal.entries {
        state.apply(entry);
    }
    Ok((state, journal, kept))
}

/// Lets the model read what of its own outputs was too long for the history.
pub(super) fn add_own_rules(parts: &mut Parts, id: &SessionId) {
    let spilled = parts.spill.as_ref().map(|spill| spill.folder(id));
    let media = parts.media.as_ref().and_then(|media| media.folder(id));
    for folder in spilled.into_iter().chain(media) {
        let policy = &mut parts.settings.policy;
        policy.rules.extend(may_read(&folder));
        if let Some(name) = folder.to_str()
            && !policy.readable.iter().any(|readable| readable == name)
        {
            policy.readable.push(name.to_owned());
        }
        if !parts.reach.readable.contains(&folder) {
            Arc::make_mut(&mut parts.reach).readable.push(folder);
        }
    }
}

fn may_read(folder: &Path) -> Option<Rule> {
    let path = folder.to_str()?;
    // A path with characters of a pattern could let other files through.
    let plain = path.starts_with('/') && !path.contains(['*', '?', '[', ']', '{', '}', '\\', ')']);
    plain.then(|| Rule {
        effect: RuleEffect::Allow,
        tool: "Read".into(),
        argument: Some(format!("/{path}/**")),
        source: "outputs of this session".into(),
    })
}

fn damage_notice(journal: &heeler_core::Journal) -> String {
    let places: Vec<String> = journal
        .damage
        .iter()
        .take(3)
        .map(|damage| format!("line {}: {}", damage.line, damage.what))
        .collect();
    format!(
        "the journal of session {} is damaged in {} ({}); what could not be read was left \
         out, and permissions granted earlier are asked again",
        journal.header.id,
        match journal.damage.len() {
            1 => "1 place".to_owned(),
            n => format!("{n} places"),
        },
        places.join("; ")
    )
}
