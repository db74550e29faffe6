//! The folder that a run's tools work in.

use heeler_core::{Access, Message, Mode, Policy, ToolContext};
use heeler_script::ReplySpec;
use heeler_toolkit::{Binding, Object, Run, raw_tool};

use crate::door::{client, tools};

fn here() -> Binding {
    raw_tool("here", "Tells", Object::new(), |context: ToolContext, _| async move {
        context.workspace.display().to_string()
    })
    .touching(|_, folder| vec![Access::Read(format!("{folder}/a"))])
}

#[tokio::test]
async fn a_folder_that_is_not_absolute_is_below_the_programs_own_also_for_the_policy() {
    let own = std::env::current_dir().unwrap();
    let above = own.parent().unwrap().to_owned();
    for (folder, expected) in [
        (".", own.clone()),
        ("sub", own.join("sub")),
        ("./sub/../other", own.join("other")),
        ("..", above),
    ] {
        let policy =
            Policy { mode: Mode::AllowListed, workspace: folder.into(), ..Policy::default() };
        let run = Run::default().workspace(folder).policy(policy);
        let output = tools([here()]).execute("here", "{}", run).await;
        assert_eq!(output.text_content(), expected.display().to_string(), "{folder}");
    }
    let output = tools([here()]).execute("here", "{}", Run::default()).await;
    assert_eq!(output.text_content(), "/");
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_whose_name_is_no_text_is_an_error() {
    use std::os::unix::ffi::OsStrExt;

    let folder = std::path::Path::new(std::ffi::OsStr::from_bytes(b"/space/\xff"));
    let why = "tools cannot work in /space/\u{fffd}: its name is no UTF-8";
    let output = tools([here()]).execute("here", "{}", Run::default().workspace(folder)).await;
    assert_eq!(output.text_content(), format!("here was not run: {why}"));
    let (asks, model) = client([ReplySpec::text("never")]);
    let error = asks.run(Run::say("go").workspace(folder)).await.unwrap_err();
    assert_eq!(error.to_string(), format!("{why} (model call 0)"));
    assert_eq!(error.result.messages, [Message::user("go")]);
    assert!(model.requests().is_empty());
}
