//! What a run forbids for itself, in the call of another run.

use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use heeler_core::{
    Access, AllowAll, Approver, Denied, DenyAll, Mode, Permission, Policy, Reach, Rule, RuleEffect,
    ToolContext,
};
use heeler_script::ReplySpec;
use heeler_toolkit::{Agent, Binding, Object, Run, raw_tool};
use serde_json::json;

use crate::door::{client, tools};

fn reach(change: impl FnOnce(&mut Reach)) -> Arc<Reach> {
    let mut reach = Reach::default();
    change(&mut reach);
    Arc::new(reach)
}

fn denies(text: &str) -> Policy {
    let rules = vec![Rule::parse(text, RuleEffect::Deny, "a test").unwrap()];
    Policy { mode: Mode::Bypass, rules, ..Policy::default() }
}

/// Tells how far it reaches.
fn reaches(told: &Arc<Mutex<String>>) -> Binding {
    let told = Arc::clone(told);
    raw_tool("reach", "Tells", Object::new(), move |context: ToolContext, _| {
        let Reach { writable, protected, secrets, readable, denied, network } =
            (*context.reach).clone();
        let denied: Vec<String> = denied.iter().map(Denied::rule).collect();
        *told.lock().unwrap() = format!(
            "writable {writable:?}\nprotected {protected:?}\nsecrets {secrets:?}\n\
             readable {readable:?}\ndenied {denied:?}\nnetwork {network}\n"
        );
        async { "told" }
    })
}

/// How far an agent reaches that is a tool of this run.
async fn check_reach(own: Run, caller: Run, expected: Expect) {
    let told = Arc::default();
    let (asks, _) = client([ReplySpec::call("reach", json!({})), ReplySpec::text("done")]);
    let agent = Agent::new(asks).with(|_| own).tools(tools([reaches(&told)]));
    let kid = agent.into_tool("kid", "Works").unwrap();
    tools([kid]).execute("kid", r#"{"task": "go"}"#, caller).await;
    expected.assert_eq(&told.lock().unwrap());
}

#[tokio::test]
async fn an_agent_that_is_a_tool_keeps_what_its_own_reach_walls_off() {
    let own = reach(|it| {
        it.writable = vec!["/git/own".into(), "/own".into(), "/git/../elsewhere".into()];
        it.protected = vec!["hooks".into()];
        it.secrets = vec!["secret".into(), "/keys".into()];
        it.readable = vec!["/keys/own".into(), "/state".into()];
        it.denied = vec![Denied { tool: "Read".into(), below: "logs".into(), glob: String::new() }];
        it.network = true;
    });
    let callers = reach(|it| {
        it.writable = vec!["/git".into()];
        it.protected = vec!["/space/hooks".into()];
        it.secrets = vec!["/keys".into(), "/more".into()];
        it.readable = vec!["/state/it".into()];
    });
    let of_agent = Run { reach: Some(own), ..Run::default() };
    let of_caller = Run { reach: Some(callers), ..Run::default() };
    let work = Run::default().workspace("/work");
    check_reach(
        of_agent.clone().workspace("/own"),
        work.clone(),
        expect![[r#"
        writable []
        protected ["/own/hooks"]
        secrets ["/own/secret", "/keys"]
        readable []
        denied ["Read(/own/logs)"]
        network false
    "#]],
    )
    .await;
    check_reach(
        of_agent,
        of_caller.clone().workspace("/space"),
        expect![[r#"
        writable ["/git/own"]
        protected ["hooks", "/space/hooks"]
        secrets ["secret", "/keys", "/more"]
        readable ["/state/it"]
        denied ["Read(logs)"]
        network false
    "#]],
    )
    .await;
    check_reach(
        Run::default(),
        of_caller,
        expect![[r#"
        writable ["/git"]
        protected ["/space/hooks"]
        secrets ["/keys", "/more"]
        readable ["/state/it"]
        denied []
        network false
    "#]],
    )
    .await;
}

/// Reads the file of that name, wherever it works.
fn read(path: &'static str) -> Binding {
    let read = raw_tool("Read", "Reads", Object::new(), |_, _| async { "read" });
    read.touching(move |_, _| vec![Access::Read(path.into())])
}

#[tokio::test]
async fn rules_without_a_workspace_begin_in_the_folder_of_the_run() {
    let within = Policy { within: Some(Box::new(denies("Read(secret/**)"))), ..denies("Read(b)") };
    let permission = Permission { policy: denies("Read(secret/**)"), ..Permission::default() };
    let permission = Run { permission: Some(Arc::new(permission)), ..Run::default() };
    for (name, run, path, is_denied) in [
        ("own", Run::default().policy(denies("Read(secret/**)")), "/space/secret/k", true),
        ("outer", Run::default().policy(within), "/space/secret/k", true),
        ("caller's", permission, "/space/secret/k", true),
        ("elsewhere", Run::default().policy(denies("Read(secret/**)")), "/other/secret/k", false),
    ] {
        let output = tools([read(path)]).execute("Read", "{}", run.workspace("/space")).await;
        assert_eq!(output.is_error, is_denied, "{name}: {}", output.text_content());
    }
    // In a run without a folder nothing lies in it, and what is denied is so everywhere.
    let asks = Policy { mode: Mode::AllowListed, ..Policy::default() };
    for policy in [asks, denies("Read(k)")] {
        let run = Run::default().policy(policy);
        let output = tools([read("/space/secret/k")]).execute("Read", "{}", run).await;
        assert!(output.is_error, "{}", output.text_content());
    }
}

/// Whether a call of an agent that is a tool reads a file.
async fn reads_as_a_tool(own: Run, caller: Run) -> bool {
    let told = Arc::new(Mutex::new(false));
    let tell = Arc::clone(&told);
    let reads = raw_tool("Read", "Reads", Object::new(), move |_, _| {
        *tell.lock().unwrap() = true;
        async { "read" }
    });
    let reads = reads.touching(|_, _| vec![Access::Read("/own/secret/k".into())]);
    let (asks, _) = client([ReplySpec::call("Read", json!({})), ReplySpec::text("done")]);
    let kid = Agent::new(asks).with(|_| own).tools(tools([reads])).into_tool("kid", "Works");
    let output = tools([kid.unwrap()]).execute("kid", r#"{"task": "go"}"#, caller).await;
    assert_eq!(output.text_content(), "done");
    *told.lock().unwrap()
}

#[tokio::test]
async fn an_agent_that_is_a_tool_keeps_its_own_policy_and_permission() {
    let asks = |approver: Option<Arc<dyn Approver>>| {
        let interactive = approver.is_some();
        let policy = Policy { mode: Mode::Ask, interactive, ..Policy::default() };
        let approvers = approver.into_iter().collect();
        let permission = Permission { policy, grants: Vec::new(), approvers };
        Run { permission: Some(Arc::new(permission)), ..Run::default() }
    };
    let yes = || -> Option<Arc<dyn Approver>> { Some(Arc::new(AllowAll)) };
    let no = || -> Option<Arc<dyn Approver>> { Some(Arc::new(DenyAll)) };
    let caller = || Run::default().policy(Policy::default());
    let free = Run::default;
    let forbids = free().policy(denies("Read(secret/**)"));
    for (name, own, called_by, reads) in [
        ("nothing", free(), free(), true),
        ("own rule", forbids.clone().workspace("/own"), free().workspace("/work"), false),
        ("own rule, no folder", forbids, free().workspace("/own"), false),
        ("own permission asks nobody", asks(None), free(), false),
        ("own permission asks", asks(yes()), free(), true),
        ("own permission denies", asks(no()), free(), false),
        ("caller asks nobody", asks(yes()), caller(), false),
        (
            "caller asks",
            Run { permission: Some(Arc::default()), ..free() },
            caller().approver(Arc::new(AllowAll)),
            true,
        ),
        ("caller denies", asks(yes()), caller().approver(Arc::new(DenyAll)), false),
        (
            "own asks nobody, caller says yes",
            asks(None),
            caller().approver(Arc::new(AllowAll)),
            false,
        ),
    ] {
        assert_eq!(reads_as_a_tool(own, called_by).await, reads, "{name}");
    }
}
