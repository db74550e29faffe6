//! The prompt's prefix in force, in the form requests and estimates need.

use std::sync::Arc;

use heeler_core::{EpochCause, EpochStarted, ProviderItem, ToolDefinition};
use serde::{Deserialize, Serialize};

use crate::estimate::{self, TokenEstimate};

/// A stretch in which the prompt's prefix stays the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch {
    /// Counts the epochs of the session, from 1.
    pub number: u32,
    /// Why it began.
    pub cause: EpochCause,
    /// The model's name without the provider's.
    pub model: Arc<str>,
    /// The rendered system prompt.
    pub system: Arc<str>,
    /// The tools, in the order they are sent.
    pub tools: Arc<[ToolDefinition]>,
    /// Tools that the provider runs itself, in the order they are sent.
    pub provider_tools: Arc<[ProviderItem]>,
    /// Hash of the rendered system prompt.
    pub system_hash: String,
    /// Hash of the rendered tools.
    pub tools_hash: String,
    pub(super) system_weight: u64,
    pub(super) tools_weight: u64,
}

impl Epoch {
    pub(super) fn new(started: &EpochStarted, estimate: &dyn TokenEstimate) -> Self {
        let name = &started.model;
        let mut epoch = Self {
            number: started.epoch,
            cause: started.cause,
            model: name.split_once('/').map_or(name.as_str(), |(_, model)| model).into(),
            system: started.system.as_str().into(),
            tools: started.tools.clone().into(),
            provider_tools: started.provider_tools.clone().into(),
            system_hash: started.system_hash.clone(),
            tools_hash: started.tools_hash.clone(),
            system_weight: 0,
            tools_weight: 0,
        };
        epoch.weigh(estimate);
        epoch
    }

    pub(super) fn weigh(&mut self, estimate: &dyn TokenEstimate) {
        self.system_weight = estimate.weigh(&self.system);
        self.tools_weight = estimate::weigh_tools(estimate, &self.tools, &self.provider_tools);
    }
}
