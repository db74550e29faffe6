//! What single programs write, run and change besides what their names say.

use expect_test::expect;

use crate::hidden::check;

#[test]
fn what_awk_and_sed_write_and_run_is_known_or_more() {
    check(
        &[
            "awk 'BEGIN{f=\"/elsewhere/x\"; print 1 > f}'",
            "awk 'BEGIN{print 1 > (\"../\" \"p\")}'",
            "awk 'BEGIN{print 1 > \"..\\057p\"}'",
            "awk 'BEGIN{print 1 > \"../p\"}'",
            "awk 'BEGIN{system(\"\\162m -rf keepme\")}'",
            "awk 'BEGIN{\"\\144ate\" | getline d}'",
            "awk 'BEGIN{print | \"\\163h\"}'",
            "awk -v f=../p '{print > f}' x",
            "awk \"{print \\$1 > \\\"$f\\\"}\" x",
            "awk '{print > $1 \".txt\"}' x",
            "awk '{print > \"/dev/stderr\"}' x",
            "awk '{print $1 \"\\t\" $2 \"\\033[0m\"}' x",
            "awk -v n=\"$n\" 'NR==n {print $2}' x",
            "sed \"s/a/$b/\" x",
            "sed -i \"s/a/$b/\" x",
            "sed -n 's/a/b/p' x",
            "sed -i'../*' s/a/b/ x",
            "sed --in-place=../x/ s/a/b/ x",
            "sed -i.bak s/a/b/ x",
        ],
        expect![[r#"
            awk 'BEGIN{f="/elsewhere/x"; print 1 > f}': and more
            awk 'BEGIN{print 1 > ("../" "p")}': and more
            awk 'BEGIN{print 1 > "..\057p"}': and more
            awk 'BEGIN{print 1 > "../p"}': /space/p; writes to /space/p, which is outside of the workspace
            awk 'BEGIN{system("\162m -rf keepme")}': awk runs a line that it makes
            awk 'BEGIN{"\144ate" | getline d}': awk runs a line that it makes
            awk 'BEGIN{print | "\163h"}': awk runs a line that it makes
            awk -v f=../p '{print > f}' x: and more
            awk "{print \$1 > \"$f\"}" x: /space/project/1; and more
            awk '{print > $1 ".txt"}' x: and more
            awk '{print > "/dev/stderr"}' x: 
            awk '{print $1 "\t" $2 "\033[0m"}' x: only reads
            awk -v n="$n" 'NR==n {print $2}' x: and more
            sed "s/a/$b/" x: and more
            sed -i "s/a/$b/" x: /space/project/x; and more
            sed -n 's/a/b/p' x: only reads
            sed -i'../*' s/a/b/ x: /space/project/x; /space/*; and more; writes to /space/*, which is outside of the workspace
            sed --in-place=../x/ s/a/b/ x: /space/project/x; /space/x; and more; writes to /space/x, which is outside of the workspace
            sed -i.bak s/a/b/ x: /space/project/x
        "#]],
    );
}

#[test]
fn an_upload_may_go_to_a_file() {
    check(
        &[
            "curl -T evil '{file}:///x'",
            "curl -T evil '[f-f]ile:///x'",
            "curl -T evil '{x,file}:///x'",
            "curl -T evil file:///x",
            "curl -T evil FILE:/x",
            "curl -T evil \"$X/x\"",
            "curl -T evil \"f$X\"",
            "curl -T evil --url '{file}:///x'",
            "curl -T x 'http://host/{a,b}'",
            "curl -T x \"https://host/$X\"",
            "curl -T x host/up",
            "curl -T x user@host:80/up",
        ],
        expect![[r#"
            curl -T evil '{file}:///x': and more; requests something from the network
            curl -T evil '[f-f]ile:///x': and more; requests something from the network
            curl -T evil '{x,file}:///x': and more; requests something from the network
            curl -T evil file:///x: and more; requests something from the network
            curl -T evil FILE:/x: and more; requests something from the network
            curl -T evil "$X/x": and more; requests something from the network
            curl -T evil "f$X": and more; requests something from the network
            curl -T evil --url '{file}:///x': and more; requests something from the network
            curl -T x 'http://host/{a,b}': requests something from the network
            curl -T x "https://host/$X": and more; requests something from the network
            curl -T x host/up: requests something from the network
            curl -T x user@host:80/up: requests something from the network
        "#]],
    );
}

#[test]
fn sql_that_more_than_looks_is_more() {
    check(
        &[
            "sqlite3 a.db \"select edit ('a','touch p')\"",
            "sqlite3 a.db \"select edit\t('a','touch p')\"",
            "sqlite3 a.db \"select edit/**/('a','touch p')\"",
            "sqlite3 a.db \"select \\\"edit\\\"('a','touch p')\"",
            "sqlite3 a.db \"select edit--sum\n('a','touch p')\"",
            "sqlite3 a.db \"vacuum main into '../p'\"",
            "sqlite3 a.db \"attach '../p' as p\"",
            "sqlite3 a.db \"select load_extension ('./evil')\"",
            "sqlite3 ../x.db 'create table t(a)'",
            "sqlite3 ../x.db 'select * from t'",
            "sqlite3 a.db 'insert into t values(1)'",
            "sqlite3 a.db \"with x as (select 1) delete from t\"",
            "sqlite3 a.db 'pragma journal_mode=wal'",
            "sqlite3 a.db 'pragma table_info(t)' .tables",
            "sqlite3 a.db '.schema users' 'select count(*), max(length(a)) from users where a in (select b from c) and lower(d) like \"x%\" group by 1 having count(*) > 2;'",
            "sqlite3 -header -column a.db \"select date('now'), (a+b)*(c-d) from t; select 1\"",
            "sqlite3 :memory: 'create table t(a)'",
            "sqlite3 \"$DB\" \"select 1\"",
            "sqlite3 a.db \"select $X\"",
            "sqlite3 a.db",
            "sqlite3 ../x.db < f",
            "sqlite3 -readonly a.db \"select 1\"",
            "duckdb -c \"copy(select 1) to 'x'\"",
            "duckdb ../x.duckdb -c \"select * from read_csv('a.csv')\"",
            "duckdb -c \"select 42\"",
        ],
        expect![[r#"
            sqlite3 a.db "select edit ('a','touch p')": /space/project/a.db; and more
            sqlite3 a.db "select edit	('a','touch p')": /space/project/a.db; and more
            sqlite3 a.db "select edit/**/('a','touch p')": /space/project/a.db; and more
            sqlite3 a.db "select \"edit\"('a','touch p')": /space/project/a.db; and more
            sqlite3 a.db "select edit--sum
            ('a','touch p')": /space/project/a.db; and more
            sqlite3 a.db "vacuum main into '../p'": /space/project/a.db; and more
            sqlite3 a.db "attach '../p' as p": /space/project/a.db; and more
            sqlite3 a.db "select load_extension ('./evil')": /space/project/a.db; and more
            sqlite3 ../x.db 'create table t(a)': /space/x.db; and more; writes to /space/x.db, which is outside of the workspace
            sqlite3 ../x.db 'select * from t': 
            sqlite3 a.db 'insert into t values(1)': /space/project/a.db; and more
            sqlite3 a.db "with x as (select 1) delete from t": /space/project/a.db; and more
            sqlite3 a.db 'pragma journal_mode=wal': /space/project/a.db; and more
            sqlite3 a.db 'pragma table_info(t)' .tables: 
            sqlite3 a.db '.schema users' 'select count(*), max(length(a)) from users where a in (select b from c) and lower(d) like "x%" group by 1 having count(*) > 2;': 
            sqlite3 -header -column a.db "select date('now'), (a+b)*(c-d) from t; select 1": 
            sqlite3 :memory: 'create table t(a)': and more
            sqlite3 "$DB" "select 1": and more
            sqlite3 a.db "select $X": /space/project/a.db; and more
            sqlite3 a.db: /space/project/a.db; and more
            sqlite3 ../x.db < f: /space/x.db; and more; writes to /space/x.db, which is outside of the workspace
            sqlite3 -readonly a.db "select 1": 
            duckdb -c "copy(select 1) to 'x'": and more
            duckdb ../x.duckdb -c "select * from read_csv('a.csv')": /space/x.duckdb; and more; writes to /space/x.duckdb, which is outside of the workspace
            duckdb -c "select 42": 
        "#]],
    );
}

#[test]
fn what_programs_write_and_change_is_told() {
    check(
        &[
            "hg status",
            "hg log -r tip",
            "hg cat f",
            "uv version 1.2.3",
            "uv version",
            "uv tree",
            "uv pip list",
            "xxd -l 16 /usr/bin/ls",
            "xxd -s 8 -l 16 f",
            "xxd -l16 -s0x10 /usr/bin/ls",
            "xxd -r -p hex.txt ../y",
            "xxd -r hex.txt ../y",
            "xxd -ps -c 32 /usr/bin/ls",
            "xxd -seek 4 /usr/bin/ls",
            "xxd -g1 /usr/bin/ls",
            "xxd -len 16 /usr/bin/ls",
            "mktemp ../XXXXXX",
            "mktemp -t x.XXXX",
            "mktemp -p .. x.XXXX",
            "mktemp --tmpdir -d x.XXX",
            "mktemp --suffix=.c x.XXX",
            "mktemp -d",
            "tar -cf a.tar -g ../snap d",
            "tar cfg a.tar ../snap d",
            "tar -xf a.tar --xform 's,^,../,'",
            "tar -xf a.tar --transform=s,a,b,",
            "cpio -pd ..",
            "cpio -idm < a.cpio",
            "find . | cpio -o > a.cpio",
            "flock ../p true",
            "flock -n .lock make",
            "flock 9 make",
            "flock .lock -c 'git push'",
            "openssl cms -sign -in a -out ../p",
            "openssl x509 -in a -out ../p",
            "openssl x509 -in a -noout -dates",
            "openssl rand -hex 16",
            "openssl dgst -engine ./evil.so a",
            "openssl engine -t -pre SO_PATH:./evil.so",
            "openssl dgst -sha256 dist/app.tgz",
            "git fast-export --export-marks=../p --all",
            "git fast-export --all",
            "git fast-import --export-marks=../p",
            "git merge-file ../a b c",
            "git merge-file a b c",
            "git mailsplit -o .. mbox",
            "git mailsplit -o.. mbox",
            "git mailinfo ../a ../b",
            "git index-pack -o ../p x.pack",
            "git pack-objects ../p",
            "git interpret-trailers --in-place ../p",
            "gofmt --w ../p",
            "gofmt -w a.go",
            "gofmt -l .",
            "tree -Lo 1 ../p",
            "tree -o ../p",
            "tree -L 2 /usr",
            "tree -aI 'node_modules|.git' -L 3",
            "envdir d git diff",
            "chpst -e d git diff",
            "chpst -u x ls",
            "go list -mod=mod ./...",
            "go list -mod mod ./...",
            "go list ./...",
            "go list -m all",
            "date 01010101",
            "date 010101012026.30",
            "date +%s",
            "date -d @0 +%F",
            "date -j -f %s 1700000000 +%F",
            "date -u '+%Y'",
            "git reflog drop --all",
            "git reflog",
            "id3 -t x f.mp3",
            "python3.11 -c x",
            "ls2",
            "nm-12 a",
        ],
        expect![[r#"
            hg status: 
            hg log -r tip: 
            hg cat f: 
            uv version 1.2.3: 
            uv version: 
            uv tree: 
            uv pip list: only reads
            xxd -l 16 /usr/bin/ls: only reads
            xxd -s 8 -l 16 f: only reads
            xxd -l16 -s0x10 /usr/bin/ls: only reads
            xxd -r -p hex.txt ../y: /space/y; writes to /space/y, which is outside of the workspace
            xxd -r hex.txt ../y: /space/y; writes to /space/y, which is outside of the workspace
            xxd -ps -c 32 /usr/bin/ls: only reads
            xxd -seek 4 /usr/bin/ls: only reads
            xxd -g1 /usr/bin/ls: only reads
            xxd -len 16 /usr/bin/ls: only reads
            mktemp ../XXXXXX: /space/XXXXXX; writes to /space/XXXXXX, which is outside of the workspace
            mktemp -t x.XXXX: 
            mktemp -p .. x.XXXX: /space; writes to /space, which is outside of the workspace
            mktemp --tmpdir -d x.XXX: 
            mktemp --suffix=.c x.XXX: /space/project/x.XXX
            mktemp -d: 
            tar -cf a.tar -g ../snap d: /space/snap; /space/project/a.tar; writes to /space/snap, which is outside of the workspace
            tar cfg a.tar ../snap d: /space/snap; /space/project/a.tar; writes to /space/snap, which is outside of the workspace
            tar -xf a.tar --xform 's,^,../,': and more
            tar -xf a.tar --transform=s,a,b,: and more
            cpio -pd ..: /space; writes to /space, which is outside of the workspace
            cpio -idm < a.cpio: and more
            find . | cpio -o > a.cpio: /space/project/a.cpio
            flock ../p true: /space/p; writes to /space/p, which is outside of the workspace
            flock -n .lock make: /space/project/.lock
            flock 9 make: 
            flock .lock -c 'git push': /space/project/.lock; git push talks to another repository
            openssl cms -sign -in a -out ../p: /space/p; writes to /space/p, which is outside of the workspace
            openssl x509 -in a -out ../p: /space/p; writes to /space/p, which is outside of the workspace
            openssl x509 -in a -noout -dates: 
            openssl rand -hex 16: 
            openssl dgst -engine ./evil.so a: and more
            openssl engine -t -pre SO_PATH:./evil.so: and more
            openssl dgst -sha256 dist/app.tgz: 
            git fast-export --export-marks=../p --all: /space/p; writes to /space/p, which is outside of the workspace
            git fast-export --all: 
            git fast-import --export-marks=../p: /space/p; writes to /space/p, which is outside of the workspace
            git merge-file ../a b c: /space/a; writes to /space/a, which is outside of the workspace
            git merge-file a b c: /space/project/a
            git mailsplit -o .. mbox: /space; writes to /space, which is outside of the workspace
            git mailsplit -o.. mbox: /space; writes to /space, which is outside of the workspace
            git mailinfo ../a ../b: /space/a; /space/b; writes to /space/a, which is outside of the workspace; writes to /space/b, which is outside of the workspace
            git index-pack -o ../p x.pack: /space/p; writes to /space/p, which is outside of the workspace
            git pack-objects ../p: /space/p; writes to /space/p, which is outside of the workspace
            git interpret-trailers --in-place ../p: /space/p; writes to /space/p, which is outside of the workspace
            gofmt --w ../p: /space/p; writes to /space/p, which is outside of the workspace
            gofmt -w a.go: /space/project/a.go
            gofmt -l .: 
            tree -Lo 1 ../p: /space/project/1; /space/p; writes to /space/p, which is outside of the workspace
            tree -o ../p: /space/p; writes to /space/p, which is outside of the workspace
            tree -L 2 /usr: only reads
            tree -aI 'node_modules|.git' -L 3: only reads
            envdir d git diff: 
            chpst -e d git diff: and more
            chpst -u x ls: only reads
            go list -mod=mod ./...: 
            go list -mod mod ./...: 
            go list ./...: only reads
            go list -m all: only reads
            date 01010101: sets the clock
            date 010101012026.30: sets the clock
            date +%s: only reads
            date -d @0 +%F: only reads
            date -j -f %s 1700000000 +%F: only reads
            date -u '+%Y': only reads
            git reflog drop --all: git reflog forgets where commits were
            git reflog: only reads
            id3 -t x f.mp3: 
            python3.11 -c x: 
            ls2: 
            nm-12 a: only reads
        "#]],
    );
}
