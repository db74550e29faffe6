//! What hides in spellings and settings that bash has a meaning of its own for.

use expect_test::{Expect, expect};
use heeler_shell::read;

use crate::PLACE;

/// What is said of such lines, one a line: what they write, whether that is all, and why they are asked
/// about, or that they only read.
pub(crate) fn check(lines: &[&str], expected: Expect) {
    let told = lines.iter().map(|line| {
        let read = read(line, &PLACE);
        let mut told = read.writes;
        told.extend(read.is_open_ended.then(|| "and more".to_owned()));
        told.extend(read.concerns.into_iter().map(|concern| concern.why));
        told.extend(read.is_read_only.then(|| "only reads".to_owned()));
        format!("{line}: {}\n", told.join("; "))
    });
    expected.assert_eq(&told.collect::<String>());
}

#[test]
fn an_escape_is_what_bash_makes_of_it() {
    check(
        &[
            "$'\\x{72}m' -rf src",
            "$'\\x72m' -rf src",
            "git grep $'-\\517sh evil.sh;:' b",
            "git grep $'-\\117sh evil.sh;:' b",
            "find . $'-d\\545lete'",
            "find . $'-d\\145lete'",
            "echo a > $'..\\457p'",
            "echo a > $'\\x{2e}\\x{2e}/p'",
            "touch $'\\cnp'",
            "echo $'\\U110000'",
            "printf %s $'\\xc3\\xa9 \\u00e9 \\303\\251 \\xff'",
            "rm -rf $'a\\0b'c",
            "git reset --hard $'\\x48EAD'",
        ],
        expect![[r#"
            $'\x{72}m' -rf src: an escape means one thing to some shells and another to others; which command runs is computed: $'\x{72}m'
            $'\x72m' -rf src: /space/project/src; removes src for good
            git grep $'-\517sh evil.sh;:' b: and more; an escape means one thing to some shells and another to others
            git grep $'-\117sh evil.sh;:' b: git grep opens a program that is named here
            find . $'-d\545lete': and more; an escape means one thing to some shells and another to others
            find . $'-d\145lete': find -delete removes files for good
            echo a > $'..\457p': and more; an escape means one thing to some shells and another to others
            echo a > $'\x{2e}\x{2e}/p': and more; an escape means one thing to some shells and another to others
            touch $'\cnp': and more; an escape means one thing to some shells and another to others
            echo $'\U110000': an escape means one thing to some shells and another to others
            printf %s $'\xc3\xa9 \u00e9 \303\251 \xff': only reads
            rm -rf $'a\0b'c: /space/project/ac; removes ac for good
            git reset --hard $'\x48EAD': git reset throws changes away
        "#]],
    );
}

#[test]
fn a_part_of_an_option_may_be_anything() {
    check(
        &[
            "git grep -* b",
            "xargs -I{} git grep -{} b",
            "xargs -I{} git reset --{}",
            "ls | xargs -I% git branch -% x",
            "ls | xargs -I{} rm -{} src",
            "git reset -*",
            "git reset --har[d]",
            "rm -* src",
            "rm -$X src",
            "sort -*",
            "git -* status",
            "git --* status",
            "git -c* log",
            "git -$X status",
            "xargs -I% git -% status",
            "xargs -I% git -c% status",
            "npm --* test",
            "xargs -I% npm --% test",
            "cargo --* test",
            "find . -d*",
            "find . -[d]elete",
            "xargs -I{} find . -{}",
            "xargs -i sort f{} -{}",
            "xargs -I{} git log -{}",
            "xargs -I{} git log --author={}",
            "git log -$N",
            "head -$N f",
            "grep -r --include=*.rs x",
            "xargs -I{} cp {} --target-directory={}",
            "seq 3 | xargs -I{} head -{} f",
            "ls *.rs | xargs -I{} grep -n x {}",
            "rm -f *.o",
            "git add *.rs",
            "make -j$(nproc)",
        ],
        expect![[r#"
            git grep -* b: and more; what it is fed may be options
            xargs -I{} git grep -{} b: and more; what it is fed may be options
            xargs -I{} git reset --{}: and more; what it is fed may be options
            ls | xargs -I% git branch -% x: and more; what it is fed may be options
            ls | xargs -I{} rm -{} src: /space/project/src; removes src for good
            git reset -*: and more; what it is fed may be options
            git reset --har[d]: and more; what it is fed may be options
            rm -* src: /space/project/src; removes src for good
            rm -$X src: /space/project/src; removes src for good
            sort -*: and more
            git -* status: and more; what it is fed may be options
            git --* status: and more; what it is fed may be options
            git -c* log: and more; * decides what git runs; what it is fed may be options
            git -$X status: and more
            xargs -I% git -% status: and more; what it is fed may be options
            xargs -I% git -c% status: and more; % decides what git runs; what it is fed may be options
            npm --* test: and more; what it is fed may be options
            xargs -I% npm --% test: and more; what it is fed may be options
            cargo --* test: and more; what it is fed may be options
            find . -d*: and more; what it is fed may be options
            find . -[d]elete: and more; what it is fed may be options
            xargs -I{} find . -{}: and more; what it is fed may be options
            xargs -i sort f{} -{}: and more
            xargs -I{} git log -{}: and more; what it is fed may be options
            xargs -I{} git log --author={}: only reads
            git log -$N: and more
            head -$N f: only reads
            grep -r --include=*.rs x: only reads
            xargs -I{} cp {} --target-directory={}: and more
            seq 3 | xargs -I{} head -{} f: only reads
            ls *.rs | xargs -I{} grep -n x {}: only reads
            rm -f *.o: and more
            git add *.rs: 
            make -j$(nproc): 
        "#]],
    );
}

#[test]
fn a_list_in_a_text_is_taken_apart_by_an_array() {
    check(
        &[
            "x=(1); declare x='($(sh evil.sh))'",
            "x[0]=1; declare x='($(sh evil.sh))'",
            "declare -a x; declare x='($(sh evil.sh))'",
            "f() { local -a x; local x='($(sh evil.sh))'; }; f",
            "x=(1); y='($(sh evil.sh))'; declare x=$y",
            "x=(1); declare x+='($(sh evil.sh))'",
            "declare x='($(sh evil.sh))'; x=(1); declare x='($(sh evil.sh))'",
            "declare DIRSTACK='($(sh evil.sh))'",
            "read -a x < f; declare x=$y",
            "mapfile x < f; declare x=$y",
            "mapfile < f; declare MAPFILE=$y",
            "declare -A m; declare m='([$(sh evil.sh)]=1)'",
            "x=(1); readonly x=$y",
            "x=(1); typeset \"x=$(cat f)\"",
            "local x=$1; declare y=\"($x)\"; export PS1='(a) $ '",
            "x=(a b); declare -p x; y=$1; local z=$y; declare n=1",
        ],
        expect![[r#"
            x=(1); declare x='($(sh evil.sh))': a list that an array gets is computed
            x[0]=1; declare x='($(sh evil.sh))': a list that an array gets is computed
            declare -a x; declare x='($(sh evil.sh))': a list that an array gets is computed
            f() { local -a x; local x='($(sh evil.sh))'; }; f: a list that an array gets is computed
            x=(1); y='($(sh evil.sh))'; declare x=$y: and more; a list that an array gets is computed
            x=(1); declare x+='($(sh evil.sh))': a list that an array gets is computed
            declare x='($(sh evil.sh))'; x=(1); declare x='($(sh evil.sh))': a list that an array gets is computed
            declare DIRSTACK='($(sh evil.sh))': a list that an array gets is computed
            read -a x < f; declare x=$y: and more; a list that an array gets is computed
            mapfile x < f; declare x=$y: and more; a list that an array gets is computed
            mapfile < f; declare MAPFILE=$y: and more; a list that an array gets is computed
            declare -A m; declare m='([$(sh evil.sh)]=1)': a list that an array gets is computed
            x=(1); readonly x=$y: and more; a list that an array gets is computed
            x=(1); typeset "x=$(cat f)": and more; a list that an array gets is computed
            local x=$1; declare y="($x)"; export PS1='(a) $ ': and more
            x=(a b); declare -p x; y=$1; local z=$y; declare n=1: and more
        "#]],
    );
}

#[test]
fn a_brace_may_put_a_tilde_first() {
    check(
        &[
            "declare y={a,b}; dd of={/etc/x,y}; echo a={1,2}",
            "touch {~,x}",
            "touch {~/.bashrc,}",
            "touch ~{a,b}",
            "touch ~{,}/p",
            "touch {~root,x}/p",
            "touch {~+,~-}/p",
            "touch {,}~/p",
            "touch \"~\"/p {x,\\~}/p",
            "cp {~,x}/p y",
            "rm -f {a,b}.o src/{c,d}.rs ~/x",
        ],
        expect![[r#"
            declare y={a,b}; dd of={/etc/x,y}; echo a={1,2}: /etc/x; /space/project/y; dd overwrites what it is given; writes to /etc/x, which is outside of the workspace
            touch {~,x}: /home/user; /space/project/x; writes to /home/user, which is outside of the workspace
            touch {~/.bashrc,}: /home/user/.bashrc; /space/project; writes to /home/user/.bashrc, which is outside of the workspace
            touch ~{a,b}: and more; writes to ~a, outside of the workspace; writes to ~b, outside of the workspace
            touch ~{,}/p: /home/user/p; writes to /home/user/p, which is outside of the workspace
            touch {~root,x}/p: /space/project/x/p; and more; writes to ~root/p, outside of the workspace
            touch {~+,~-}/p: /space/project/p; and more; writes to ~-/p, outside of the workspace
            touch {,}~/p: /home/user/p; writes to /home/user/p, which is outside of the workspace
            touch "~"/p {x,\~}/p: /space/project/~/p; /space/project/x/p
            cp {~,x}/p y: /space/project/y
            rm -f {a,b}.o src/{c,d}.rs ~/x: /space/project/a.o; /space/project/b.o; /space/project/src/c.rs; /space/project/src/d.rs; /home/user/x; writes to /home/user/x, which is outside of the workspace
        "#]],
    );
}

#[test]
fn an_option_of_the_shell_changes_what_follows() {
    check(
        &[
            "set -k; git diff GIT_EXTERNAL_DIFF='touch p'",
            "set -ek; ls",
            "set -o keyword; ls",
            "set -oe keyword; ls",
            "set -eo keyword; ls",
            "set -o pipefail -o keyword; ls",
            "set -o $x; ls",
            "shopt -so keyword; ls",
            "shopt -s -o keyword; ls",
            "shopt -so allexport; X=1; ls",
            "shopt -o -s $x; ls",
            "bash -k -c 'ls'",
            "bash -o keyword -c 'ls'",
            "bash -ok allexport -c 'ls'",
            "bash -ac 'X=1; ls'",
            "bash -o allexport -c 'ls'",
            "bash -O lastpipe -c 'ls | cd ..; touch p'",
            "bash -euo pipefail -c ls",
            "set -euo pipefail; ls",
            "set -o pipefail; set +e; set -x",
            "shopt -s nullglob globstar; shopt -u nullglob; shopt extglob",
        ],
        expect![[r#"
            set -k; git diff GIT_EXTERNAL_DIFF='touch p': words behind a command become variables that it gets
            set -ek; ls: words behind a command become variables that it gets
            set -o keyword; ls: words behind a command become variables that it gets
            set -oe keyword; ls: words behind a command become variables that it gets
            set -eo keyword; ls: words behind a command become variables that it gets
            set -o pipefail -o keyword; ls: words behind a command become variables that it gets
            set -o $x; ls: and more; an option of the shell is computed
            shopt -so keyword; ls: words behind a command become variables that it gets
            shopt -s -o keyword; ls: words behind a command become variables that it gets
            shopt -so allexport; X=1; ls: and more
            shopt -o -s $x; ls: an option of the shell is computed
            bash -k -c 'ls': words behind a command become variables that it gets
            bash -o keyword -c 'ls': words behind a command become variables that it gets
            bash -ok allexport -c 'ls': and more; words behind a command become variables that it gets
            bash -ac 'X=1; ls': and more
            bash -o allexport -c 'ls': and more
            bash -O lastpipe -c 'ls | cd ..; touch p': /space/project/p; and more
            bash -euo pipefail -c ls: 
            set -euo pipefail; ls: only reads
            set -o pipefail; set +e; set -x: only reads
            shopt -s nullglob globstar; shopt -u nullglob; shopt extglob: only reads
        "#]],
    );
}

#[test]
fn the_folder_may_change_at_any_time() {
    check(
        &[
            "trap 'cd ..' DEBUG; touch p",
            "trap 'cd ..' ERR; touch p",
            "trap 'cd ..' EXIT; touch p",
            "trap 'rm -f x' EXIT INT TERM; touch p",
            "shopt -s lastpipe; true | cd ..; touch p",
            "shopt -s cdable_vars; d=..; cd d; touch p",
            "f() { cd ..; }; trap f DEBUG; touch p",
            "f() { rm -f x; }; trap f EXIT; touch p",
        ],
        expect![[r#"
            trap 'cd ..' DEBUG; touch p: /space/project/p; and more
            trap 'cd ..' ERR; touch p: /space/project/p; and more
            trap 'cd ..' EXIT; touch p: /space/project/p
            trap 'rm -f x' EXIT INT TERM; touch p: /space/project/x; /space/project/p; and more
            shopt -s lastpipe; true | cd ..; touch p: /space/project/p; and more
            shopt -s cdable_vars; d=..; cd d; touch p: /space/project/d/p; /space/project/p; and more
            f() { cd ..; }; trap f DEBUG; touch p: /space/project/p; and more
            f() { rm -f x; }; trap f EXIT; touch p: /space/project/x; /space/project/p; and more
        "#]],
    );
}

#[test]
fn a_key_of_an_array_is_no_arithmetic_in_it() {
    check(
        &[
            "declare -A m; for k in \"${!m[@]}\"; do echo \"$k=${m[$k]}\"; done",
            "declare -A m; m[a]=1; for k in \"${!m[@]}\"; do echo ${m[\"$k\"]} ${m[${k}]}; m[$k]=2; done",
            "for i in \"${!a[@]}\"; do echo \"$i ${a[$i]}\"; done",
            "for i in ${!a[*]}; do echo ${a[i]}; done",
            "declare -A m; for k in \"${!m[@]}\"; do echo ${n[$k]}; done",
            "declare -A m; for k in \"${!m[@]}\"; do echo $((k)); done",
            "declare -A m; for k in \"${!m[@]}\"; do z=$k; echo $((z)); done",
            "declare -A m; for k in \"${!m[@]}\"; do unset m; echo ${m[$k]}; done",
            "declare -A m; k='a[$(x)]'; for k in \"${!m[@]}\"; do :; done; echo ${m[$k]}",
            "declare -A m; for k in \"${!m[@]}\"; do echo ${m[$k]}; done; k='a[$(x)]'; echo ${m[$k]}",
            "declare -A m; for k in \"${!m[@]}\"; do echo ${m[$k]}; read k; done",
            "declare -A m; for k in \"${!m[@]}\" 'a[$(x)]'; do echo ${m[$k]}; done",
            "k='a[$(x)]'; echo ${m[$k]}",
            "declare -A m; k='a[$(x)]'; echo ${m[$k]}",
            "declare -A m; for k in \"${!m[@]}\"; do export k; bash -c 'echo ${m[$k]}'; done",
            "declare -A m; f() { local m; echo ${m[$k]}; }; for k in \"${!m[@]}\"; do f; done",
            "declare -A m; for k in \"${!m[@]}\"; do [[ -v m[$k] ]]; done",
            "declare -A m; for k in \"${!m[@]}\"; do (( m[$k]++ )); done",
            "declare -A m; for k in \"${!m[@]}\"; do k=y; y='a[$(x)]'; echo ${m[$k]}; done",
            "declare -A m; for k in \"${!m[@]}\"; do for k in \"${!n[@]}\"; do echo ${m[$k]}; done; done",
            "declare -A m; for k in \"${!m[@]}\"; do echo ${m[$k]}; done; for k in \"${!n[@]}\"; do echo ${m[$k]}; done",
        ],
        expect![[r#"
            declare -A m; for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done: only reads
            declare -A m; m[a]=1; for k in "${!m[@]}"; do echo ${m["$k"]} ${m[${k}]}; m[$k]=2; done: only reads
            for i in "${!a[@]}"; do echo "$i ${a[$i]}"; done: only reads
            for i in ${!a[*]}; do echo ${a[i]}; done: bash takes a value for arithmetic that could hold commands
            declare -A m; for k in "${!m[@]}"; do echo ${n[$k]}; done: bash takes a value for arithmetic that could hold commands
            declare -A m; for k in "${!m[@]}"; do echo $((k)); done: bash takes a value for arithmetic that could hold commands
            declare -A m; for k in "${!m[@]}"; do z=$k; echo $((z)); done: bash takes a value for arithmetic that could hold commands
            declare -A m; for k in "${!m[@]}"; do unset m; echo ${m[$k]}; done: bash takes a value for arithmetic that could hold commands
            declare -A m; k='a[$(x)]'; for k in "${!m[@]}"; do :; done; echo ${m[$k]}: bash takes a value for arithmetic that could hold commands
            declare -A m; for k in "${!m[@]}"; do echo ${m[$k]}; done; k='a[$(x)]'; echo ${m[$k]}: bash takes a value for arithmetic that could hold commands
            declare -A m; for k in "${!m[@]}"; do echo ${m[$k]}; read k; done: bash takes a value for arithmetic that could hold commands
            declare -A m; for k in "${!m[@]}" 'a[$(x)]'; do echo ${m[$k]}; done: bash takes a value for arithmetic that could hold commands
            k='a[$(x)]'; echo ${m[$k]}: bash takes a value for arithmetic that could hold commands
            declare -A m; k='a[$(x)]'; echo ${m[$k]}: bash takes a value for arithmetic that could hold commands
            declare -A m; for k in "${!m[@]}"; do export k; bash -c 'echo ${m[$k]}'; done: and more; bash takes a value for arithmetic that could hold commands
            declare -A m; f() { local m; echo ${m[$k]}; }; for k in "${!m[@]}"; do f; done: and more; bash takes a value for arithmetic that could hold commands
            declare -A m; for k in "${!m[@]}"; do [[ -v m[$k] ]]; done: bash takes a value for arithmetic that could hold commands
            declare -A m; for k in "${!m[@]}"; do (( m[$k]++ )); done: bash takes a value for arithmetic that could hold commands
            declare -A m; for k in "${!m[@]}"; do k=y; y='a[$(x)]'; echo ${m[$k]}; done: bash takes a value for arithmetic that could hold commands
            declare -A m; for k in "${!m[@]}"; do for k in "${!n[@]}"; do echo ${m[$k]}; done; done: bash takes a value for arithmetic that could hold commands
            declare -A m; for k in "${!m[@]}"; do echo ${m[$k]}; done; for k in "${!n[@]}"; do echo ${m[$k]}; done: bash takes a value for arithmetic that could hold commands
        "#]],
    );
}
