//! What is shown of sessions and their parts for debugging: names and numbers, no key and nothing that was
//! said.

use std::fmt::{Debug, Formatter, Result};

use crate::{Parts, Session, Toolset};

impl Debug for Session {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Session").field("id", self.id()).finish_non_exhaustive()
    }
}

impl Debug for Parts {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Parts")
            .field("tools", &self.tools)
            .field("settings", &self.settings)
            .field("build", &self.build)
            .finish_non_exhaustive()
    }
}

impl Debug for Toolset {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_list().entries(self.names()).finish()
    }
}
