//! Takes a session over: lease, journal, crash rules.

use std::path::Path;
use std::sync::Arc;

use heeler_core::{Durability, Opened, Record, Rule, RuleEffect, SessionId, StoreError};
use heeler_turn::State;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::eager::EagerCalls;
use super::{Command, Driver};
use crate::Parts;
use crate::log::EventLog;

impl Driver {
    pub(crate) async fn open(
        parts: Parts,
        id: SessionId,
        commands: mpsc::Receiver<Command>,
    ) -> Result<Self, StoreError> {
        let lease = Arc::new(parts.store.lease(id.clone()).await?);
        let journal = parts.store.read(id).await?;
        let mut state = match &parts.estimate {
            Some(estimate) => State::with_estimate(Arc::clone(estimate)),
            None => State::new(),
        };
        for entry in &journal.entries {
            state.apply(entry);
        }
        let incarnation = state.incarnation.saturating_add(1);
        let mut parts = parts;
        add_own_rules(&mut parts, &journal.header.id);
        let mut driver = Self {
            workspace: journal.header.workspace.clone(),
            lease,
            log: EventLog::new(state.view()),
            state,
            commands,
            tasks: JoinSet::new(),
            running: std::collections::BTreeMap::new(),
            effects_by_task: std::collections::HashMap::new(),
            stream: None,
            eager: EagerCalls::default(),
            waiting: Vec::new(),
            queue: std::collections::VecDeque::new(),
            tools: parts.tools.clone(),
            seen_at: parts.clock.now(),
            closing: None,
            compaction_waiting: Vec::new(),
            is_active: false,
            notice: (!journal.damage.is_empty()).then(|| damage_notice(&journal)),
            is_settled: false,
            parts,
        };
        let build = driver.parts.build.clone();
        let mut records = vec![Record::Opened(Opened { incarnation, build })];
        if driver.state.settings != driver.parts.settings {
            records.push(Record::SettingsChanged(Box::new(driver.parts.settings.clone())));
        }
        driver.write(records, Durability::Written).await?;
        Ok(driver)
    }
}

/// Lets the model read what of its own outputs was too long for the history.
pub(super) fn add_own_rules(parts: &mut Parts, id: &SessionId) {
    if let Some(spill) = &parts.spill {
        parts.settings.policy.rules.extend(may_read(&spill.folder(id)));
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
