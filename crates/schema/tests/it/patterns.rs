//! Patterns as ECMA-262 has them.

use heeler_schema::Schema;
use serde_json::json;

/// A pattern, texts it is found in, and texts it is not.
fn check(cases: &[(&str, &[&str], &[&str])]) {
    for (pattern, good, bad) in cases {
        let schema = json!({"pattern": pattern});
        let schema = Schema::new(&schema).unwrap_or_else(|error| panic!("{error}"));
        for (texts, is_found) in [(good, true), (bad, false)] {
            for text in *texts {
                assert_eq!(schema.accepts(&json!(text)), is_found, "{pattern} {text:?}");
            }
        }
    }
}

#[test]
fn classes_are_of_ascii_and_spaces_of_all_kinds() {
    check(&[
        (r"^\d+$", &["12"], &["١", "a", ""]),
        (r"^\D$", &["١", "a"], &["1"]),
        (r"^\w+$", &["aZ_9"], &["é", "-"]),
        (r"^\W$", &["é", "-"], &["a"]),
        (
            r"^\s$",
            &[" ", "\u{feff}", "\u{2029}", "\u{b}", "\u{3000}"],
            &["\u{85}", "\u{180e}", "a"],
        ),
        (r"^\S$", &["\u{85}", "a"], &[" ", "\u{a0}"]),
        (r"^[\w.-]+@[\d\s]$", &["a-b.c@1", "a@\u{a0}"], &["é@1", "a@b"]),
        (r"^[^\W\d]$", &["a", "_"], &["1", "é"]),
        (r"^\p{L}+\P{L}$", &["é1"], &["1é"]),
        (r"^[\p{Lu}_]+$", &["É_"], &["é"]),
        (r"^\p{Script=Greek}$", &["α"], &["a"]),
    ]);
}

#[test]
fn brackets_mean_nothing_within_brackets() {
    check(&[
        (r"^[[a]$", &["[", "a"], &["b"]),
        (r"^[a&&b]+$", &["a&b"], &["c"]),
        (r"^[a~~b]+$", &["a~b"], &["c"]),
        (r"^[+--]$", &["+", ",", "-"], &["a"]),
        (r"^[a-c-e]+$", &["a-ce"], &["d"]),
        (r"^[\w-z]+$", &["a-z"], &["+"]),
        (r"^[-a]+[a-]+$", &["a--a"], &["b"]),
        (r"^[]$", &[], &["", "a", "]"]),
        (r"^[^]$", &["a", "\n", "]"], &["", "ab"]),
        (r"^[\]\b^]$", &["]", "\u{8}", "^"], &["b"]),
        (r"^[\u0041-\u0043]$", &["B"], &["D"]),
    ]);
}

#[test]
fn escapes_and_braces() {
    check(&[
        (r"^\/\-\.\'$", &["/-.'"], &["a"]),
        (r"^\u00e9\x41\t\cA\0$", &["éA\t\u{1}\0"], &["a"]),
        (r"^\ud83d\udca9\u{1f4a9}$", &["💩💩"], &["a"]),
        (r"^{a}$", &["{a}"], &["a"]),
        (r"^a{2}b{1,}c{0,1}d{,2}$", &["aabbd{,2}", "aabcd{,2}"], &["abd{,2}"]),
        (r"^\<a\>$", &["<a>"], &["a"]),
        (r"\bab\b", &["a ab b"], &["aab"]),
        ("a$", &["ba"], &["a\n"]),
        ("^(?:a|b)(?<name>c)$", &["ac", "bc"], &["c"]),
        (r"\Aa\z", &["a"], &["ba"]),
        ("", &["", "a"], &[]),
        ("é", &["né"], &["e"]),
    ]);
}

#[test]
fn patterns_look_around_and_back() {
    // As a widespread library writes the pattern of an address.
    let address = r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$";
    check(&[
        (address, &["a.b@example.com"], &[".a@example.com", "a..b@example.com", "a@b"]),
        (r"^(?=.*\d)(?=.*[a-z]).{4,8}$", &["abc1"], &["abcd", "1234", "a1"]),
        (r"^(a+)-\1$", &["aa-aa"], &["aa-a"]),
        (r"^(?<q>['\x22]).*\k<q>$", &["'a'"], &["'a\""]),
        (r"(?<!a)b", &["cb"], &["ab"]),
    ]);
}

#[test]
fn what_is_no_pattern_is_refused() {
    for pattern in
        ["(", "a**", "[a", r"a\", r"\y", r"\cé", r"\u12", r"\ud83d", "[b-a]", r"\p{Nothing}"]
    {
        let error = Schema::new(&json!({"items": {"pattern": pattern}})).unwrap_err();
        assert_eq!(error.place(), "/items/pattern", "{pattern}");
        assert!(error.reason().contains(&format!("{pattern:?}")), "{error}");
    }
    let error = Schema::new(&json!({"patternProperties": {"a/(": true}})).unwrap_err();
    assert_eq!(error.place(), "/patternProperties/a~1(");
}
