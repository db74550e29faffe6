//! What a policy lets run of a program's own tools, and of agents that are tools.

use std::fmt::Write;
use std::sync::Arc;

use expect_test::expect;
use heeler_core::{
    Access, AllowAll, Approver, DenyAll, Mode, Policy, Reach, Rule, RuleEffect, Tool, ToolContext,
};
use heeler_script::ReplySpec;
use heeler_toolkit::{Agent, Binding, Json, Object, Run, ToolMetadata, Toolset, raw_tool, tool};
use serde_json::json;

use crate::door::{client, tools};

fn policy(mode: Mode, rules: &[(&str, RuleEffect)]) -> Policy {
    let rule = |(text, effect): &(&str, RuleEffect)| Rule::parse(text, *effect, "a test").unwrap();
    let rules = rules.iter().map(rule).collect();
    Policy { mode, rules, workspace: "/space".into(), ..Policy::default() }
}

fn with(change: impl FnOnce(&mut ToolMetadata)) -> Binding {
    raw_tool("wipe", "Wipes", Object::new(), |_, _| async { "ran" }).with_metadata(change)
}

#[tokio::test]
async fn a_tool_that_says_nothing_needs_a_rule_or_a_yes_unless_it_only_looks() {
    let all = [
        ("plain", with(|_| {})),
        ("destructive", with(|it| (it.destructive, it.shell, it.network) = (true, true, true))),
        ("looks", with(|it| it.read_only = true)),
        ("confirmed", with(|it| (it.read_only, it.requires_confirmation) = (true, true))),
        ("edits", with(|_| {}).touching(|_, space| vec![Access::Write(format!("{space}/a"))])),
        ("nothing", with(|_| {}).touching(|_, _| Vec::new())),
        ("told", with(|it| it.requires_confirmation = true).touching(|_, _| Vec::new())),
    ];
    let allow = &[("wipe", RuleEffect::Allow)][..];
    let mut said = String::new();
    for (mode, rules) in [
        (Mode::Ask, &[][..]),
        (Mode::Ask, allow),
        (Mode::AcceptEdits, &[]),
        (Mode::Plan, &[]),
        (Mode::AllowListed, &[]),
        (Mode::AllowListed, allow),
        (Mode::Bypass, &[]),
    ] {
        write!(said, "{mode}{}:", if rules.is_empty() { "" } else { " with its rule" }).unwrap();
        for (name, binding) in &all {
            let run = Run::default().workspace("/space").policy(policy(mode, rules));
            let output = tools([binding.clone()]).execute("wipe", "{}", run).await;
            write!(said, " {name} {}", if output.is_error { "-" } else { "ran" }).unwrap();
        }
        said.push('\n');
    }
    expect![[r#"
        ask: plain - destructive - looks ran confirmed - edits - nothing ran told -
        ask with its rule: plain ran destructive ran looks ran confirmed ran edits ran nothing ran told ran
        accept-edits: plain - destructive - looks ran confirmed - edits ran nothing ran told -
        plan: plain - destructive - looks ran confirmed - edits - nothing ran told -
        allow-listed: plain - destructive - looks ran confirmed - edits - nothing ran told -
        allow-listed with its rule: plain ran destructive ran looks ran confirmed ran edits ran nothing ran told ran
        bypass: plain ran destructive ran looks ran confirmed ran edits ran nothing ran told ran
    "#]].assert_eq(&said);
}

#[tokio::test]
async fn what_is_to_be_confirmed_needs_a_yes_whatever_it_says_of_itself() {
    let confirmed = |it: &mut ToolMetadata| it.requires_confirmation = true;
    let (replies, _) = client([ReplySpec::text("ran")]);
    let agent = Agent::new(replies).into_tool("deploy", "Deploys").unwrap();
    let reads = with(|_| {}).touching(|_, space| vec![Access::Read(format!("{space}/a"))]);
    let ready = Binding::from(Arc::<dyn Tool>::from(reads.clone()));
    for (name, input, binding) in
        [("deploy", r#"{"task": "go"}"#, agent), ("wipe", "{}", reads), ("wipe", "{}", ready)]
    {
        let mut said = String::new();
        for binding in [binding.clone().with_metadata(confirmed), binding] {
            let run = Run::default().workspace("/space").policy(policy(Mode::AllowListed, &[]));
            let output = tools([binding]).execute(name, input, run).await;
            write!(said, "{} ", if output.is_error { "-" } else { "ran" }).unwrap();
        }
        assert_eq!(said, "- ran ", "{name}");
    }
}

#[tokio::test]
async fn whoever_is_asked_about_a_tool_reads_what_it_may_do() {
    let wipe = with(|it| {
        (it.destructive, it.shell) = (true, true);
        it.safety_notes = "nothing brings it back".into();
    });
    let mut said = String::new();
    let asked: [Option<Arc<dyn Approver>>; 3] =
        [None, Some(Arc::new(DenyAll)), Some(Arc::new(AllowAll))];
    for approver in asked {
        let run = Run { approvers: approver.into_iter().collect(), ..Run::default() };
        let run = run.policy(policy(Mode::Ask, &[]));
        let output = tools([wipe.clone()]).execute("wipe", "{}", run).await;
        writeln!(said, "{}", output.text_content()).unwrap();
    }
    expect![[r#"
        Not allowed: it does something that is not described (wipe: may destroy something, starts commands, nothing brings it back), and nobody can be asked.
        The user denied this call.
        ran
    "#]].assert_eq(&said);
}

#[tokio::test]
async fn a_run_whose_policy_says_that_somebody_answers_but_has_nobody_does_not_wait_for_ever() {
    let policy = Policy { interactive: true, ..policy(Mode::Ask, &[]) };
    let (client, _) = client([ReplySpec::call("wipe", json!({})), ReplySpec::text("done")]);
    let result = client.run(Run::say("go").tools(tools([with(|_| {})])).policy(policy)).await;
    let results = result.unwrap().messages[2].clone();
    assert!(format!("{results:?}").contains("nobody can be asked"), "{results:?}");
}

/// What the one call of an agent gives that is a tool of a run with this policy and approver.
async fn called_by_a_child(child: impl FnOnce(Run) -> Run, parent: Run) -> String {
    let (asks, _) = client([ReplySpec::call("wipe", json!({})), ReplySpec::text("done")]);
    let agent = Agent::new(asks).tools(tools([with(|_| {})])).with(child);
    let told = Arc::new(std::sync::Mutex::new(String::new()));
    let tell = Arc::clone(&told);
    let hooks = heeler_toolkit::AgentHooks::default().on_step_done(move |result| {
        let Ok(result) = result else { return };
        let results = result.messages.iter().flat_map(|message| &message.blocks);
        let results = results.filter_map(|block| match block {
            heeler_core::Block::ToolResult(result) => Some(result.text_content()),
            _ => None,
        });
        tell.lock().unwrap().extend(results);
    });
    let kid = agent.hooks(hooks).into_tool("kid", "Works").unwrap();
    let output = tools([kid]).execute("kid", r#"{"task": "go"}"#, parent).await;
    assert_eq!(output.text_content(), "done");
    std::mem::take(&mut *told.lock().unwrap())
}

#[tokio::test]
async fn an_agent_that_is_a_tool_is_no_wider_than_its_caller() {
    let denies = &[("wipe", RuleEffect::Deny)][..];
    let allows = &[("wipe", RuleEffect::Allow)][..];
    let run = |mode, rules| Run::default().policy(policy(mode, rules));
    let asked_by_caller = |it: Run| it.approver(Arc::new(AllowAll));
    let plain = |it: Run| it;
    let strict = |it: Run| it.policy(policy(Mode::Ask, &[])).approver(Arc::new(AllowAll));
    let mut said = String::new();
    for (name, child, parent) in [
        ("no policy", plain as fn(Run) -> Run, Run::default()),
        ("caller plans", plain, run(Mode::Plan, &[])),
        ("caller denies", plain, run(Mode::Bypass, denies)),
        ("caller asks nobody", plain, run(Mode::Ask, &[])),
        ("caller's rule", plain, run(Mode::Ask, allows)),
        ("caller asks", plain, asked_by_caller(run(Mode::Ask, &[]))),
        ("own yes is none of the caller's", strict, run(Mode::Ask, &[])),
        ("caller's no counts", strict, run(Mode::Ask, &[]).approver(Arc::new(DenyAll))),
        ("own policy without one of the caller", strict, Run::default()),
    ] {
        writeln!(said, "{name}: {}", called_by_a_child(child, parent).await).unwrap();
    }
    expect![[r#"
        no policy: ran
        caller plans: Not allowed: plan mode is read-only, and this call does something that is not described (wipe).
        caller denies: Not allowed: the rule wipe (a test) denies it.
        caller asks nobody: Not allowed: it does something that is not described (wipe), and nobody can be asked.
        caller's rule: ran
        caller asks: ran
        own yes is none of the caller's: Not allowed: it does something that is not described (wipe), and nobody can be asked.
        caller's no counts: The user denied this call.
        own policy without one of the caller: ran
    "#]].assert_eq(&said);
}

#[tokio::test]
async fn a_run_within_a_call_has_the_callers_folder_reach_and_policy() {
    let (looks, _) = client([ReplySpec::call("here", json!({})), ReplySpec::text("done")]);
    let here = raw_tool("here", "Tells", Object::new(), |context: ToolContext, _| async move {
        let within = context.permission.policy.within.as_ref().map(|it| it.mode);
        Json(json!([context.workspace, format!("{within:?}"), context.reach.secrets]))
    });
    let inner = tools([here.touching(|_, _| Vec::new())]);
    let outer = tool("outer", "Runs", move |context: ToolContext, _: Nothing| {
        let run = Run::say("go").tools(&inner).within(&context);
        let looks = looks.clone();
        async move { format!("{:?}", looks.run(run).await.unwrap().messages[2].blocks) }
    });
    let tools = Toolset::new([outer.unwrap().touching(|_, _| Vec::new())]).unwrap();
    let reach = Reach { secrets: vec!["/keys".into()], ..Reach::default() };
    let run = Run { reach: Some(Arc::new(reach)), ..Run::default() };
    let run = run.workspace("/space").policy(policy(Mode::AllowListed, &[]));
    let output = tools.execute("outer", "{}", run).await.text_content();
    assert!(output.contains(r#"[\"/space\",\"Some(AllowListed)\",[\"/keys\"]]"#), "{output}");
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}
