//! `sandbox`: the box around commands.

use super::fields::{Fields, text, unknown_name, wrong};
use super::{Confinement, Reading, Setting};
use crate::SettingsError;
use crate::document::Value;

/// The values of `sandbox.mode`.
const MODES: [(&str, Confinement); 3] =
    [("off", Confinement::Off), ("on", Confinement::On), ("required", Confinement::Required)];

impl Reading<'_> {
    pub(super) fn sandbox(&mut self, mut fields: Fields<'_>) -> Result<(), SettingsError> {
        let name = &self.source.name;
        if let Some(node) = fields.take("mode")? {
            let given = text(name, "sandbox.mode", node)?;
            let Some((_, value)) = MODES.into_iter().find(|(mode, _)| *mode == given) else {
                let known = MODES.map(|(mode, _)| mode);
                let why = unknown_name(&format!("`{given}`"), "mode of the sandbox", given, &known);
                return Err(SettingsError::at(name, node.line, why));
            };
            self.layer.confinement = Some(Setting { value, source: self.at(node.line) });
        }
        for node in fields.list("writable")? {
            let folder = self.folder("sandbox.writable", node)?;
            self.layer.writable.push(folder);
        }
        if let Some(node) = fields.take("network")? {
            let Value::Bool(value) = node.value else {
                return Err(wrong(name, "sandbox.network", node, "true or false"));
            };
            self.layer.network = Some(Setting { value, source: self.at(node.line) });
        }
        fields.finish(self.unknown())
    }
}
