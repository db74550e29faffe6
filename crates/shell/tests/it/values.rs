//! What bash takes for arithmetic, in which a value may hold commands.

use expect_test::{Expect, expect};
use heeler_shell::read;

use crate::PLACE;

/// What is said of such lines, one a line.
fn check_all(lines: &[&str], expected: Expect) {
    let seen = lines.iter().map(|line| {
        let read = read(line, &PLACE);
        let whys: Vec<&str> = read.concerns.iter().map(|concern| concern.why.as_str()).collect();
        format!("{line}: {}\n", whys.join("; "))
    });
    expected.assert_eq(&seen.collect::<String>());
}

#[test]
fn what_bash_takes_for_arithmetic_holds_no_command() {
    check_all(
        &[
            "x='a[$(touch p)]'; echo $((x))",
            "x=y; y='a[$(touch p)]'; echo $((x))",
            "echo $((x)); x=\"a[\\$(touch p)]\"",
            "x=$(<payload); ls $((x))",
            "x='a[$(touch p)]'; z=$x; (( z ))",
            "for x in 'a[$(touch p)]'; do echo $((x)); done",
            "for x in *; do echo $((x)); done",
            "[[ -v 'a[$(touch p)]' ]]; echo",
            "[[ 'a[$(touch p)]' -eq 0 ]]; echo",
            "[[ $(cat p) -gt 0 ]]; echo",
            "x='a[$(touch p)]'; echo ${!x}",
            "x='a[$(touch p)]'; y=abc; echo ${y:x} ${y:0:x}",
            "x='a[$(touch p)]'; a[x]=1",
            "x='a[$(touch p)]'; echo ${a[x]} ${#a[x]}",
            "RANDOM='a[$(touch p)]'; ls",
            "OPTIND=$(cat p); ls",
            "read x < p; echo $((x + 1))",
            "read < p; echo $((REPLY))",
            "f() { echo $(($1)); }; f p",
            "printf -v x %s 'a[$(touch p)]'; echo $((x))",
            "printf -v 'a[$(touch p)]' %s x",
            "read 'a[$(touch p)]' < p",
            "test -v 'a[$(touch p)]'",
            "let 'a[$(touch p)]'",
            "x='a[$(touch p)]'; let x",
            "declare -i x='a[$(touch p)]'",
            "declare 'a[$(touch p)]=1'",
            "unset 'a[$(touch p)]'",
            // What a program prints is more than a number, and names what holds a command.
            "x='a[$(touch p)]'; n=$(seq -f 'x*%g' 1); echo $((n))",
            "x='a[$(touch p)]'; n=$(seq -s '+x+' 2); echo $((n))",
            "x='a[$(touch p)]'; n=$(date +%s*x); echo $((n))",
            "x='a[$(touch p)]'; n=$(date +%N); echo $((n))",
            "x='a[$(touch p)]'; n=$(wc -l < a '*x'); echo $((n))",
            "wc='a[$(touch p)]'; n=$(wc -l < gone 2>&1); echo $((n))",
            "stat='a[$(touch p)]'; n=$(stat -c %s gone 2>/dev/stdout); echo $((n))",
            "wc='a[$(touch p)]'; n=$(wc -l < gone 2>> /dev/fd/1); echo $((n))",
            "x='a[$(touch p)]'; n=$(echo 3 | wc -l || echo x); echo $((n))",
            "x='a[$(touch p)]'; n=$((echo x) ); echo $((n))",
            "x='a[$(touch p)]'; n=${#/0/x}; echo $((n))",
            "x='a[$(touch p)]'; n=$(stat -c '%s*x' f); echo $((n))",
            "x='a[$(touch p)]'; n=$(stat -c %s --printf='x*1' f); echo $((n))",
            "Usage='a[$(touch p)]'; f=--help; n=$(stat -c %s \"$f\"); echo $((n))",
            "x='a[$(touch p)]'; n=$(grep -c y f 'x*1'); echo $((n))",
            "x='a[$(touch p)]'; n=$(grep -rc y .); echo $((n))",
            "x='a[$(touch p)]'; n=$(grep -c \"$p\" f); echo $((n))",
            "seq() { echo 'x*1'; }; x='a[$(touch p)]'; n=$(seq 1); echo $((n))",
        ],
        expect![[r#"
            x='a[$(touch p)]'; echo $((x)): bash takes a value for arithmetic that could hold commands
            x=y; y='a[$(touch p)]'; echo $((x)): bash takes a value for arithmetic that could hold commands
            echo $((x)); x="a[\$(touch p)]": bash takes a value for arithmetic that could hold commands
            x=$(<payload); ls $((x)): bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; z=$x; (( z )): bash takes a value for arithmetic that could hold commands
            for x in 'a[$(touch p)]'; do echo $((x)); done: bash takes a value for arithmetic that could hold commands
            for x in *; do echo $((x)); done: bash takes a value for arithmetic that could hold commands
            [[ -v 'a[$(touch p)]' ]]; echo: bash takes a value for arithmetic that could hold commands
            [[ 'a[$(touch p)]' -eq 0 ]]; echo: bash takes a value for arithmetic that could hold commands
            [[ $(cat p) -gt 0 ]]; echo: bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; echo ${!x}: bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; y=abc; echo ${y:x} ${y:0:x}: bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; a[x]=1: bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; echo ${a[x]} ${#a[x]}: bash takes a value for arithmetic that could hold commands
            RANDOM='a[$(touch p)]'; ls: bash takes a value for arithmetic that could hold commands
            OPTIND=$(cat p); ls: bash takes a value for arithmetic that could hold commands
            read x < p; echo $((x + 1)): bash takes a value for arithmetic that could hold commands
            read < p; echo $((REPLY)): bash takes a value for arithmetic that could hold commands
            f() { echo $(($1)); }; f p: bash takes a value for arithmetic that could hold commands
            printf -v x %s 'a[$(touch p)]'; echo $((x)): bash takes a value for arithmetic that could hold commands
            printf -v 'a[$(touch p)]' %s x: bash takes a value for arithmetic that could hold commands
            read 'a[$(touch p)]' < p: bash takes a value for arithmetic that could hold commands
            test -v 'a[$(touch p)]': bash takes a value for arithmetic that could hold commands
            let 'a[$(touch p)]': bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; let x: bash takes a value for arithmetic that could hold commands
            declare -i x='a[$(touch p)]': bash takes a value for arithmetic that could hold commands
            declare 'a[$(touch p)]=1': bash takes a value for arithmetic that could hold commands
            unset 'a[$(touch p)]': bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; n=$(seq -f 'x*%g' 1); echo $((n)): bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; n=$(seq -s '+x+' 2); echo $((n)): bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; n=$(date +%s*x); echo $((n)): bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; n=$(date +%N); echo $((n)): bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; n=$(wc -l < a '*x'); echo $((n)): bash takes a value for arithmetic that could hold commands
            wc='a[$(touch p)]'; n=$(wc -l < gone 2>&1); echo $((n)): bash takes a value for arithmetic that could hold commands
            stat='a[$(touch p)]'; n=$(stat -c %s gone 2>/dev/stdout); echo $((n)): bash takes a value for arithmetic that could hold commands
            wc='a[$(touch p)]'; n=$(wc -l < gone 2>> /dev/fd/1); echo $((n)): bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; n=$(echo 3 | wc -l || echo x); echo $((n)): bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; n=$((echo x) ); echo $((n)): it does not parse as shell
            x='a[$(touch p)]'; n=${#/0/x}; echo $((n)): bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; n=$(stat -c '%s*x' f); echo $((n)): bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; n=$(stat -c %s --printf='x*1' f); echo $((n)): bash takes a value for arithmetic that could hold commands
            Usage='a[$(touch p)]'; f=--help; n=$(stat -c %s "$f"); echo $((n)): bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; n=$(grep -c y f 'x*1'); echo $((n)): bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; n=$(grep -rc y .); echo $((n)): bash takes a value for arithmetic that could hold commands
            x='a[$(touch p)]'; n=$(grep -c "$p" f); echo $((n)): bash takes a value for arithmetic that could hold commands
            seq() { echo 'x*1'; }; x='a[$(touch p)]'; n=$(seq 1); echo $((n)): a function takes the place of seq
        "#]],
    );
    // Counting as people do.
    check_all(
        &[
            "i=0; while [ $i -lt 3 ]; do echo $i; i=$((i + 1)); done",
            "for ((i = 0; i < 3; i++)); do echo $i; done",
            "for i in 1 2 3; do echo $((i * 2)); done",
            "for i in {1..9}; do echo $((i * 2)); done",
            "for i in $(seq 1 9); do echo $((i * 2)); done",
            "start=$(date +%s); ls; echo $(( $(date +%s) - start ))",
            "n=$(wc -l < a); echo $((n / 2))",
            "n=$(wc -l < \"$f\" 2>/dev/null); echo $((n / 2)) $(( `wc -c < \"$f\"` ))",
            "n=$(git ls-files | grep -v '^x|y' | wc -l | tr -d ' '); echo $((n / 2))",
            "n=$(stat -c %s a.rs); m=$(stat -Lc %s b); echo $((n / 1024))",
            "n=$(stat -c '%s' -- \"$f\"); echo $((n / 1024))",
            "n=$(grep -c 'fn [a-z]*' src/main.rs); echo $((n + $(grep -ciE -e \"$p\" src/lib.rs)))",
            "n=$(grep -c x < \"$f\"); echo $((n + $(cat f | grep -c y)))",
            "n=$(git rev-list --count HEAD); echo $((n + $#))",
            "for i in $(seq 1 $n); do echo $((i * 2)); done",
            "s=$(date -d \"$day\" +%s); echo $((s / 60)) $(( $(date +%s%3N) / 1000 )) $(( $(date +%Y%m%d) ))",
            "n=$(nproc); make -j$((n + 1)) $(( ${#n} + $? ))",
            "file='x[1].txt'; n=1; for file in *.rs; do n=$((n + 1)); done; echo $n $file",
            "x=abcdef; echo ${x:0:3} ${x: -1} ${#x}",
            "name=PATH; echo ${!name}",
            "declare -A m; m[a]=1; echo ${m[a]}",
            "a=(x y z); echo ${a[0]} ${a[@]:1}; for k in \"${!a[@]}\"; do echo $k; done",
            "[[ $? -eq 0 && -n $HOME ]] && echo yes",
            "[[ $n -gt 1 ]] && echo more",
            "((n++)); echo $n",
        ],
        expect![[r#"
            i=0; while [ $i -lt 3 ]; do echo $i; i=$((i + 1)); done: 
            for ((i = 0; i < 3; i++)); do echo $i; done: 
            for i in 1 2 3; do echo $((i * 2)); done: 
            for i in {1..9}; do echo $((i * 2)); done: 
            for i in $(seq 1 9); do echo $((i * 2)); done: 
            start=$(date +%s); ls; echo $(( $(date +%s) - start )): 
            n=$(wc -l < a); echo $((n / 2)): 
            n=$(wc -l < "$f" 2>/dev/null); echo $((n / 2)) $(( `wc -c < "$f"` )): 
            n=$(git ls-files | grep -v '^x|y' | wc -l | tr -d ' '); echo $((n / 2)): 
            n=$(stat -c %s a.rs); m=$(stat -Lc %s b); echo $((n / 1024)): 
            n=$(stat -c '%s' -- "$f"); echo $((n / 1024)): 
            n=$(grep -c 'fn [a-z]*' src/main.rs); echo $((n + $(grep -ciE -e "$p" src/lib.rs))): 
            n=$(grep -c x < "$f"); echo $((n + $(cat f | grep -c y))): 
            n=$(git rev-list --count HEAD); echo $((n + $#)): 
            for i in $(seq 1 $n); do echo $((i * 2)); done: 
            s=$(date -d "$day" +%s); echo $((s / 60)) $(( $(date +%s%3N) / 1000 )) $(( $(date +%Y%m%d) )): 
            n=$(nproc); make -j$((n + 1)) $(( ${#n} + $? )): 
            file='x[1].txt'; n=1; for file in *.rs; do n=$((n + 1)); done; echo $n $file: 
            x=abcdef; echo ${x:0:3} ${x: -1} ${#x}: 
            name=PATH; echo ${!name}: 
            declare -A m; m[a]=1; echo ${m[a]}: 
            a=(x y z); echo ${a[0]} ${a[@]:1}; for k in "${!a[@]}"; do echo $k; done: 
            [[ $? -eq 0 && -n $HOME ]] && echo yes: 
            [[ $n -gt 1 ]] && echo more: 
            ((n++)); echo $n: 
        "#]],
    );
}
