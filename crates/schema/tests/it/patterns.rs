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
        (r"^\p{Script=Greek}\p{sc=Greek}\p{Letter}\p{gc=Ll}$", &["αβaa"], &["aβaa"]),
        (r"^\p{Uppercase_Letter}\P{ASCII}\p{digit}$", &["Éα٣"], &["Éα-"]),
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
        (r"^[+-\d]+$", &["+-1"], &[",", "."]),
        (r"^[\w-.]+$", &["a-."], &["+"]),
        (r"^[\w-\.]+$", &["a-."], &["+"]),
        (r"^[a-\s-c]+$", &["a- c"], &["b"]),
        (r"^[a-\p{Lu}-c]+$", &["a-Zc"], &["b"]),
        (r"^[^a-\d]$", &["b"], &["a", "-", "1"]),
        (r"^[\W\S]$", &["a", "-", " "], &[""]),
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
        (r"^\b.+\B\.$", &["né."], &["a."]),
        (r"\bé\b", &["aéa"], &["é", "aé", "éa"]),
        (r"\B", &["", "é", "ab"], &["a"]),
        (r"^(?:\bab|\B-)+$", &["ab", "-ab", "--"], &["aab", "ab-"]),
        ("a$", &["ba"], &["a\n", "a\nb"]),
        ("^a", &["ab"], &["\na", "b\na"]),
        ("^(?=a$)", &["a"], &["a\n"]),
        ("(?<=^)a(?!b)$", &["a"], &["\na", "a\n"]),
        (".", &["a", "\u{85}", "\u{b}", "é"], &["\n", "\r", "\u{2028}", "\u{2029}"]),
        ("^(?=.a)", &["ba"], &["\ra", "\na"]),
        ("a{2}?b+?c??", &["aab"], &["ab"]),
        ("^a{2,3}$", &["aa", "aaa"], &["a", "aaaa"]),
        (r"^a|b{0}|]|}$", &["", "]", "}"], &[]),
        ("^[a-z]+-*[a-z]+$", &["ab", "a-b"], &["a"]),
        ("^.+b{0,2}.{1,}$", &["ab", "bb"], &["b"]),
        (r"^\w+ ?\w+(?=!)", &["ab!", "a b!"], &["a!"]),
        ("^(?:a+)b*(?:a+)$", &["aa", "aba"], &["a"]),
        ("^(a+)b*((?:a+))$", &["aa", "aba"], &["a"]),
        ("^((?=a))?(?:(?=a))+()*(?:)*a$", &["a"], &["b"]),
        ("^(?:a+(?:-a*)?)+$", &["a-", "a-a-a"], &["a--", "-a"]),
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
        (r"(?<=a)b", &["ab"], &["cb", "b"]),
        // A name of a host, as it is widely written.
        (
            r"^((?!-)[A-Za-z0-9-]{1,63}(?<!-)\.)+[A-Za-z]{2,6}$",
            &["a.example.com", "a-long-label-of-a-host.b-c.d.e.f.example.org"],
            &["-a.com", "a-.com", "a", "a.b.c.d.e.f.g.h.i.j-.com", "a..b"],
        ),
        // A group that took no part was found as nothing.
        (r"^(?:(a)|b)\1$", &["aa", "b"], &["a", "ba"]),
        (r"^(?<q>['\x22])?a\k<q>$", &["a", "'a'"], &["'a", "a'"]),
        (r"^(a)?\1+b\1$", &["b", "aaba", "aaaba"], &["ab", "aab", "ba"]),
        (r"^(?!(b))a\1$", &["a"], &["b"]),
        (r"(a)?b\1(?!c)", &["b", "aba"], &["bc", "a"]),
        (r"^(a)(b)(c)(d)(e)(f)(g)(h)(i)(?<j>j)\10\k<j>$", &["abcdefghijjj"], &["abcdefghija0j"]),
        (r"^(?:(?!foo).)*$", &["a fo o"], &["a foo"]),
        (r"^(a?)+\1$", &["aaa", ""], &["b"]),
        (r"(?<=(?:ab|c))x", &["abx", "cx"], &["bx"]),
        (r"(?<!(?:ab|c))x", &["bx"], &["abx", "cx"]),
    ]);
}

#[test]
fn what_is_no_pattern_is_refused() {
    for pattern in [
        "(",
        ")",
        "a)(",
        "a**",
        "[a",
        r"a\",
        r"\y",
        r"\cé",
        r"\u12",
        r"\ud83d",
        "[b-a]",
        r"\p{Nothing}",
        "[a-",
    ] {
        let error = Schema::new(&json!({"items": {"pattern": pattern}})).unwrap_err();
        assert_eq!(error.place(), "/items/pattern", "{pattern}");
        let written = json!(pattern).to_string();
        assert!(error.reason().starts_with(&format!("the pattern {written} ")), "{error}");
    }
    let error = Schema::new(&json!({"patternProperties": {"a/(": true}})).unwrap_err();
    assert_eq!(error.place(), "/patternProperties/a~1(");
}

#[test]
fn what_only_other_languages_know_is_refused_by_name() {
    for (pattern, why) in [
        ("a++", "makes a quantifier possessive"),
        ("a*+", "makes a quantifier possessive"),
        ("a?+b", "makes a quantifier possessive"),
        ("a{2}+", "makes a quantifier possessive"),
        ("a*?+", "makes a quantifier possessive"),
        ("a{2}{3}", "a `{` with nothing to repeat"),
        ("^*", "a `*` with nothing to repeat"),
        (r"\b+", "a `+` with nothing to repeat"),
        ("(?=a)?", "a `?` with nothing to repeat"),
        ("a|?", "a `?` with nothing to repeat"),
        ("{2}", "a `{` with nothing to repeat"),
        ("(*FAIL)", "a `*` with nothing to repeat"),
        ("a{3,2}", "a count that ends before it begins"),
        ("a{99999999999}", "a count that is too large"),
        ("(?>a)", "the group `(?>`"),
        ("(?i)a", "the group `(?i`"),
        ("(?i:a)", "the group `(?i`"),
        ("(?-u:a)", "the group `(?-`"),
        ("(?x) a # b", "the group `(?x`"),
        ("(a)(?(1)b)", "the group `(?(`"),
        ("(?#a)", "the group `(?#`"),
        ("(?P<a>a)", "the group `(?P`"),
        ("(?'a'b)", "the group `(?'`"),
        ("(?~a)", "the group `(?~`"),
        ("(?", "the group `(?`"),
        ("(?<>a)", "a group without a name"),
        ("(?<1>a)", "a group without a name"),
        ("(?<a-b>a)", "a group without a name"),
        ("(?<a", "a group without a name"),
        ("(?<a>b)(?<a>c)", "two groups with the name `a`"),
        (r"a\K", r"\K, which means nothing"),
        (r"\G", r"\G, which means nothing"),
        (r"\h", r"\h, which means nothing"),
        (r"\H", r"\H, which means nothing"),
        (r"\R", r"\R, which means nothing"),
        (r"\X", r"\X, which means nothing"),
        (r"\Z", r"\Z, which means nothing"),
        (r"\Qa\E", r"\Q, which means nothing"),
        (r"(a)\g1", r"\g, which means nothing"),
        (r"[\K]", r"\K, which means nothing"),
        (r"[\1]", r"\1, which means nothing"),
        (r"\u+041", r"a \u without four digits"),
        (r"\u{+41}", r"a \u without four digits"),
        (r"\u{}", r"a \u without four digits"),
        (r"\u{110000}", r"a \u that is no character"),
        (r"\udca9", r"a \u that is no character"),
        (r"\ud83d\u+ca9", r"a \u that is no character"),
        (r"\x4", r"a \x without two digits"),
        (r"\x{41}", r"a \x without two digits"),
        (r"[\x+1]", r"a \x without two digits"),
        (r"\01", r"a \0 before a digit"),
        (r"\pL", r"a \p without a name in braces"),
        (r"\PL", r"a \P without a name in braces"),
        (r"\p{L", r"a \p without a name in braces"),
        (r"\p{}", r"a \p without a name in braces"),
        (r"\p{^L}", r"a \p without a name in braces"),
        (r"\p{L&&a}", r"a \p without a name in braces"),
        (r"[\p{ L}]", r"a \p without a name in braces"),
        (r"\p{Script!=Greek}", r"a \p without a name in braces"),
        (r"\p{word}", "`word`, which is no property"),
        (r"\p{alnum}", "`alnum`, which is no property"),
        (r"\p{age=3.0}", r"a \p without a name in braces"),
        (r"\p{Age=V3_0}", "`Age=V3_0`, which is no property"),
        (r"\p{sc=}", "`sc=`, which is no property"),
        (r"(a)\2", r"\2 where no such group has ended"),
        (r"(a\1)", r"\1 where no such group has ended"),
        (r"\1(a)", r"\1 where no such group has ended"),
        (r"\k<a>(?<a>b)", r"\k<a> where no such group has ended"),
        (r"(?<a>b)\k", r"a \k without a name"),
        (r"(?<a>b)\k'a'", r"a \k without a name"),
        (r"(a)(?<=\1)", r"\1 in a look-behind"),
    ] {
        let error = Schema::new(&json!({"pattern": pattern})).err();
        let error = error.unwrap_or_else(|| panic!("{pattern} is taken"));
        assert!(error.reason().contains(why), "{pattern}: {error}");
    }
}
