//! What is found, what is left alone, and that nothing found is left.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

/// Redacts with these variables.
fn check(variables: &[(&str, &str)], text: &str, expected: Expect) {
    expected.assert_eq(&Secrets::of_variables(variables.iter().copied()).redact(text));
}

/// A text of random looks, the same each time; no key of anybody.
fn noise(chars: usize) -> String {
    let letters = b"q7Zk2Wm9Xr4Tb8Yc1Vn6Pd3Lf5Hg0JsAeBuCiDo";
    (0..chars).map(|at| char::from(letters[(at * 17 + at / 7) % letters.len()])).collect()
}

#[test]
fn values_of_secret_variables_are_taken_out() {
    let variables = [
        ("DEPLOY_TOKEN", "Tr0ub4dor&3-horse"),
        ("DEPLOY_TOKEN_LONG", "Tr0ub4dor&3-horse-battery"),
        ("SIGNING_KEY", "correct horse battery"),
        // None of these is a secret: too short, a path, a placeholder, no secret name.
        ("SHORT_TOKEN", "abc123def45"),
        ("KEY_SECRET", "/space/keys/id_ed25519"),
        ("OLD_PASSWORD", "xxxxxxxxxxxxxxxx"),
        ("EDITOR", "a-very-long-editor-name"),
    ];
    let text = "1 Tr0ub4dor&3-horse-battery 2 Tr0ub4dor&3-horse 3 correct horse battery 4 \
                abc123def45 5 /space/keys/id_ed25519 6 xxxxxxxxxxxxxxxx 7 a-very-long-editor-name";
    check(
        &variables,
        text,
        expect![
            "1 [redacted: DEPLOY_TOKEN_LONG] 2 [redacted: DEPLOY_TOKEN] 3 [redacted: SIGNING_KEY] 4 abc123def45 5 /space/keys/id_ed25519 6 xxxxxxxxxxxxxxxx 7 a-very-long-editor-name"
        ],
    );
}

#[test]
fn names_and_values_say_which_variables_are_secret() {
    let word = "correct horse battery";
    for (name, value, expected) in [
        ("MYSQL_PWD", word, true),
        ("PWD", word, false),
        ("OLDPWD", word, false),
        ("SIGNING_PASSPHRASE", word, true),
        ("NPM_CONFIG__AUTH", word, true),
        ("SSH_AUTH_SOCK", "/tmp/ssh-XyZ9aB3dE8f/agent.7", false),
        ("PGPASSWORD", word, true),
        ("PGPASSFILE", "/home/me/.pgpass-of-work", false),
        ("PGPASSFILE", ".config/pgpass", false),
        ("github_token", word, true),
        ("AUTHOR", word, false),
        // A value in base64 may begin as a path does.
        ("STORAGE_KEY", "/9j4AAQSkZJRgABAQ1bX2c==", true),
        ("AWS_SECRET_ACCESS_KEY", "/wJa1rXUt/nFEMI7K+MDENG/bPxRf3CYzEq", true),
        ("DB_PASSWORD", "/aB3.x9Qz!kL7", true),
        ("DB_PASSWORD", "~aB3.x9Qz!kL7", true),
        ("SIGNING_KEY", "/Users/user/keys/prod2/id_ed25519.pem", false),
        ("TLS_KEY", "/etc/letsencrypt/live/www.my-site.org/privkey1.pem", false),
        ("SECRET", "/nix/store/8x9fhk2v7c1q3z5m0r4d6s8w9y2b1n3p-cert/etc/key", false),
        ("TOKEN_FILE", "/tmp/tmp.aB3dE9xQ2z", false),
        ("DEPLOY_KEY", "~/keys/aB3dE9xQ2z", false),
        ("STORE_KEY", "~/MyApp2/Key1A.jks", false),
        ("DB_AUTH", "~/aB3.x9Qz!kL7aa", true),
        ("DB_AUTH", "~/.netrc-of-work", false),
        // Folders that are called as programs and people like to.
        ("BUILD_PWD", "/tmp/tmp.aB3dE9xQ2z", false),
        ("BUILD_PWD", "/tmp/tmp.aB3dE9xQ2z/", false),
        ("TLS_KEY", "/tmp/tmp.aB3dE9xQ2z/key.pem", false),
        ("ANDROID_SIGNING_KEY", "/Users/user/JoDoe2/MyApp2/Key1A.jks", false),
        ("PROJECT_PWD", "/Volumes/A1B2C3/iOS17/AppV2", false),
        ("CI_PWD", "/builds/xY3zAb9Q/0/MyGroup2/App", false),
        ("CI_PWD", "/__w/MyRepo2/MyRepo2", false),
        ("SIGNING_KEY", "/u01/App1B/com.App1.MyCompany2.LongName3/Key1A.jks", false),
        ("SIGNING_KEY", "/c/Users/user/JoDoe/Key 1A (2).jks", false),
        ("DB_PWD", "/aB3.x9Qz!kL7", true),
        ("DB_PWD", "/aB3x9/Qz1kL7/Mn4Rt", true),
        ("STORAGE_KEY", "/abc/9j4AAQSkZJRgABAQ1bX2cQ7Zk2Wm9Xr4", true),
        ("STORAGE_KEY", "/abc/9j4AAQS+kZJRg/ABAQ1bX2cQ7Zk==", true),
        ("MY_SECRET_FILE", "p4ss/w0rd-Horse9x", true),
        ("MY_SECRET_FILE", "config/MyApp2/Key1A.jks", false),
        ("MY_SECRET_FILE", "k8s/secrets/a1.yaml", false),
    ] {
        let is_found = !Secrets::of_variables([(name, value)]).named.is_empty();
        assert_eq!(is_found, expected, "{name}={value}");
    }
}

/// What is seen of a value when the text is cut at every place of it.
#[test]
fn a_part_of_a_value_beside_a_cut_is_taken_out() {
    let value = "h0rse-battery-\u{e9}taple";
    let secrets = Secrets::of_variables([("DB_PASSWORD", value), ("OTHER", "x")]);
    let shows = |text: &str, part: &str| {
        let parts: Vec<char> = part.chars().collect();
        parts.windows(4).any(|four| text.contains(&four.iter().collect::<String>()))
    };
    // A path may be long, and hold what ends a mark.
    let place = format!("/home/me/[work] {}/1.txt", "d/".repeat(400));
    for (at, _) in value.char_indices().skip(1) {
        let (begun, ended) = value.split_at(at);
        for text in [
            format!("a {begun} [... 7 more bytes]"),
            format!("a {begun}\n[... 7 bytes left out ...]\n{ended} b"),
            format!("12:[...] {ended} b"),
            format!("a {begun}\n[... 7 of 9 left out; all are in {place} ...]\n{ended} b"),
            format!("{{\"path\": \"a {begun}\u{2026}\"}}"),
        ] {
            let redacted = secrets.redact(&text);
            assert!(!shows(&redacted, begun) && !shows(&redacted, ended), "{redacted}");
            assert_eq!(secrets.redact(&redacted), redacted);
        }
        for text in [format!("{ended} b"), format!("a {begun}"), begun.to_owned()] {
            assert_eq!(secrets.redact(&text), text);
        }
    }
    // No mark, and what stands beside one by chance.
    for text in [
        "a h0rse-b",
        "h0rse-b [... not in\none line]",
        "h0r and [...] ples",
        "h0r [...] ple",
        // Of the bytes of a mark.
        "h0rse-b\u{2000}taple",
        "h0rse-b]taple",
        "[... not in\none line ...] taple",
        // Nothing was begun that this ends.
        "]taple",
        "] taple",
    ] {
        assert_eq!(secrets.redact(text), text);
    }
}

#[test]
fn what_a_cut_goes_through_is_taken_out_of_both_halves() {
    let key = format!("sk-ant-api03-{}", noise(40));
    let text = format!("token: {key}; {key}; and more");
    let marker = "[redacted: Anthropic key]";
    let second = text.rfind(&key).unwrap();
    let secrets = Secrets::default();
    for at in 0..=text.len() {
        let halves =
            [secrets.redact_ends(&text, 0..at), secrets.redact_ends(&text, at..text.len())];
        let is_within = |start: usize| start < at && at < start + key.len();
        let expected = match [is_within("token: ".len()), is_within(second)] {
            [true, _] => ["token: ".to_owned() + marker, format!("{marker}; {key}; and more")],
            [_, true] => [format!("token: {key}; {marker}"), format!("{marker}; and more")],
            _ => [text[..at].to_owned(), text[at..].to_owned()],
        };
        assert_eq!(halves.map(String::from), expected, "{at}");
    }
    let within = second + 20..second + 30;
    assert_eq!(secrets.redact_ends(&text, within), marker);
    // What says that it is one stands before the cut.
    let text = format!("token={}", noise(20));
    assert_eq!(secrets.redact_ends(&text, 6..text.len()), "[redacted: secret]");
}

/// What says that something is a secret may stand beyond the cut, and blanks, quotes and signs between.
#[test]
fn what_only_stands_beside_a_cut_is_found_as_in_the_whole_text() {
    let secrets = Secrets::default();
    let key = noise(20);
    for (before, key, behind) in [
        ("{\"token\": \"", &*key, "\"}\n"),
        ("api_key  =  ", &key, "\n"),
        ("Authorization: Bearer  ", &key, "\n"),
        ("postgres://app:", "pl4in-but-long", "@db.example.com"),
        ("aws_secret_access_key => '", &key, "' and token = none"),
        // One that is known alone stands between.
        ("DB_PWD=", &key, "; DB_PWD=q7Zk2Wm9Xr4Tb8Yc1Vn6; "),
    ] {
        let text = format!("a {before}{key}{behind} b");
        for from in 0..=text.len() {
            for to in from..=text.len() {
                let shown = secrets.redact_ends(&text, from..to).into_owned();
                let shown = secrets.redact(&shown);
                let is_gone = (0..key.len() - 4).all(|at| !shown.contains(&key[at..at + 4]));
                assert!(is_gone, "{from}..{to}: {shown}");
                // What is known later is left, so that what is cut again is whole.
                if from == 0 && to == text.len() {
                    assert_eq!(secrets.redact_ends(&text, from..to), text);
                }
            }
        }
    }
}

#[test]
fn what_begins_as_a_key_does_is_told_where_a_text_may_go_on() {
    for (before, key, n_shown) in [
        ("a ", format!("sk-ant-api03-{}", noise(40)), 3),
        ("a ", format!("sk-or-v1-{}", "0123456789abcdef".repeat(4)), 3),
        ("a ", "sk-8f3b0c6d1e9a47528f60b1c2d3e4a597".to_owned(), 3),
        ("a ", format!("ghp_{}", noise(36)), 4),
        ("a ", format!("github_pat_{}", noise(40)), 11),
        ("a ", format!("glpat-{}", noise(20)), 6),
        ("a ", "AKIAQ7ZK2WM9XR4TB8YC".to_owned(), 4),
        ("a ", format!("xoxb-{}", noise(24)), 5),
        ("a ", format!("AIza{}", noise(35)), 4),
        ("a ", format!("ya29.{}", noise(40)), 5),
        ("a ", format!("sk_live_{}", noise(24)), 8),
        ("a ", format!("npm_{}", noise(36)), 4),
        ("a ", format!("pypi-AgEI{}", noise(60)), 6),
        ("a ", format!("hf_{}", noise(34)), 3),
        ("a ", format!("dop_v1_{}", "0123456789abcdef".repeat(4)), 7),
        ("a ", format!("SG.{}.{}", noise(22), noise(43)), 3),
        ("a ", format!("eyJ{}.eyJ{}.{}", noise(20), noise(30), noise(43)), 3),
        ("Authorization: Bearer ", noise(24), 0),
        ("postgres://app:", "pl4in-but-long".to_owned(), 0),
        ("aws_secret_access_key = ", noise(40), 0),
        ("{\"apiKey\": \"", noise(20), 0),
        ("DB_PWD=", noise(16), 0),
        ("", format!("-----BEGIN PRIVATE KEY-----{}", noise(64)), 27),
    ] {
        let text = format!("{before}{key}");
        for end in before.len() + n_shown + 1..text.len() {
            let shown = &text[..end];
            let is_gone = Secrets::default().redact(shown).ends_with(']');
            assert!(is_gone || begun_at_end(shown) == Some(before.len()), "{shown}");
        }
        // Of what is known there is nothing to wait for.
        assert_eq!(begun_at_end(&format!("{text}\n")), None);
    }
    for text in [
        "",
        "12",
        "1024/9999",
        "Downloading package_name_1",
        "test1.............",
        "token: ",
        "Tokens: 1024/9999",
        "task-list-of-today",
        "http://localhost:8080",
        "Password for me:",
    ] {
        assert_eq!(begun_at_end(text), None, "{text}");
    }
}

#[test]
fn of_two_that_overlap_nothing_is_left() {
    let key = format!("sk-ant-api03-{}", noise(40));
    let value = format!("horse battery {}", &key[..30]);
    check(
        &[("MY_SECRET", &value)],
        &format!("a horse battery {key} b"),
        expect!["a [redacted: MY_SECRET] b"],
    );
}

#[test]
fn well_known_forms_are_taken_out() {
    let hex = "0123456789abcdef".repeat(4);
    let lines = [
        format!("sk-ant-api03-{}", noise(40)),
        format!("sk-or-v1-{hex}"),
        format!("sk-proj-{}", noise(48)),
        // Another service's, after the same prefix.
        "sk-8f3b0c6d1e9a47528f60b1c2d3e4a597".to_owned(),
        format!("ghp_{}", noise(36)),
        format!("github_pat_{}", noise(40)),
        format!("glpat-{}", noise(20)),
        "AKIAQ7ZK2WM9XR4TB8YC".to_owned(),
        format!("xoxb-{}", noise(24)),
        format!("AIza{}", noise(35)),
        format!("ya29.{}", noise(40)),
        format!("sk_live_{}", noise(24)),
        format!("npm_{}", noise(36)),
        format!("pypi-AgEI{}", noise(60)),
        format!("hf_{}", noise(34)),
        format!("dop_v1_{hex}"),
        format!("SG.{}.{}", noise(22), noise(43)),
        format!("eyJ{}.eyJ{}.{}", noise(20), noise(30), noise(43)),
        format!("Authorization: Bearer {}", noise(24)),
        "postgres://app:pl4in-but-long@db.example.com/app".to_owned(),
        format!("aws_secret_access_key = {}", noise(40)),
        format!(r#"{{"apiKey": "{}"}}"#, noise(20)),
        format!("PASSWORD={hex}"),
        format!("passphrase: {}", noise(20)),
        format!("DB_PWD={}", noise(16)),
        format!(
            "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----",
            noise(64)
        ),
        format!("-----BEGIN PRIVATE KEY-----\n{}", noise(64)),
        // As a file is read, with its lines numbered.
        format!("1\t-----BEGIN PRIVATE KEY-----\n     2\t{}\n     3\t{}", noise(64), noise(64)),
    ];
    check(
        &[],
        &lines.join("\n"),
        expect![[r#"
            [redacted: Anthropic key]
            [redacted: OpenRouter key]
            [redacted: OpenAI key]
            [redacted: OpenAI key]
            [redacted: GitHub token]
            [redacted: GitHub token]
            [redacted: GitLab token]
            [redacted: AWS key id]
            [redacted: Slack token]
            [redacted: Google key]
            [redacted: Google token]
            [redacted: Stripe key]
            [redacted: npm token]
            [redacted: PyPI token]
            [redacted: Hugging Face token]
            [redacted: DigitalOcean token]
            [redacted: SendGrid key]
            [redacted: JSON web token]
            Authorization: Bearer [redacted: authorization]
            postgres://app:[redacted: password in a URL]@db.example.com/app
            aws_secret_access_key = [redacted: secret]
            {"apiKey": "[redacted: secret]"}
            PASSWORD=[redacted: secret]
            passphrase: [redacted: secret]
            DB_PWD=[redacted: secret]
            [redacted: private key]
            [redacted: private key][redacted: private key]"#]],
    );
}

#[test]
fn ordinary_text_is_left_alone() {
    for text in [
        "let token = parse_token(input)?;",
        "password: std::env::var(\"PASSWORD\")",
        "token: CancellationToken::new(),",
        "secret = get_secret_from_vault_v2",
        "const API_KEY_HEADER: &str = \"x-api-key\";",
        "api_key: \"your-api-key-goes-here-1A\"",
        "AKIAIOSFODNN7EXAMPLE",
        "sk-learn-is-a-library-for-machine-learning-in-python",
        "sk-00000000000000000000000000000000",
        "https://user@example.com/path",
        "http://user:${PASSWORD}@host/",
        "commit 8675979d8b34cd8675979d8b34cd8675979d8b34",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "tokens: 123456789012, cache_read_tokens: 999999999999",
        "[redacted: Anthropic key]",
        "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
    ] {
        assert_eq!(Secrets::default().redact(text), text);
    }
}

#[test]
fn nothing_tells_a_value() {
    let secrets = Secrets::of_variables([("A_TOKEN", "Tr0ub4dor&3-horse")]);
    assert_eq!(format!("{secrets:?}"), r#"Secrets { names: ["A_TOKEN"], .. }"#);
}

#[test]
fn more_values_than_the_limit_are_not_looked_for() {
    let values: Vec<String> =
        (0..=VALUES_MAX).map(|n| format!("value-number-{n:04}-a1B2")).collect();
    let secrets = Secrets::of_variables(values.iter().map(|value| ("X_TOKEN", value.as_str())));
    let n_redacted = secrets.redact(&values.join("\n")).matches(MARKER).count();
    assert_eq!(n_redacted, VALUES_MAX);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_value_is_gone_wherever_it_stands(
        before in ".{0,40}", after in ".{0,40}", value in "[a-z]{4}[A-Z]{4}[0-9]{4}[!-~]{0,20}",
    ) {
        let secrets = Secrets::of_variables([("MY_SECRET", value.as_str())]);
        let redacted = secrets.redact(&format!("{before}{value}{after}")).into_owned();
        prop_assert!(!redacted.contains(&value), "{redacted}");
        prop_assert_eq!(secrets.redact(&redacted).into_owned(), redacted.clone());
    }

    #[test]
    fn whatever_is_found_lies_in_order_and_apart(text in "(sk-ant-|token=|ghp_|://a:|@|[A-Za-z0-9é]{0,30}|\\s){0,12}") {
        let found = Secrets::default().find(&text);
        prop_assert!(found.windows(2).all(|two| two[0].range.end <= two[1].range.start));
        prop_assert!(found.iter().all(|found| text.get(found.range.clone()).is_some()));
    }
}
