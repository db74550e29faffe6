//! Where a line may be by the time it writes or removes something.

use expect_test::{Expect, expect};
use heeler_shell::read;

use crate::PLACE;

/// What a line writes, whether that is all, and why it asks.
fn check(line: &str, expected: Expect) {
    let line = read(line, &PLACE);
    let mut told = vec![format!("writes {}", line.writes.join(" "))];
    told.extend(line.is_open_ended.then(|| "and where it cannot be told".to_owned()));
    told.extend(line.concerns.iter().map(|concern| format!("{:?}: {}", concern.kind, concern.why)));
    expected.assert_eq(&told.join("\n"));
}

#[test]
fn a_folder_that_may_not_be_entered_is_not_relied_on() {
    let asks = expect![[r#"
        writes /space/temp/private/nope/src /space/project/src
        Irreversible: removes src for good"#]];
    check("cd $TMPDIR/nope 2>/dev/null; rm -rf src", asks);
    for line in [
        "true || cd $TMPDIR; rm -rf src",
        "false && cd $TMPDIR; rm -rf src",
        "! cd $TMPDIR && rm -rf src",
        "! cd $TMPDIR/x; rm -rf src",
        "if false; then cd $TMPDIR; fi; rm -rf src",
        "while false; do cd $TMPDIR; done; rm -rf src",
        "case a in b) cd $TMPDIR;; esac; rm -rf src",
        "f() { cd $TMPDIR; }; rm -rf src",
        "f() { cd /space/project; }; cd $TMPDIR && f && rm -rf src",
        "cd $TMPDIR && for i in 1 2; do rm -rf src; cd /space/project; done",
        "cd $TMPDIR && . ./x && rm -rf src",
        "cd $TMPDIR && eval 'cd /space/project' && rm -rf src",
        "cd $TMPDIR && command cd /space/project && rm -rf src",
        "cd $TMPDIR && trap 'rm -rf src' EXIT; cd /space/project",
        "cd $TMPDIR && f() { rm -rf src; }; cd /space/project; f",
        "pushd -n $TMPDIR && rm -rf src",
        "pushd $TMPDIR && pushd nope; popd && rm -rf src",
        "cd $TMPDIR/x; rm -rf $PWD/src",
        "cd $TMPDIR; cd /space/project; cd nope; rm -rf $OLDPWD/src",
        "cd $(mktemp -d) && rm -rf src",
        "cd $TMPDIR/$X && rm -rf src",
        "cd $TMPDIR/*/../../../project && rm -rf src",
    ] {
        let asks = read(line, &PLACE).concerns;
        assert!(asks.iter().any(|concern| concern.why.starts_with("removes")), "{line}");
    }
    for line in [
        "cd $TMPDIR && rm -rf src",
        "cd $TMPDIR && mkdir a && cd a && rm -rf ../src",
        "cd $TMPDIR && (cd a; make); cd docs",
        "if cd $TMPDIR; then ls; fi",
        "rm -rf $TMPDIR/src",
    ] {
        assert_eq!(read(line, &PLACE).concerns, [], "{line}");
    }
}

#[test]
fn a_path_after_a_folder_is_seen_from_both() {
    check(
        "cd nope; echo a > ../out/b",
        expect![[r#"
            writes /space/project/out/b
            and where it cannot be told"#]],
    );
    check(
        "true || cd sub; echo a > ../out/b",
        expect![[r#"
            writes /space/project/out/b
            and where it cannot be told"#]],
    );
    check("cd sub && echo a > ../b", expect!["writes /space/project/b"]);
    check("cd sub; echo a > b", expect!["writes /space/project/sub/b /space/project/b"]);
    check(
        "cd $TMPDIR; echo a > .envrc",
        expect![[r#"
            writes /space/temp/private/.envrc /space/project/.envrc
            Leaves: writes to /space/project/.envrc, which is protected: programs read it as orders"#]],
    );
    check(
        "for i in 1 2; do echo a > ../b; cd ..; done",
        expect![[r#"
        writes /space/b
        and where it cannot be told
        Leaves: writes to /space/b, which is outside of the workspace"#]],
    );
    check("for i in a b; do (cd $i && make); echo a > b; done", expect!["writes /space/project/b"]);
}

#[test]
fn a_temporary_folder_that_may_not_be_made_is_not_relied_on() {
    for line in [
        "false && T=$(mktemp -d); rm -rf \"$T\"/src",
        "true || T=$(mktemp -d); rm -rf \"$T\"/src",
        "(T=$(mktemp -d)); rm -rf \"$T\"/src",
        "T=$(mktemp -d) | cat; rm -rf \"$T\"/src",
        "T=$(mktemp -d) true; rm -rf \"$T\"/src",
        "env T=$(mktemp -d) true; rm -rf \"$T\"/src",
        "if false; then T=$(mktemp -d); fi; rm -rf \"$T\"/src",
        "f() { T=$(mktemp -d); }; rm -rf \"$T\"/src",
        "T=$(mktemp -d); rm -rf \"$T\"src",
        "rm -rf \"$(mktemp -d)\"src",
        "T=$(mktemp -d); cd \"$T\" && rm -rf src",
    ] {
        let asks = read(line, &PLACE).concerns;
        assert!(asks.iter().any(|concern| concern.why.starts_with("removes")), "{line}");
    }
    for line in [
        "T=$(mktemp -d) && cp a \"$T\"; rm -rf \"$T\"",
        "T=$(mktemp -d); trap 'rm -rf \"$T\"' EXIT; cp a \"$T\"",
        "export T=$(mktemp -d); rm -rf \"$T\"/x",
        "for i in 1 2; do T=$(mktemp -d); rm -rf \"$T\"; done",
        "true && T=$(mktemp -d) && rm -rf \"$T\"",
    ] {
        assert_eq!(read(line, &PLACE).concerns, [], "{line}");
    }
}

#[test]
fn a_path_that_is_computed_is_not_all_that_is_written() {
    for line in [
        "echo a > $NOPE/tmp/b",
        "echo a > $(echo /tmp/b)",
        "echo a > b[3]",
        "echo a > ~root/../tmp/b",
        "echo a > src/$X",
        "touch \"$X\"",
        "cp a $X",
        "cd $X && echo a > b",
    ] {
        assert!(read(line, &PLACE).is_open_ended, "{line}");
    }
    for line in ["echo a > b", "echo a >> \"b[3]\"", "cargo test > /dev/null 2>&1", "echo $X"] {
        assert!(!read(line, &PLACE).is_open_ended, "{line}");
    }
}

#[test]
fn an_option_that_is_computed_may_do_more_than_the_readshows() {
    for line in [
        "X='-exec touch a ;'; find . -maxdepth 0 $X",
        "find -- . $X",
        "X=--output=a; git log --format=format:evil $X",
        "git log -n$X",
        "X=-delete; find ./+ $X",
        "git show \"$X\"",
        "sort *",
        "timeout $X ls",
        "printf $X a",
        "sed -n 1p $F",
        "rg a $(cat x)",
    ] {
        let told = read(line, &PLACE);
        assert!(told.is_open_ended && !told.is_read_only, "{line}");
    }
    for line in [
        "grep -r a \"$X\"",
        "cat $X *.md",
        "git log -- $X",
        "printf '%s' \"$X\"",
        "find . -name '*.rs'",
        "sort a",
        "timeout 5 ls $X",
        "echo $X",
    ] {
        let told = read(line, &PLACE);
        assert!(!told.is_open_ended && told.is_read_only, "{line}");
    }
}

#[test]
fn what_writes_with_an_option_is_no_program_that_only_reads() {
    for line in [
        "git rev-list --output=a HEAD",
        "git shortlog --output=a HEAD",
        "git blame --output=a src/main.rs",
        "git fsck --lost-found",
        "ss -D a",
        "ss --diag=a",
        "unzip a.zip",
        "unzip -o a.zip",
    ] {
        assert!(!read(line, &PLACE).is_read_only, "{line}");
    }
    for line in ["git rev-list HEAD", "ss -t", "unzip -l a.zip", "unzip -p a.zip b", "zipinfo a"] {
        assert!(read(line, &PLACE).is_read_only, "{line}");
    }
}
