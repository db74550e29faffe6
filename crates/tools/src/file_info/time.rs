//! A moment as people write it.

const SECONDS_OF_A_DAY: i64 = 86_400;
/// Days of four centuries, after which the calendar repeats.
const DAYS_OF_AN_ERA: i64 = 146_097;
/// Days from the first of March of the year 0 to the day that systems count from.
const DAYS_TO_EPOCH: i64 = 719_468;

/// Seconds since 1970 as `2001-02-03T04:05:06Z`.
pub(super) fn utc(seconds: i64) -> String {
    let (days, second) =
        (seconds.div_euclid(SECONDS_OF_A_DAY), seconds.rem_euclid(SECONDS_OF_A_DAY));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The date so many days after the first of 1970. Years begin in March here, so that the odd day
/// comes last.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days.saturating_add(DAYS_TO_EPOCH);
    let (era, day) = (days.div_euclid(DAYS_OF_AN_ERA), days.rem_euclid(DAYS_OF_AN_ERA));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (981_173_106, "2001-02-03T04:05:06Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(seconds), expected);
        }
        assert!(utc(i64::MAX).ends_with('Z') && utc(i64::MIN).ends_with('Z'));
    }
}
