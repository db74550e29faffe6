//! How long a server asks to wait, in any of the ways it may say so: headers, or words for people.

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

/// The wait until there is room again, as OpenAI and those like it tell with every answer: for what
/// is spent, or else for tokens, of which a request may need more than are left.
pub(crate) fn of_resets(head: &Head) -> Option<Duration> {
    resets(|name| head.header(name))
}

fn resets<'a>(text: impl Fn(&str) -> Option<&'a str>) -> Option<Duration> {
    const COUNTED: [(&str, &str); 2] = [
        ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
        ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ];
    let is_spent = |left: &str| text(left).is_some_and(|left| left.trim() == "0");
    let wait = |reset: &str| duration(text(reset)?.trim());
    let spent = COUNTED.iter().filter(|(left, _)| is_spent(left));
    let spent = spent.filter_map(|(_, reset)| wait(reset)).max();
    spent.or_else(|| COUNTED.iter().find_map(|(_, reset)| wait(reset)))
}

/// The wait that words for people tell: `Please try again in 44.3s.`, `retry after 26 seconds`.
pub(crate) fn of_words(text: &str) -> Option<Duration> {
    let lower = text.to_ascii_lowercase();
    ["try again in ", "retry in ", "retry after "].iter().find_map(|words| {
        let at = lower.find(words)? + words.len();
        duration(&lower[at..])
    })
}

/// The time that a text begins with: `45s`, `6m0s`, `1h2m3.5s`, `120ms`, `26 seconds`.
fn duration(text: &str) -> Option<Duration> {
    let (mut rest, mut sum) = (text, None);
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let after = after.strip_prefix(' ').unwrap_or(after);
        let end = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let per_second = match unit {
            "ms" | "millisecond" | "milliseconds" => 1000.0,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 1.0 / 60.0,
            "h" | "hour" | "hours" => 1.0 / 3600.0,
            _ => return sum,
        };
        let Some(part) = seconds(number, per_second) else { return sum };
        sum = Some(sum.unwrap_or(Duration::ZERO).saturating_add(part).min(WAIT_MAX));
        rest = after;
    }
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

    #[test]
    fn a_wait_in_words() {
        let millis = |text: &str| of_words(text).map(|wait| wait.as_millis());
        for (text, expected) in [
            ("Limit 30000. Please try again in 44.3s. Visit https://a.test", Some(44_300)),
            ("Please try again in 120ms.", Some(120)),
            ("please Try Again In 6m0s", Some(360_000)),
            ("try again in 1h2m3.5s, or later", Some(3_723_500)),
            ("Please retry after 26 seconds.", Some(26_000)),
            ("Please retry in 33.1s.", Some(33_100)),
            ("try again in 9999999h", Some(24 * 60 * 60 * 1000)),
            ("try again in 5", None),
            ("try again in a minute", None),
            ("try again in 5 tries", None),
            ("Slow down.", None),
        ] {
            assert_eq!(millis(text), expected, "{text}");
        }
    }

    #[test]
    fn a_wait_until_there_is_room() {
        let check = |headers: &[(&str, &'static str)], expected: Option<u64>| {
            let text = |name: &str| {
                headers.iter().find_map(|(own, value)| name.ends_with(own).then_some(*value))
            };
            assert_eq!(resets(text).map(|wait| wait.as_secs()), expected, "{headers:?}");
        };
        check(&[], None);
        check(&[("reset-tokens", "45s")], Some(45));
        check(&[("reset-requests", "2m59.56s")], Some(179));
        check(&[("reset-tokens", "6s"), ("reset-requests", "1h")], Some(6));
        let spent = ("remaining-requests", "0");
        check(&[("reset-tokens", "6s"), ("reset-requests", "1h"), spent], Some(3600));
        // Others tell a date, or a number of whatever it is.
        check(&[("reset-tokens", "1700000000")], None);
    }

    fn check(headers: &[(&'static str, &'static str)], expected_millis: Option<u128>) {
        let text =
            |name: &str| headers.iter().find_map(|(own, value)| (*own == name).then_some(*value));
        let wait = of(text, SystemTime::UNIX_EPOCH + Duration::from_secs(NOW));
        assert_eq!(wait.map(|wait| wait.as_millis()), expected_millis, "{headers:?}");
    }
}
