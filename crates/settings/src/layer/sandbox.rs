//! `sandbox`: the box around commands.

use super::fields::{Fields, text, unknown_name, wrong};
use super::{Confinement, Reading, Setting};
use crate::SettingsError;
use crate::document::{Node, Value};

/// The values of `sandbox.mode`.
const MODES: [(&str, Confinement); 3] =
    [("off", Confinement::Off), ("on", Confinement::On), ("required", Confinement::Required)];

impl<'a> Reading<'a> {
    pub(super) fn sandbox(&mut self, mut fields: Fields<'a>) -> Result<(), SettingsError> {
        self.key(&mut fields, "mode", Self::sandbox_mode);
        let folders = fields.list("writable");
        for node in self.keep(folders).unwrap_or_default() {
            let folder = self.folder("sandbox.writable", node);
            let folder = self.keep(folder);
            self.layer.writable.extend(folder);
        }
        self.key(&mut fields, "network", Self::sandbox_network);
        self.layer.mistakes.extend(fields.strangers());
        Ok(())
    }

    fn sandbox_mode(&mut self, node: &Node) -> Result<(), SettingsError> {
        let name = &self.source.name;
        let given = text(name, "sandbox.mode", node)?;
        let Some((_, value)) = MODES.into_iter().find(|(mode, _)| *mode == given) else {
            let known = MODES.map(|(mode, _)| mode);
            let why = unknown_name(&format!("`{given}`"), "mode of the sandbox", given, &known);
            return Err(SettingsError::at(name, node.line, why));
        };
        self.layer.confinement = Some(Setting { value, source: self.at(node.line) });
        Ok(())
    }

    fn sandbox_network(&mut self, node: &Node) -> Result<(), SettingsError> {
        let Value::Bool(value) = node.value else {
            return Err(wrong(&self.source.name, "sandbox.network", node, "true or false"));
        };
        self.layer.network = Some(Setting { value, source: self.at(node.line) });
        Ok(())
    }
}
