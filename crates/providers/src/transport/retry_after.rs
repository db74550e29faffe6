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

/// The wait until there is room again, as OpenAI, Anthropic and those like them tell with every
/// answer: for what is spent, or else for tokens, of which a request may need more than are left.
pub(crate) fn of_resets(head: &Head) -> Option<Duration> {
    resets(|name| head.header(name), super::now(head))
}

fn resets<'a>(text: impl Fn(&str) -> Option<&'a str>, now: SystemTime) -> Option<Duration> {
    const COUNTED: [(&str, &str); 6] = [
        ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
        ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
        ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
        ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
        ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
        ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ];
    let text = |name: &str| text(name).map(str::trim);
    let until = |date: SystemTime| date.duration_since(now).unwrap_or_default().min(WAIT_MAX);
    let wait = |reset: &str| {
        let text = text(reset)?;
        duration(text).or_else(|| date(text).map(until))
    };
    let spent = COUNTED.iter().filter(|(left, _)| text(left) == Some("0"));
    let spent = spent.filter_map(|(_, reset)| wait(reset));
    // A subscription's, for hours or days, in seconds since 1970; told while there is room, too.
    let is_over = text("anthropic-ratelimit-unified-status") == Some("rejected");
    let over = text("anthropic-ratelimit-unified-reset").filter(|_| is_over);
    let over = over.and_then(|text| SystemTime::UNIX_EPOCH.checked_add(seconds(text, 1.0)?));
    let spent = spent.chain(over.map(until)).max();
    spent.or_else(|| COUNTED.iter().find_map(|(_, reset)| wait(reset)))
}

/// The time of a date such as `2026-11-28T23:35:33Z`.
fn date(text: &str) -> Option<SystemTime> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !text.ends_with('Z') || year < 1970 || !(1..=12).contains(&month) {
        return None;
    }
    // Years begin in March, so that the day that some have more is their last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day;
    let seconds = ((days.checked_sub(719_469)? * 24 + hour) * 60 + minute) * 60 + second;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
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
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW);
            assert_eq!(resets(text, now).map(|wait| wait.as_secs()), expected, "{headers:?}");
        };
        check(&[], None);
        check(&[("reset-tokens", "45s")], Some(45));
        check(&[("reset-requests", "2m59.56s")], Some(179));
        check(&[("reset-tokens", "6s"), ("reset-requests", "1h")], Some(6));
        let spent = ("remaining-requests", "0");
        check(&[("reset-tokens", "6s"), ("reset-requests", "1h"), spent], Some(3600));
        // Others tell a number of whatever it is.
        check(&[("reset-tokens", "1700000000")], None);
        // Anthropic's dates.
        let (tokens, requests) =
            ("anthropic-ratelimit-tokens-reset", "anthropic-ratelimit-requests-reset");
        check(&[(tokens, "2023-11-14T22:14:20Z")], Some(60));
        check(&[(tokens, "2023-11-14T22:14:20.5Z")], Some(60));
        check(&[(tokens, "2023-11-14T22:00:00Z")], Some(0));
        check(&[(tokens, "2090-01-01T00:00:00Z")], Some(24 * 60 * 60));
        let spent = ("anthropic-ratelimit-requests-remaining", "0");
        let later = (requests, "2023-11-15T00:13:20Z");
        check(&[(tokens, "2023-11-14T22:14:20Z"), later, spent], Some(7200));
        for nonsense in ["2023-13-14T22:14:20Z", "1969-11-14T22:14:20Z", "2023-11-14", "soon", ""] {
            check(&[(tokens, nonsense)], None);
        }
        let reset = ("anthropic-ratelimit-unified-reset", "1700007200");
        check(&[reset, ("anthropic-ratelimit-unified-status", "rejected")], Some(7200));
        check(&[reset, ("anthropic-ratelimit-unified-status", "allowed")], None);
    }

    #[test]
    fn dates() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2023-11-14T22:13:20Z", NOW),
            ("2024-02-29T23:59:59Z", 1_709_251_199),
            ("2024-03-01T00:00:00Z", 1_709_251_200),
            ("2100-03-01T00:00:00Z", 4_107_542_400),
        ] {
            assert_eq!(date(text), Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)));
        }
    }

    fn check(headers: &[(&'static str, &'static str)], expected_millis: Option<u128>) {
        let text =
            |name: &str| headers.iter().find_map(|(own, value)| (*own == name).then_some(*value));
        let wait = of(text, SystemTime::UNIX_EPOCH + Duration::from_secs(NOW));
        assert_eq!(wait.map(|wait| wait.as_millis()), expected_millis, "{headers:?}");
    }
}
