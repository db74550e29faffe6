//! What a shell reads as its program: the input that it really has, from the beginning, or it asks.

use expect_test::{Expect, expect};
use heeler_shell::{ConcernKind, read};

use crate::PLACE;
use crate::lines::check;

/// A document that hides a command from whoever reads it from its first line.
const HIDES: &str = ": <<'Z'\nrm -rf src\nZ\n";

/// Each is given that document, to the word `E`.
fn check_unclear(lines: &[&str]) {
    let passes = |line: &&&str| {
        let line = format!("{line}\n{HIDES}E\n");
        let concerns = read(&line, &PLACE).concerns;
        !concerns.iter().any(|concern| concern.kind == ConcernKind::NotUnderstood)
    };
    assert_eq!(lines.iter().filter(passes).collect::<Vec<_>>(), Vec::<&&str>::new());
}

/// What is said of lines that run a shell with more than one text, one a line.
fn check_whys(lines: &[&str], expected: Expect) {
    let told = lines.iter().map(|line| {
        let whys: Vec<_> = read(line, &PLACE).concerns.into_iter().map(|c| c.why).collect();
        format!("{line}: {}\n", whys.join("; "))
    });
    expected.assert_eq(&told.collect::<String>());
}

#[test]
fn a_text_of_another_descriptor_is_no_input() {
    check(
        "bash <<'A' 3<<'B'\nrm -rf src\nA\nls\nB",
        expect![[r#"
            runs bash | rm -rf src
            writes /space/project/src
            Irreversible: removes src for good"#]],
    );
    check_whys(
        &[
            "bash <<<'rm -rf src' 3<<<'echo hi'",
            "bash <<<'git push' 3<<<:",
            "timeout 5 bash <<<'git push' 3<<<:",
            ". /dev/stdin <<<'git push' 3<<<:",
            "cd /dev && bash stdin <<<'git push'",
            "bash -c - 'git push'",
            "cat x | bash 3<<<:",
            "bash <<<: 3<<<'git push' <&3",
            "bash <<<: 3<<<'git push' 0>&3",
            "bash <<<: 0<>f",
            "bash /dev/fd/3 3<<<'git push' <<<:",
            "bash - /dev/fd/3 3<<<'git push' <<<:",
            "cd / && bash dev/fd/3 3<<<'git push' <<<:",
            "cd $X && bash 3 3<<<'git push' <<<:",
            ". /proc/self/fd/3 3<<<'git push' <<<:",
        ],
        expect![[r#"
            bash <<<'rm -rf src' 3<<<'echo hi': removes src for good
            bash <<<'git push' 3<<<:: git push talks to another repository
            timeout 5 bash <<<'git push' 3<<<:: git push talks to another repository
            . /dev/stdin <<<'git push' 3<<<:: git push talks to another repository
            cd /dev && bash stdin <<<'git push': git push talks to another repository
            bash -c - 'git push': git push talks to another repository
            cat x | bash 3<<<:: a shell runs what it reads
            bash <<<: 3<<<'git push' <&3: a shell runs what it reads
            bash <<<: 3<<<'git push' 0>&3: a shell runs what it reads
            bash <<<: 0<>f: a shell runs what it reads
            bash /dev/fd/3 3<<<'git push' <<<:: a shell runs what a descriptor holds
            bash - /dev/fd/3 3<<<'git push' <<<:: a shell runs what a descriptor holds
            cd / && bash dev/fd/3 3<<<'git push' <<<:: a shell runs what a descriptor holds
            cd $X && bash 3 3<<<'git push' <<<:: a shell runs what a descriptor holds
            . /proc/self/fd/3 3<<<'git push' <<<:: a shell runs what a descriptor holds
        "#]],
    );
}

#[test]
fn a_shell_that_may_not_read_a_text_from_its_beginning_is_unclear() {
    check_unclear(&[
        "{ read x; bash; } <<'E'",
        "{ (read x); bash; } <<'E'",
        "{ read x | cat; bash; } <<'E'",
        "{ x=$(head -n1); bash; } <<'E'",
        "{ cat <(head -n1); bash; } <<'E'",
        "{ head -n1 </dev/stdin; bash; } <<'E'",
        "{ read x <&3; bash; } <<'E' 3<&0",
        "{ exec <f; bash; } <<'E'",
        "{ eval 'exec <f'; bash; } <<'E'",
        "{ f() { bash; }; read x; f; } <<'E'",
        "f() { read x; }; { f; bash; } <<'E'",
        "( trap bash EXIT; read x ) <<'E'",
        "if read x; then bash; fi <<'E'",
        "for i in 1 2; do bash; read x; done <<'E'",
        "find . -exec head -n1 {} \\; -exec bash \\; <<'E'",
        "sh -c 'read x; bash' <<'E'",
        "bash <<'E'\nread x",
        "bash <<'E'\nx=$(head -n1)",
        "bash <<'E'\nexec <f",
        ". /dev/stdin <<'E'\nread x",
    ]);
}

#[test]
fn what_shells_usually_read_is_read() {
    for line in [
        "bash <<'E'\nset -e\ncd docs\nfor f in a b; do\n  echo $f > out\ndone\nmake\nE",
        "bash -s -- a <<'E'\necho \"$1\"\ncat a\nE",
        "{ echo a; bash; } <<<'ls'",
        "{ cat; echo done; } <<<a",
        "bash - x.sh",
        "cd \"$dir\" && bash build.sh 3<f",
        "while read -r -u 3 l; do echo \"$l\"; done 3<<<\"$x\"",
    ] {
        assert_eq!(read(line, &PLACE).concerns, [], "{line}");
    }
}
