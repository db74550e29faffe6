//! What calls give: bounded for the model, in full where it can be read, and text for the user.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use heeler_core::{Block, Spill, ToolContext, ToolOutput};

use heeler_testkit::picture::pixel;

use crate::common::{Case, check, field, one_call, tool};

#[test]
fn a_long_output_is_cut_in_the_middle_and_spilled() {
    let long = || {
        tool("long", |_, _| async {
            let lines: Vec<String> = (1..=100).map(|n| format!("line {n}")).collect();
            Ok(ToolOutput::text(lines.join(" ")))
        })
    };
    check(
        one_call("long", "{}").tools([long()]).with(|parts| parts.result_chars_max = 40),
        expect![[r#"
            started 1.1.0 [0] long {}
            finished 1.1.0 [0] long 0 ms: line 1 line 2 line 3 line 4 li\n[... 751 of 791 characters left out ...]\n9 line …
            end of turn 1: Done "done"
            result ok: line 1 line 2 line 3 line 4 li\n[... 751 of 791 characters left out ...]\n9 line 100
        "#]],
    );
    let kept = Arc::new(Mutex::new(String::new()));
    let spill = Arc::new(Kept(Arc::clone(&kept)));
    check(
        one_call("long", "{}").tools([long()]).with(move |parts| {
            parts.result_chars_max = 40;
            parts.spill = Some(spill);
        }),
        expect![[r#"
            started 1.1.0 [0] long {}
            finished 1.1.0 [0] long 0 ms: line 1 line 2 line 3 line 4 li\n[... 751 of 791 characters left out; all 791 are…
            end of turn 1: Done "done"
            result ok: line 1 line 2 line 3 line 4 li\n[... 751 of 791 characters left out; all 791 are in /spill/1 ...]\n9 line 100
        "#]],
    );
    let kept = kept.lock().unwrap();
    assert!(kept.starts_with("s 1.1.0 line 1 line 2") && kept.ends_with("line 99 line 100"));
}

struct Kept(Arc<Mutex<String>>);

impl Spill for Kept {
    fn write(
        &self,
        session: &heeler_core::SessionId,
        call: heeler_core::CallId,
        text: &str,
    ) -> std::io::Result<std::path::PathBuf> {
        *self.0.lock().unwrap() = format!("{session} {call} {text}");
        Ok("/spill/1".into())
    }

    fn folder(&self, _: &heeler_core::SessionId) -> std::path::PathBuf {
        "/spill".into()
    }
}

#[test]
fn images_reach_the_model_up_to_a_number() {
    let gallery = tool("gallery", |_, input| async move {
        let count = field(&input, "count").parse().unwrap();
        Ok(ToolOutput { content: vec![Block::from(pixel()); count], ..ToolOutput::default() })
    });
    check(
        Case::new(
            r#"
            [[reply]]
            blocks = [{ call = "gallery", input = { count = 1 } }]
            [[reply]]
            blocks = [{ call = "gallery", input = { count = 22 } }]
            [[reply]]
            text = "done"
            "#,
        )
        .calls_only()
        .tools([gallery]),
        expect![[r#"
            started 1.1.0 [0] gallery {"count":1}
            finished 1.1.0 [0] gallery 0 ms:
            started 1.2.0 [0] gallery {"count":22}
            finished 1.2.0 [0] gallery 0 ms: [2 more images left out]
            end of turn 1: Done "done"
            result ok: [image/png]
            result ok: [image/png] [image/png] [image/png] [image/png] [image/png] [image/png] [image/png] [image/png] [image/png] [image/png] [image/png] [image/png] [image/png] [image/png] [image/png] [image/png] [image/png] [image/png] [image/png] [image/png] [2 more images left out]
        "#]],
    );
}

#[test]
fn a_tool_speaks_to_the_user_and_tells_how_far_it_is() {
    let talking = tool("talk", |context: ToolContext, input| async move {
        context.progress.send("half way");
        let for_user = "look at this".to_owned();
        let silent = field(&input, "silent") == "true";
        Ok(ToolOutput { for_user, silent, ..ToolOutput::text("said") })
    });
    check(
        Case::new(
            r#"
            [[reply]]
            blocks = [{ call = "talk" }]
            [[reply]]
            blocks = [{ call = "talk", input = { silent = true } }]
            [[reply]]
            text = "done"
            "#,
        )
        .calls_only()
        .tools([talking]),
        expect![[r#"
            started 1.1.0 [0] talk {}
            progress 1.1.0 half way
            finished 1.1.0 [0] talk 0 ms: said
            for the user 1.1.0: look at this
            started 1.2.0 [0] talk {"silent":true}
            progress 1.2.0 half way
            finished 1.2.0 [0] talk 0 ms: said
            end of turn 1: Done "done"
            result ok: said
            result ok: said
        "#]],
    );
}
