//! What a registry promises, whatever is done to it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use heeler_core::{BoxFuture, Facts, RawJson, ToolContext, ToolError, ToolOutput};
use proptest::prelude::*;

use super::*;

/// A tool of this name whose description tells which one it is.
struct Numbered(String, u32);

impl Tool for Numbered {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(&self.0, format!("number {}", self.1), RawJson::empty_object())
    }

    fn output_schema(&self) -> Option<RawJson> {
        Some(RawJson::empty_object())
    }

    fn facts(&self, _: &RawJson, _: &str) -> Facts {
        Facts::default()
    }

    fn call(
        self: Arc<Self>,
        _: ToolContext,
        _: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(std::future::ready(Ok(ToolOutput::text("done"))))
    }
}

/// A tool that knows its name without its definition, which counts how often it is made.
struct Counted(Numbered, Arc<AtomicUsize>);

impl Tool for Counted {
    fn definition(&self) -> ToolDefinition {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.definition()
    }

    fn tool_name(&self) -> String {
        self.0.0.clone()
    }

    fn facts(&self, input: &RawJson, workspace: &str) -> Facts {
        self.0.facts(input, workspace)
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        numbered("a", 1).call(context, input)
    }
}

fn numbered(name: &str, number: u32) -> Arc<dyn Tool> {
    Arc::new(Numbered(name.to_owned(), number))
}

fn told(tools: &Toolset) -> Vec<String> {
    tools.definitions().into_iter().map(|one| format!("{} {}", one.name, one.description)).collect()
}

fn moment(round: u64, unlocked: &[(&str, u64)]) -> ToolMoment {
    let value = |(name, end): &(&str, u64)| {
        (format!("{TOOL_SEARCH}/{name}"), RawJson::parse(&end.to_string()).unwrap())
    };
    let state = StateView(unlocked.iter().map(value).collect());
    ToolMoment { session: "s".parse().unwrap(), state, round }
}

#[test]
fn the_definition_of_a_hidden_tool_is_made_when_it_is_looked_for() {
    let (registry, made) = (ToolRegistry::new(), Arc::new(AtomicUsize::new(0)));
    let hidden = Counted(Numbered("a".into(), 1), Arc::clone(&made));
    registry.register_hidden(Arc::new(hidden));
    assert_eq!((registry.names(), told(&registry.toolset())), (vec!["a".to_owned()], Vec::new()));
    assert!(registry.get("a").is_some());
    assert_eq!(made.load(Ordering::Relaxed), 0);
    for _ in 0..2 {
        let found = registry.search(&ToolQuery::Words("number".into())).unwrap();
        assert_eq!(found.len(), 1);
    }
    assert_eq!(told(&registry.toolset_at(&moment(1, &[("a", 2)]))), ["a number 1"]);
    assert_eq!(made.load(Ordering::Relaxed), 1);
}

#[test]
fn a_tool_takes_the_place_of_the_one_it_replaces() {
    let registry = ToolRegistry::new();
    assert!(registry.register(numbered("a", 1)).is_none() && !registry.is_empty());
    registry.register(numbered("b", 2));
    let replaced = registry.register(numbered("a", 3)).unwrap();
    assert_eq!(replaced.definition().description, "number 1");
    assert_eq!(told(&registry.toolset()), ["a number 3", "b number 2"]);
    assert_eq!(registry.summaries(), ["- `a` - number 3", "- `b` - number 2"]);
    assert!(registry.get("b").is_some() && registry.get("c").is_none());
    assert!(registry.remove("b").is_some() && registry.remove("b").is_none());
    assert_eq!((registry.names(), registry.len(), registry.version()), (vec!["a".into()], 1, 4));
}

#[test]
fn a_hidden_tool_is_told_to_the_session_that_unlocked_it() {
    let registry = ToolRegistry::new();
    registry.register_hidden(numbered("h", 1));
    registry.register(numbered("a", 2));
    registry.register_hidden(numbered("i", 3));
    let names = |moment| registry.toolset_at(&moment).names().collect::<Vec<_>>().join(" ");
    assert_eq!(names(moment(1, &[])), "a");
    assert_eq!(names(moment(5, &[("h", 5), ("i", 4), ("gone", 9)])), "h a");
    assert_eq!(names(moment(6, &[("h", 5)])), "a");
    // What was unlocked and then removed is gone.
    registry.remove("h");
    assert_eq!(names(moment(1, &[("h", 5)])), "a");
}

#[test]
fn a_fork_goes_its_own_way_and_an_allow_list_holds_for_what_comes() {
    let registry = ToolRegistry::new();
    registry.register(numbered("a", 1));
    registry.register(numbered("b", 2));
    let fork = registry.fork_allowing(["b", "c"]);
    fork.register(numbered("c", 3));
    fork.register(numbered("d", 4));
    registry.register(numbered("e", 5));
    assert_eq!(fork.names(), ["b", "c"]);
    assert_eq!((fork.version(), registry.names().join("")), (1, "abe".to_owned()));
    assert_eq!(fork.fork_allowing(["a", "c", "d"]).names(), ["c"]);
    let grown = fork.fork_allowing(["a", "c"]);
    grown.register(numbered("a", 6));
    assert_eq!(grown.names(), ["c"], "an allow-list never grows");
    let wrapped = fork.fork_wrapping(|tool| numbered(&tool.definition().name, 9));
    assert_eq!(told(&wrapped.toolset()), ["b number 9", "c number 9"]);
}

#[test]
fn sets_of_one_version_are_made_once_and_bounded() {
    let registry = ToolRegistry::new();
    let names: Vec<String> = (0..2 * SETS_MAX).map(|n| format!("t{n}")).collect();
    for name in &names {
        registry.register_hidden(numbered(name, 0));
    }
    for name in &names {
        assert!(registry.toolset_at(&moment(1, &[(name, 1)])).names().eq([name]));
    }
    assert_eq!(registry.read().sets.len(), SETS_MAX);
    let hash = |registry: &ToolRegistry| registry.toolset().hash().to_owned();
    assert_eq!(hash(&registry), hash(&registry.fork()));
    registry.register(numbered("x", 0));
    assert!(registry.read().sets.is_empty());
}

#[test]
fn threads_that_change_it_together_lose_nothing() {
    let registry = ToolRegistry::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let registry = registry.clone();
            scope.spawn(move || {
                for n in 0..50 {
                    registry.register(numbered(&format!("{thread}.{n}"), 0));
                    registry.register_hidden(numbered("shared", n));
                    assert!(registry.toolset().names().count() <= 200);
                    registry.search(&ToolQuery::Words("shared".into())).unwrap();
                }
            });
        }
    });
    assert_eq!((registry.len(), registry.version()), (201, 400));
}

#[test]
fn a_registry_ends_with_its_last_clone_though_a_tool_of_it_searches_it() {
    let registry = ToolRegistry::new();
    registry.register(Arc::new(ToolSearch::new(&registry)));
    let tool = numbered("a", 1);
    registry.register_hidden(Arc::clone(&tool));
    drop(registry);
    assert_eq!(Arc::strong_count(&tool), 1);
}

#[test]
fn what_a_hidden_tool_gives_is_held_to_what_it_declared() {
    let registry = ToolRegistry::new();
    registry.register_hidden(numbered("a", 1));
    let tools = registry.toolset_at(&moment(1, &[("a", 2)]));
    assert!(tools.output_schema("a").is_some());
}

#[derive(Debug, Clone)]
enum Step {
    Register(u8, u32),
    Hide(u8, u32),
    Remove(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..5_u8, any::<u32>()).prop_map(|(name, number)| Step::Register(name, number)),
        (0..5_u8, any::<u32>()).prop_map(|(name, number)| Step::Hide(name, number)),
        (0..5_u8).prop_map(Step::Remove),
    ]
}

proptest! {
    /// Whatever is done to it, the registry holds what a plain map would, tells no hidden tool, and
    /// grows its version with each change and no other time.
    #[test]
    fn it_holds_what_was_put_in(steps in prop::collection::vec(step(), 0..40)) {
        let registry = ToolRegistry::new();
        let mut expected: BTreeMap<String, (u32, bool)> = BTreeMap::new();
        let mut changes = 0;
        for step in steps {
            match step {
                Step::Register(name, number) | Step::Hide(name, number) => {
                    let is_hidden = matches!(step, Step::Hide(..));
                    let tool = numbered(&name.to_string(), number);
                    let replaced = if is_hidden {
                        registry.register_hidden(tool)
                    } else {
                        registry.register(tool)
                    };
                    let before = expected.insert(name.to_string(), (number, is_hidden));
                    prop_assert_eq!(
                        replaced.map(|tool| tool.definition().description),
                        before.map(|(number, _)| format!("number {number}"))
                    );
                    changes += 1;
                }
                Step::Remove(name) => {
                    let removed = registry.remove(&name.to_string()).is_some();
                    prop_assert_eq!(removed, expected.remove(&name.to_string()).is_some());
                    changes += u64::from(removed);
                }
            }
            prop_assert_eq!(registry.version(), changes);
            let mut names = registry.names();
            names.sort_unstable();
            prop_assert!(names.iter().eq(expected.keys()));
            let mut visible = told(&registry.toolset());
            visible.sort_unstable();
            let shown = expected.iter().filter(|(_, (_, is_hidden))| !is_hidden);
            let shown: Vec<_> = shown.map(|(name, (n, _))| format!("{name} number {n}")).collect();
            prop_assert_eq!(visible, shown);
            prop_assert_eq!(told(&registry.toolset()), told(&registry.toolset()));
        }
    }
}
