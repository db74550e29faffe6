//! Moments, as they are told in zones.

use expect_test::{Expect, expect};
use heeler_core::Clock;

use super::*;
use crate::testing::Folder;

struct At(u64);

impl Clock for At {
    fn now(&self) -> heeler_core::Timestamp {
        heeler_core::Timestamp(self.0)
    }

    fn sleep_until(&self, _: heeler_core::Timestamp) -> BoxFuture<()> {
        Box::pin(std::future::ready(()))
    }
}

async fn check(zone: TimeZone, millis: u64, expected: Expect) {
    let context = ToolContext { clock: Arc::new(At(millis)), ..Folder::new(&[]).context() };
    let called = TypedTool::call(Arc::new(CurrentTime { zone }), context, CurrentTimeInput {});
    let said = match called.await {
        Ok(output) => {
            let json = output.structured.as_ref().map(|json| json.get().to_owned());
            format!("{}\n{}", output.text_content(), json.unwrap_or_default())
        }
        Err(error) => format!("error: {error}"),
    };
    expected.assert_eq(&said);
}

#[tokio::test]
async fn a_moment_is_told_in_utc_and_where_the_user_is() {
    // Half an hour before a day ends in UTC.
    let millis = 1_767_223_800_999;
    check(TimeZone::UTC, millis, expect![[r#"
        2025-12-31T23:30:00Z
        Wednesday, 2025-12-31T23:30:00+00:00 (UTC)
        {"utc":"2025-12-31T23:30:00Z","local":"2025-12-31T23:30:00+00:00","zone":"UTC","weekday":"Wednesday"}"#]]).await;
    let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    check(zone.clone(), millis, expect![[r#"
        2025-12-31T23:30:00Z
        Thursday, 2026-01-01T00:30:00+01:00 (+01)
        {"utc":"2025-12-31T23:30:00Z","local":"2026-01-01T00:30:00+01:00","zone":"+01","weekday":"Thursday"}"#]]).await;
    // In summer.
    check(zone, 1_782_862_200_000, expect![[r#"
        2026-06-30T23:30:00Z
        Wednesday, 2026-07-01T01:30:00+02:00 (+02)
        {"utc":"2026-06-30T23:30:00Z","local":"2026-07-01T01:30:00+02:00","zone":"+02","weekday":"Wednesday"}"#]]).await;
    check(TimeZone::fixed(jiff::tz::offset(-11)), 0, expect![[r#"
        1970-01-01T00:00:00Z
        Wednesday, 1969-12-31T13:00:00-11:00 (-11)
        {"utc":"1970-01-01T00:00:00Z","local":"1969-12-31T13:00:00-11:00","zone":"-11","weekday":"Wednesday"}"#]]).await;
    check(
        TimeZone::UTC,
        u64::MAX,
        expect!["error: the clock shows no time of the calendar; ask the user for the time"],
    )
    .await;
}

#[test]
fn it_only_looks() {
    let tool = CurrentTime::utc();
    assert!(TypedTool::metadata(&tool).read_only);
    let facts = TypedTool::facts(&tool, &CurrentTimeInput {}, "/space");
    assert!(facts.replay_safe && facts.accesses.is_empty());
}
