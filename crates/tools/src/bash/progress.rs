//! The line of an output that is shown while the output comes.

use heeler_secrets::begun_at_end;

use crate::text::part;

/// The longest line.
const PROGRESS_CHARS_MAX: usize = 200;
/// How far back one is looked for.
pub(super) const PROGRESS_BYTES_MAX: usize = 4 * PROGRESS_CHARS_MAX;
/// Stands at an end that is none of the line's: what is left there of a value is looked for beside it.
const CUT: &str = "\u{2026}";

/// The last line of what is new that says something, or the beginning of a long one.
pub(super) fn progress_line(before: &str, new: &str) -> Option<String> {
    let says = |line: &str| !line.chars().all(|c| c.is_control() || c.is_whitespace());
    let mut end = new.len();
    let line = new.rsplit(['\n', '\r']).find(|line| {
        let is_wanted = says(line);
        // Before it the end of the one before stands, of one byte.
        end -= if is_wanted { 0 } else { end.min(line.len() + 1) };
        is_wanted
    })?;
    let start = end - line.len();
    let is_begun = start > 0 || before.is_empty() || before.ends_with(['\n', '\r']);
    let is_ended = end < new.len();
    let n_marks = usize::from(!is_begun) + usize::from(!is_ended);
    let is_long = line.chars().count() + n_marks > PROGRESS_CHARS_MAX;
    let all = [before, new].concat();
    let (start, end) = (before.len() + start, before.len() + end);
    let end = match is_long {
        true => {
            let n_shown = PROGRESS_CHARS_MAX - 1 - usize::from(!is_begun);
            line.char_indices().nth(n_shown).map_or(end, |(at, _)| start + at)
        }
        false => end,
    };
    // Of what is begun where the output ends the rest is still to come, however long the line is.
    let begun = if is_ended { None } else { begun_at_end(&all) };
    let end = begun.map_or(end, |begun| end.min(begun.max(start)));
    let shown = part(&all, start..end).replace(char::is_control, " ");
    let shown = shown.trim();
    let before = if is_begun { "" } else { CUT };
    let after = if is_long || !is_ended { CUT } else { "" };
    (!shown.is_empty()).then(|| format!("{before}{shown}{after}"))
}

#[cfg(test)]
mod tests {
    use heeler_secrets::Secrets;

    use super::*;

    const KEY: &str = "ghp_q7Zk2Wm9Xr4Tb8Yc1Vn6Pd3Lf5Hg0JsAeBuC";
    const SEEN: &str = "[redacted: GitHub token]";

    /// Of an output that is read in these pieces, what is shown at the last.
    fn shown(pieces: &[&str]) -> Option<String> {
        let (new, before) = pieces.split_last().unwrap();
        progress_line(&before.concat(), new)
    }

    #[test]
    fn a_line_is_shown_as_it_is_and_a_mark_where_it_goes_on() {
        for (pieces, expected) in [
            (&["one\ntwo\n\n"][..], Some("two")),
            (&["one\n", "two\r\n"], Some("two")),
            (&["10%\r20%\r"], Some("20%")),
            (&["\r1024/9999"], Some("1024/9999\u{2026}")),
            (&["\r1024/9999", "\r2048/9999"], Some("2048/9999\u{2026}")),
            (&["\rDownloading package_name_1"], Some("Downloading package_name_1\u{2026}")),
            (&["test1............."], Some("test1.............\u{2026}")),
            (&["test1...", "test2..."], Some("\u{2026}test2...\u{2026}")),
            (&["test1...", "test2\n"], Some("\u{2026}test2")),
            (&["one", "\n"], None),
            (&[" \n\t"], None),
        ] {
            assert_eq!(shown(pieces).as_deref(), expected, "{pieces:?}");
        }
        for (before, end, length) in [("", "", 200), ("", "\n", 200), ("a", "", 200)] {
            for n_chars in 190..210 {
                let line = progress_line(before, &format!("{}{end}", "x".repeat(n_chars))).unwrap();
                let n_marks = usize::from(!before.is_empty()) + usize::from(end.is_empty());
                assert_eq!(line.chars().count(), length.min(n_chars + n_marks), "{line}");
            }
        }
    }

    #[test]
    fn a_key_is_not_shown_in_part_while_it_comes() {
        let whole = format!("key {KEY}");
        assert_eq!(shown(&[&format!("{whole}\n")]).as_deref(), Some(&*whole));
        // In pieces, and behind what a line may hold.
        assert_eq!(shown(&["key ", &KEY[..20]]), None);
        assert_eq!(shown(&[&format!("key {}", &KEY[..20])]).as_deref(), Some("key\u{2026}"));
        let rest = format!("\u{2026}{SEEN}\u{2026}");
        assert_eq!(shown(&["key ", &KEY[..20], &KEY[20..]]).as_deref(), Some(&*rest));
        let (far, seen) = (format!("{}key {KEY} b\n", "a ".repeat(90)), "a ".repeat(90) + "key ");
        assert_eq!(shown(&[&far]), Some(format!("{seen}{SEEN}\u{2026}")));
        let (one, end) = (&KEY[..20], format!("{}{}", &KEY[20..], " b".repeat(390)));
        let cut = format!("\u{2026}{SEEN}{}\u{2026}", " b".repeat(89));
        assert_eq!(shown(&[one, &end]), Some(cut));
        // In a line too long to be shown whole, wherever it ends.
        for n_before in 150..210 {
            let before = format!("{:n_before$} ", "key:");
            for n_come in 5..KEY.len() {
                for pieces in [[&before, &KEY[..n_come]].concat(), format!("{before}{KEY}")] {
                    let line = shown(&[&pieces]).unwrap();
                    let is_whole = line.contains(KEY);
                    assert!(is_whole || !line.contains(&KEY[4..8]), "{line}");
                }
            }
        }
    }

    /// As the engine does with a line, for the values that it alone knows.
    #[test]
    fn of_a_value_no_part_is_shown_and_a_whole_line_loses_no_word() {
        let value = "correct-horse-test";
        let secrets = Secrets::of_variables([("DB_PASSWORD", value)]);
        let redacted = |pieces: &[&str]| secrets.redact(&shown(pieces).unwrap()).into_owned();
        for line in ["test result: ok. 5 passed", "running correct"] {
            assert_eq!(redacted(&["before\n", &format!("{line}\n")]), line);
            assert_eq!(redacted(&[&format!("{line}\nafter\n\r{line}\r")]), line);
        }
        for at in 4..value.len() - 4 {
            let (one, two) = value.split_at(at);
            for pieces in [
                &[&format!("a {one}")[..]][..],
                &["b\n", one],
                &[one, two],
                &[one, &format!("{two}\n")],
            ] {
                let line = redacted(pieces);
                assert!(
                    line.contains("[redacted: DB_PASSWORD]") && !line.contains("ect-"),
                    "{line}"
                );
                assert!(!line.contains("-tes"), "{line}");
            }
        }
    }
}
