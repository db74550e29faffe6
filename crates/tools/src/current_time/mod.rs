//! `CurrentTime`: what the clock of the call shows, in UTC and in the zone of whoever is here.

#[cfg(test)]
mod tests;
mod zone;

pub use zone::zone_of_system;

use std::sync::Arc;

use heeler_core::{
    BoxFuture, Facts, Metadata, RawJson, ToolContext, ToolError, ToolOutput, TypedTool, tool_schema,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tool.
#[derive(Debug, Clone)]
pub struct CurrentTime {
    zone: TimeZone,
}

/// What the model gives: nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurrentTimeInput {}

/// What it gives, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CurrentTimeOutput {
    /// RFC 3339, in UTC.
    pub utc: String,
    /// RFC 3339, in the zone below.
    pub local: String,
    /// The zone's name, or its distance from UTC.
    pub zone: String,
    /// The day of the week there.
    pub weekday: String,
}

impl CurrentTime {
    /// For somebody in the zone that this process was started in. Only here the environment is
    /// looked at; where nothing tells the zone, it is UTC.
    #[must_use]
    pub fn of_system() -> Self {
        Self { zone: zone_of_system() }
    }

    /// For somebody whose zone nobody knows.
    #[must_use]
    pub fn utc() -> Self {
        Self { zone: TimeZone::UTC }
    }

    fn shown(&self, context: &ToolContext) -> Result<CurrentTimeOutput, ToolError> {
        let millis = i64::try_from(context.clock.now().millis()).ok();
        let now = millis.and_then(|millis| Timestamp::from_millisecond(millis).ok());
        let now = now.ok_or_else(|| {
            ToolError::for_model(
                "the clock shows no time of the calendar; ask the user for the time",
            )
        })?;
        let local = now.to_zoned(self.zone.clone());
        let offset = local.offset();
        Ok(CurrentTimeOutput {
            utc: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            local: local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            zone: self.zone.iana_name().map_or_else(|| offset.to_string(), str::to_owned),
            weekday: local.strftime("%A").to_string(),
        })
    }
}

impl TypedTool for CurrentTime {
    type Input = CurrentTimeInput;

    fn name(&self) -> &str {
        "CurrentTime"
    }

    fn description(&self) -> &str {
        "Tells the date and time now, in UTC and in the user's time zone, with the day of the week."
    }

    fn metadata(&self) -> Metadata {
        Metadata { read_only: true, ..Metadata::default() }
    }

    fn output_schema(&self) -> Option<RawJson> {
        Some(tool_schema::<CurrentTimeOutput>())
    }

    fn facts(&self, _: &CurrentTimeInput, _: &str) -> Facts {
        Facts { replay_safe: true, ..Facts::default() }
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        _: CurrentTimeInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        let shown = self.shown(&context).map(|shown| {
            let CurrentTimeOutput { utc, local, zone, weekday } = &shown;
            let text = format!("{utc}\n{weekday}, {local} ({zone})");
            let structured = serde_json::to_string(&shown).ok();
            let structured = structured.and_then(|json| RawJson::parse(&json).ok());
            ToolOutput { structured, ..ToolOutput::text(text) }
        });
        Box::pin(std::future::ready(shown))
    }
}
