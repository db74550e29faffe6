//! Rules against command lines as they are read: what denies or asks holds for what a line may name.

use heeler_core::{
    Access, Concern, ConcernKind, Facts, Mode, Policy, Rule, RuleEffect, ShellCommand, ShellLine,
    Verdict,
};
use heeler_shell::{Place, read};
use heeler_turn::verdict::judge;

const WORKSPACE: &str = "/space";

/// What is said of a line in the mode bypass where this is denied, and whether it is asked about where
/// the same rule asks.
fn said(rule: &str, line: &str) -> String {
    let place = Place { workspace: WORKSPACE, home: Some("/home/user"), temp: Some("/temp/x") };
    let facts = Facts { accesses: vec![of(line, &place)], ..Facts::default() };
    let judged = |effect, mode| {
        let rules = vec![Rule::parse(rule, effect, "test").unwrap()];
        let workspace = WORKSPACE.into();
        let has_box = true;
        let policy =
            Policy { mode, rules, interactive: true, workspace, has_box, ..Policy::default() };
        judge(&policy, &[], "Bash", &facts)
    };
    let denied = judged(RuleEffect::Deny, Mode::Bypass);
    let asked = judged(RuleEffect::Ask, Mode::Ask);
    let is_asked = asked.rule.is_some();
    match denied.verdict {
        // What is not understood is denied, and asked about without the rule.
        Verdict::Deny { by } if is_asked || by.contains("may contain") => by,
        verdict => {
            assert!(!is_asked, "{line}: {verdict:?}, {asked:?}");
            "runs".to_owned()
        }
    }
}

fn of(text: &str, place: &Place<'_>) -> Access {
    let line = read(text, place);
    let command = |command: heeler_shell::Command| {
        let is_doubtful = !command.is_certain();
        let heeler_shell::Command { words, plain, is_wrapper, made, .. } = command;
        ShellCommand { words, plain, is_doubtful, is_wrapper, made }
    };
    let is_odd = |it: &&heeler_shell::Concern| it.kind == heeler_shell::ConcernKind::NotUnderstood;
    let odd = line.concerns.iter().filter(is_odd);
    let odd = odd.map(|it| Concern { kind: ConcernKind::NotUnderstood, why: it.why.clone() });
    Access::Shell(Box::new(ShellLine {
        line: text.to_owned(),
        concerns: odd.collect(),
        commands: line.commands.into_iter().map(command).collect(),
        writes: line.writes,
        reads: line.reads,
        is_open_ended: line.is_open_ended,
        asks_to_leave: false,
        is_read_only: line.is_read_only,
    }))
}

/// `word` is what the denial names: a word, `it` where all is known, `?` where nothing is understood,
/// and nothing where the line runs.
fn check(rule: &str, cases: &[(&str, &str)]) {
    for (line, word) in cases {
        let expected = match *word {
            "" => "runs".to_owned(),
            "it" => format!("the rule {rule} (test) denies it"),
            "?" => format!("the rule {rule} (test) denies something this command line may contain"),
            word => format!(
                "the rule {rule} (test) denies it: what `{word}` stands for is not known until it \
                 is written out"
            ),
        };
        let said = said(rule, line);
        let is_said = said == expected || *word == "?" && said.starts_with(&expected);
        assert!(is_said, "{line}: {said}");
    }
}

#[test]
fn a_word_that_is_made_may_be_the_one_that_is_denied() {
    check(
        "Bash(make deploy:*)",
        &[
            ("make deploy", "it"),
            ("t=deploy; make $t", "$t"),
            ("t=deploy; make \"$t\"", "$t"),
            ("make $(echo deploy)", "$(echo deploy)"),
            ("make -k $t x", "$t"),
            ("make d{eploy,}", "it"),
            ("make {a..b}", "{a..b}"),
            ("echo deploy | xargs make", "{}"),
            ("make test", ""),
            ("make -j$(nproc) test", ""),
            ("make -C \"$d\" test", ""),
            ("make CC=\"$cc\" test", ""),
            ("echo $x", ""),
            ("ls *.rs", ""),
            ("git log $x", ""),
        ],
    );
    check(
        "Bash(npm run deploy:*)",
        &[
            ("npm run $x", "$x"),
            ("npm run deplo?", "deplo?"),
            ("npm run [d]eploy", "[d]eploy"),
            ("npm run @(deploy)", "?"),
            ("npm run build $x", ""),
            ("npm run te?t", ""),
        ],
    );
    check(
        "Bash(git push --force:*)",
        &[
            ("f=--force; git push $f", "$f"),
            ("git push --f$x", "--f$x"),
            ("git push origin \"$branch\"", ""),
            ("git commit -m \"$(cat <<'X'\ntext\nX\n)\"", ""),
        ],
    );
    check("Bash(git commit --amend:*)", &[("git commit -am \"$m\"", ""), ("git commit $m", "$m")]);
}

#[test]
fn what_is_made_is_no_program_that_nobody_wrote() {
    check(
        "Bash(git push:*)",
        &[
            ("git $x", "$x"),
            ("git -C $d status", ""),
            ("git -C $d push", "it"),
            ("git pull $x", ""),
        ],
    );
    check(
        "Bash(rm:*)",
        &[("git rm $x", ""), ("python3 $x", ""), ("cp $x y", ""), ("rm $x", "it"), ("$x y", "$x")],
    );
    check(
        "Bash(rm -rf:*)",
        &[
            ("rm $x", "$x"),
            ("rm -- $x", ""),
            ("rm *.o", ""),
            ("find . -name '*.o' -exec rm {} +", ""),
            ("t=$(mktemp) && rm \"$t\"", ""),
        ],
    );
}

#[test]
fn a_script_whose_name_is_made_may_be_the_one_that_is_denied() {
    check(
        "Bash(./scripts/deploy.sh:*)",
        &[
            ("bash scripts/deploy.s?", "scripts/deploy.s?"),
            ("bash scripts/deploy${e}.sh", "scripts/deploy${e}.sh"),
            ("python $x", "$x"),
            ("bash scripts/test*.sh", ""),
            ("cat scripts/deploy.s?", ""),
        ],
    );
    check("Bash(make deploy*)", &[("make $t", "$t"), ("make t$t", ""), ("ls $t", "")]);
}

#[test]
fn a_path_that_is_denied_is_found_wherever_a_line_names_it() {
    check(
        "Read(secret/**)",
        &[
            ("cat secret/a", "it"),
            ("cat < secret/a", "it"),
            ("cd secret && cat a", "it"),
            ("cd secret; cat < a", "it"),
            ("pushd ./secret && cat a", "it"),
            ("(cd x/../secret; cat a)", "it"),
            ("bash -c 'cd secret; cat a'", "it"),
            ("f() { cat a; }; cd secret; f", "it"),
            ("env -C secret cat a", "it"),
            ("cd secret/$x && cat a", "it"),
            ("echo $(<secret/a)", "it"),
            ("while read x; do echo $x; done < secret/a", "it"),
            ("grep -rfsecret/a .", "it"),
            ("secret/a", "it"),
            ("./secret/a x", "it"),
            ("cd $x && cat a", "$x"),
            ("cd \"$x\" && cat < a", "$x"),
            ("cd src && cat a", ""),
            ("cat a < /dev/null", ""),
            ("cd $x && cargo test -p a && echo done", ""),
            ("cd $x && ls", ""),
            ("cd \"$(mktemp -d)\" && cat a", ""),
            ("cat $x", ""),
        ],
    );
    check(
        "Read(.env)",
        &[("cd $x && cat .env", "it"), ("cd $x && cat a", ""), ("cd a && cat .env", "it")],
    );
    check("Read(//etc/**)", &[("cat </etc/passwd", "it"), ("cd /etc && cat a", "it")]);
    check("Read(//etc/**)", &[("cd $x && cat a", "")]);
}

#[test]
fn a_rule_on_writing_heeds_no_reading() {
    check(
        "Edit(src/**)",
        &[
            ("cat < src/a", ""),
            ("cd src && cat a", ""),
            ("src/a", ""),
            ("cd src && sed -i s/a/b/ a", "it"),
            ("sort < src/a > b", ""),
        ],
    );
}
