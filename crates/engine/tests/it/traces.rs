//! What a call leaves in the trace: its beginning, its end, and how long it took.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use expect_test::expect;
use heeler_core::ToolOutput;
use tracing::field::{Field, Visit};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber, span};

use crate::common::{echo, stage, tool, virtually};

/// Keeps a line of each event of ours.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<String>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("heeler_engine::pipeline")
            && *metadata.level() <= Level::DEBUG
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        writeln!(self.0.lock().unwrap(), "{}", line.0).unwrap();
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// Hears of everything and keeps nothing. With it there, no call site of another test's thread is
/// found to interest nobody just when we listen.
struct Deaf;

impl Subscriber for Deaf {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[test]
fn a_call_is_traced_from_its_beginning_to_its_end() {
    tracing::subscriber::set_global_default(Deaf).unwrap();
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(lines.clone());
    virtually(async {
        let slow = tool("slow", |context, _| async move {
            context.clock.sleep_until(context.clock.now().plus(70)).await;
            Ok(ToolOutput::background("begun"))
        });
        let broken = tool("broken", |_, _| async {
            let error = std::io::Error::other("no such disk");
            Ok(ToolOutput::error("").with_error(error))
        });
        let script = r#"
            [[reply]]
            blocks = [{ call = "echo", input = { text = "a" } }]
            [[reply]]
            blocks = [{ call = "slow" }]
            [[reply]]
            blocks = [{ call = "broken" }]
            [[reply]]
            text = "done"
        "#;
        let stage = stage(script, [echo(), slow, broken]).await;
        stage.say("hi").await;
        stage.close().await;
    });
    expect![[r#"
        DEBUG message=a call begins session=s call=1.1.0 tool="echo"
        DEBUG message=a call ended session=s call=1.1.0 tool="echo" millis=0
        DEBUG message=a call begins session=s call=1.2.0 tool="slow"
        DEBUG message=a call goes on in the background session=s call=1.2.0 tool="slow" millis=70
        DEBUG message=a call begins session=s call=1.3.0 tool="broken"
        WARN message=a call failed session=s call=1.3.0 tool="broken" millis=0
        WARN message=a tool failed underneath tool="broken" error="no such disk"
    "#]]
    .assert_eq(&lines.0.lock().unwrap());
}
