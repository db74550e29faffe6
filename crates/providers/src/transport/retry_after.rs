//! How long a server asks to wait, in any of the ways it may say so.

use std::time::{Duration, SystemTime};

use heeler_http::Head;

/// No server is believed to mean more than this.
const WAIT_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The wait that headers ask for: `retry-after-ms`, or `retry-after` in seconds or as a date.
pub(super) fn wait(head: &Head, now: SystemTime) -> Option<Duration> {
    of(|name| head.header(name), now)
}

fn of<'a>(text: impl Fn(&str) -> Option<&'a str>, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| text(name).map(str::trim);
    let millis = text("retry-after-ms").and_then(|text| seconds(text, 1000.0));
    let wait = millis.or_else(|| {
        let text = text("retry-after")?;
        seconds(text, 1.0).or_else(|| {
            let date = httpdate::parse_http_date(text).ok()?;
            Some(date.duration_since(now).unwrap_or_default())
        })
    });
    wait.map(|wait| wait.min(WAIT_MAX))
}

/// The wait that a text such as `58.9s` tells, as Google's errors do.
pub(crate) fn of_text(text: &str) -> Option<Duration> {
    Some(seconds(text.strip_suffix('s')?, 1.0)?.min(WAIT_MAX))
}

/// A non-negative number of which `per_second` make a second.
fn seconds(text: &str, per_second: f64) -> Option<Duration> {
    let number: f64 = text.parse().ok().filter(|number| *number >= 0.0)?;
    Some(Duration::try_from_secs_f64(number / per_second).unwrap_or(WAIT_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_700_000_000; // Tue, 14 Nov 2023 22:13:20 GMT

    #[test]
    fn seconds_dates_and_milliseconds() {
        check(&[], None);
        check(&[("retry-after", "7")], Some(7000));
        check(&[("retry-after", " 0 ")], Some(0));
        check(&[("retry-after", "1.5")], Some(1500));
        check(&[("retry-after", "9"), ("retry-after-ms", "250")], Some(250));
        check(&[("retry-after", "9"), ("retry-after-ms", "soon")], Some(9000));
        check(&[("retry-after", "Tue, 14 Nov 2023 22:14:20 GMT")], Some(60_000));
        check(&[("retry-after", "Tue, 14 Nov 2023 22:00:00 GMT")], Some(0));
    }

    #[test]
    fn nonsense_is_ignored_and_ages_are_cut() {
        for nonsense in ["", "soon", "-1", "NaN", "1 minute", "-inf"] {
            check(&[("retry-after", nonsense)], None);
        }
        let day = Some(24 * 60 * 60 * 1000);
        check(&[("retry-after", "1e300")], day);
        check(&[("retry-after", "inf")], day);
        check(&[("retry-after", "Tue, 14 Nov 2090 22:00:00 GMT")], day);
    }

    #[test]
    fn a_wait_in_a_body() {
        let millis = |text: &str| of_text(text).map(|wait| wait.as_millis());
        assert_eq!(millis("58s"), Some(58_000));
        assert_eq!(millis("58.934310785s"), Some(58_934));
        assert_eq!(millis("1e300s"), Some(24 * 60 * 60 * 1000));
        for nonsense in ["", "s", "58", "58ms", "-1s", "soons"] {
            assert_eq!(millis(nonsense), None, "{nonsense}");
        }
    }

    fn check(headers: &[(&'static str, &'static str)], expected_millis: Option<u128>) {
        let text =
            |name: &str| headers.iter().find_map(|(own, value)| (*own == name).then_some(*value));
        let wait = of(text, SystemTime::UNIX_EPOCH + Duration::from_secs(NOW));
        assert_eq!(wait.map(|wait| wait.as_millis()), expected_millis, "{headers:?}");
    }
}
