//! Tools that may come, go and hide while sessions use them.

mod index;
mod search;

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use heeler_core::{ProviderItem, SessionId, StateView, Tool, ToolDefinition};

pub use self::index::{SearchPatternError, ToolFound, ToolQuery};
pub use self::search::{TOOL_SEARCH, ToolSearch};

use self::index::Index;
use crate::toolset::{Entry, Toolset};

/// Sets that are kept ready, one for each choice of hidden tools that some session has unlocked.
const SETS_MAX: usize = 16;

/// Tools that may change while sessions use them: a session sees a change with its next request,
/// whose cached prefix is new then. Clones are one registry; a [`ToolRegistry::fork`] is another.
///
/// The order is that of registration, and a tool that replaces another takes its place, so that
/// what the model is told stays the same to the byte until the version changes.
///
/// A hidden tool is not told to the model. [`ToolSearch`] finds it and unlocks it, for the session
/// that searched and for a number of rounds.
///
/// ```
/// use heeler_engine::ToolRegistry;
///
/// let registry = ToolRegistry::new();
/// for tool in heeler_tools::standard() {
///     match tool.definition().name.as_str() {
///         "Glob" => registry.register_hidden(tool),
///         _ => registry.register(tool),
///     };
/// }
/// assert!(registry.get("Glob").is_some() && registry.toolset().get("Glob").is_none());
/// ```
#[derive(Clone, Default)]
pub struct ToolRegistry(Arc<RwLock<Held>>);

/// What a session is at when it asks which tools there are.
#[derive(Debug, Clone)]
pub struct ToolMoment {
    /// The session.
    pub session: SessionId,
    /// Its typed state.
    pub state: StateView,
    /// The round that begins, counted over all turns from 1.
    pub round: u64,
}

#[derive(Default)]
struct Held {
    version: u64,
    tools: Vec<Registered>,
    provider_tools: Vec<ProviderItem>,
    allowed: Option<BTreeSet<String>>,
    /// Sets of this version, the latest last, by the places of the hidden tools in them.
    sets: Vec<(Vec<usize>, Toolset)>,
    /// What is searched, of this version.
    index: Option<Arc<Index>>,
}

#[derive(Clone)]
struct Registered {
    entry: Arc<Entry>,
    /// Of a hidden tool: the session's value that says how long it is unlocked.
    unlocked_by: Option<String>,
}

impl Registered {
    fn is_hidden(&self) -> bool {
        self.unlocked_by.is_some()
    }

    fn is_unlocked(&self, moment: &ToolMoment) -> bool {
        self.unlocked_by.as_ref().is_some_and(|key| search::is_unlocked(key, moment))
    }
}

impl ToolRegistry {
    /// A registry without tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool, or puts it in the place of the one of its name, which is returned. A tool that
    /// an allow-list leaves out is dropped.
    pub fn register(&self, tool: Arc<dyn Tool>) -> Option<Arc<dyn Tool>> {
        self.write().register(tool, false)
    }

    /// Adds a tool the model is not told of until it searches for it.
    pub fn register_hidden(&self, tool: Arc<dyn Tool>) -> Option<Arc<dyn Tool>> {
        self.write().register(tool, true)
    }

    /// Takes a tool out. A call that runs goes on; the next one of this name is told that there is
    /// no such tool.
    pub fn remove(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let mut held = self.write();
        let at = held.tools.iter().position(|one| one.entry.name() == name)?;
        let removed = held.tools.remove(at);
        held.changed();
        Some(Arc::clone(removed.entry.tool()))
    }

    /// Replaces the tools that the provider runs itself.
    pub fn set_provider_tools(&self, tools: impl IntoIterator<Item = ProviderItem>) {
        let mut held = self.write();
        held.provider_tools = tools.into_iter().collect();
        held.changed();
    }

    /// The tool of this name, hidden or not.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let held = self.read();
        let one = held.tools.iter().find(|one| one.entry.name() == name)?;
        Some(Arc::clone(one.entry.tool()))
    }

    /// Grows with each change.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.read().version
    }

    /// How many tools there are, the hidden ones among them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.read().tools.len()
    }

    /// Whether there is no tool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names in order, those of hidden tools among them.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.read().tools.iter().map(|one| one.entry.name().to_owned()).collect()
    }

    /// One line a tool, in order: ``- `name` - description``.
    #[must_use]
    pub fn summaries(&self) -> Vec<String> {
        self.read().tools.iter().map(|one| summary(one.entry.definition())).collect()
    }

    /// Another registry with the same tools, from here on on its own: for a sub-agent. Its version
    /// begins anew.
    #[must_use]
    pub fn fork(&self) -> Self {
        let held = self.read();
        Self(Arc::new(RwLock::new(Held {
            tools: held.tools.clone(),
            provider_tools: held.provider_tools.clone(),
            allowed: held.allowed.clone(),
            ..Held::default()
        })))
    }

    /// [`ToolRegistry::fork`] with these tools alone, of those there are and of those to come. An
    /// allow-list that stands already holds, too.
    #[must_use]
    pub fn fork_allowing<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) -> Self {
        let fork = self.fork();
        {
            let mut held = fork.write();
            let mut allowed: BTreeSet<String> =
                heeler_core::gathered(names.into_iter().map(Into::into));
            if let Some(before) = &held.allowed {
                allowed.retain(|name| before.contains(name));
            }
            held.tools.retain(|one| allowed.contains(one.entry.name()));
            held.allowed = Some(allowed);
        }
        fork
    }

    /// [`ToolRegistry::fork`] with each tool as `wrap` makes it; what it makes keeps the name.
    #[must_use]
    pub fn fork_wrapping(&self, wrap: impl Fn(Arc<dyn Tool>) -> Arc<dyn Tool>) -> Self {
        let fork = self.fork();
        for one in &mut fork.write().tools {
            one.entry = Arc::new(Entry::new(wrap(Arc::clone(one.entry.tool()))));
        }
        fork
    }

    /// The tools that are not hidden.
    #[must_use]
    pub fn toolset(&self) -> Toolset {
        self.write().set(Vec::new())
    }

    /// The tools that are not hidden, and those this session has unlocked.
    #[must_use]
    pub fn toolset_at(&self, moment: &ToolMoment) -> Toolset {
        let mut held = self.write();
        let unlocked = (0..held.tools.len()).filter(|at| held.tools[*at].is_unlocked(moment));
        let unlocked = unlocked.collect();
        held.set(unlocked)
    }

    /// Looks for hidden tools, the best first.
    ///
    /// # Errors
    /// When the pattern cannot be used.
    pub fn search(&self, query: &ToolQuery) -> Result<Vec<ToolFound>, SearchPatternError> {
        // Compared outside of the lock: a session's request waits for nobody's search.
        let index = self.write().index();
        index.search(query)
    }

    fn read(&self) -> RwLockReadGuard<'_, Held> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Held> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn register(&mut self, tool: Arc<dyn Tool>, is_hidden: bool) -> Option<Arc<dyn Tool>> {
        let tool = if is_hidden { search::renewed_by_use(tool) } else { tool };
        let entry = Arc::new(Entry::new(tool));
        if self.allowed.as_ref().is_some_and(|allowed| !allowed.contains(entry.name())) {
            tracing::debug!(tool = entry.name(), "the allow-list leaves a tool out");
            return None;
        }
        self.changed();
        let unlocked_by = is_hidden.then(|| search::key(entry.name()));
        let one = Registered { entry, unlocked_by };
        match self.tools.iter_mut().find(|other| other.entry.name() == one.entry.name()) {
            None => {
                self.tools.push(one);
                None
            }
            Some(other) => {
                tracing::debug!(tool = one.entry.name(), "a tool is replaced");
                Some(Arc::clone(std::mem::replace(other, one).entry.tool()))
            }
        }
    }

    fn changed(&mut self) {
        self.version += 1;
        self.sets.clear();
        self.index = None;
    }

    fn set(&mut self, unlocked: Vec<usize>) -> Toolset {
        if let Some((_, set)) = self.sets.iter().find(|(places, _)| *places == unlocked) {
            return set.clone();
        }
        let tools = self.tools.iter().enumerate();
        let told = tools.filter(|(at, one)| !one.is_hidden() || unlocked.contains(at));
        let entries = told.map(|(_, one)| Arc::clone(&one.entry)).collect();
        let set = Toolset::of(entries, self.provider_tools.iter().cloned().collect());
        if self.sets.len() == SETS_MAX {
            self.sets.remove(0);
        }
        self.sets.push((unlocked, set.clone()));
        set
    }

    fn index(&mut self) -> Arc<Index> {
        let hidden = self.tools.iter().filter(|one| one.is_hidden());
        let index = self.index.take().unwrap_or_else(|| {
            Arc::new(Index::new(hidden.map(|one| one.entry.definition().clone())))
        });
        self.index = Some(Arc::clone(&index));
        index
    }
}

fn summary(definition: &ToolDefinition) -> String {
    format!("- `{}` - {}", definition.name, definition.description)
}

#[cfg(test)]
mod tests;
