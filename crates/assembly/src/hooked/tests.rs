//! What lines name, and what they do not.

use std::fs;

use super::*;

/// What of a workspace with some files a line names, relative to it.
fn check(line: &str, expected: &[&str]) {
    check_in(&["scripts/guard.py", "guard.sh", "docs/rules.md", "a/hooks/x.sh"], line, expected);
}

fn check_in(files: &[&str], line: &str, expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for file in files {
        let file = root.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
    let roots = [root.clone()];
    let ground = Ground { workspace: &root, home: None, roots: &roots };
    let named = ground.named(line).into_iter();
    let mut named: Vec<String> = named
        .filter_map(|path| Some(path.strip_prefix(&root).ok()?.to_str()?.to_owned()))
        .collect();
    heeler_core::sort(&mut named);
    named.dedup();
    assert_eq!(named, expected, "{line}");
}

#[test]
fn a_program_is_kept_with_all_that_stands_beside_it() {
    check(r#"python3 "$CLAUDE_PROJECT_DIR"/scripts/guard.py"#, &["scripts"]);
    check("scripts/guard.py < docs/rules.md", &["docs/rules.md", "scripts"]);
    check("sh guard.sh", &["guard.sh"]);
}

#[test]
fn a_line_is_read_in_the_folders_that_it_changes_into() {
    let line = r#"cd "$CLAUDE_PROJECT_DIR"/scripts && python3 guard.py"#;
    check(line, &["scripts"]);
    check("cd a && cd hooks; ./x.sh", &["a/hooks"]);
    check("(pushd a/hooks; sh x.sh)", &["a/hooks"]);
    check(r#"cd -- "$CLAUDE_PROJECT_DIR"/scripts && ./guard.py"#, &["scripts"]);
    check("cd -P scripts && ./guard.py", &["scripts"]);
    check("cd $(git rev-parse --show-toplevel)/scripts && ./guard.py", &["scripts"]);
    check("cd $(git -C a rev-parse --show-toplevel) && ./guard.sh", &["guard.sh"]);
    check("cd $(dirname a)/later && ./run", &["later", "later/run", "run"]);
    check("cd && ./guard.sh; cd - && ./guard.sh", &["guard.sh"]);
    for option in ["-C scripts", "-Cscripts", "-iC scripts", "--chdir=scripts", "--chdir scripts"] {
        check(&format!("env {option} ./guard.py"), &["scripts"]);
    }
    check("tar --directory=a/hooks ./x.sh", &["a/hooks"]);
    check("bash -C ./guard.sh", &["guard.sh"]);
}

#[test]
fn nothing_may_come_to_be_under_a_name_that_would_run() {
    check("if [ -x ./local.sh ]; then ./local.sh; fi", &["local.sh"]);
    check("source ./.venv/bin/activate 2>/dev/null; true", &[".venv/bin/activate"]);
    check(r#"python3 "${CLAUDE_PROJECT_DIR}"/tools/check.py"#, &["tools/check.py"]);
    check("$(git rev-parse --show-toplevel)/tools/check.py", &["tools/check.py"]);
    check("node --import=./hook.mjs", &["hook.mjs"]);
    check("python3 check.py", &["check.py"]);
    check("cd later && ./run", &["later/run", "run"]);
    check(r#"jq -r .tool_input.command >> "$CLAUDE_PROJECT_DIR/hook.log" 2>/dev/null"#, &[]);
    check("[ -x ./local.sh ] && ./local.sh >> ./local.sh.log 2>&1; true", &["local.sh"]);
    check("./made.sh; echo >> ./made.sh", &["made.sh"]);
    check("xargs -I'>' ./made.sh; sh <> ./read.sh", &["made.sh", "read.sh"]);
    check(r#"case "$f" in src/*) curl https://example.org/a;; esac"#, &[]);
}

#[test]
fn names_of_one_line_have_a_limit() {
    let line: String = (0..1_000).map(|n| format!("./x{n} ")).collect();
    let folder = tempfile::tempdir().unwrap();
    let roots = [folder.path().to_owned()];
    let ground = Ground { workspace: folder.path(), home: None, roots: &roots };
    assert_eq!(ground.named(&line).len(), MISSING_MAX);
    let line: String = (0..1_000).map(|n| format!("cd x{n}; ./y; ")).collect();
    assert_eq!(ground.named(&line).len(), MISSING_MAX);
}

/// A workspace with programs that are folders, or have an ending, and with folders that are worked on.
const PROGRAMS: [&str; 18] = [
    "tools/guard/__main__.py",
    "tools/nguard/index.js",
    "tools/goguard/main.go",
    "tools/ng/package.json",
    "hooks.d/a",
    "lib/guard.js",
    "blib/guard.tsx",
    "rlib/guard.rb",
    "g.awk",
    "guard.mk",
    "g.js",
    "src/main.rs",
    "src/index.js",
    "docs/a.md",
    "tests/a.py",
    "dev/a",
    "crates/x/Cargo.toml",
    "crates/x/src/lib.rs",
];

#[test]
fn a_folder_that_an_interpreter_runs_is_a_program() {
    for line in [
        "python3 ./tools/guard",
        "/usr/bin/python3.12 -uB -X dev -W ignore tools/guard src",
        "cd tools && /usr/bin/python3 guard ../src",
        "cd tools/guard && python3 .",
        "if env -u A B=1 python3 \"$CLAUDE_PROJECT_DIR\"/tools/guard src; then true; fi",
        "timeout 5 python3 tools/guard",
        "A='b c' python3 tools/guard",
        "sh -c 'python3 tools/guard' src",
        "uv run --with x python tools/guard docs",
        "x | xargs -n1 python3 $(git rev-parse --show-toplevel)/tools/guard",
    ] {
        check_in(&PROGRAMS, line, &["tools/guard"]);
    }
    let around = ["tools/nguard", "tools/nguard.js", "tools/nguard.json", "tools/nguard.node"];
    for line in [
        "node ./tools/nguard",
        "node --no-warnings tools/nguard src",
        "node --require ./tools/nguard -e 0 src",
        "NODE_OPTIONS='--require ./tools/nguard' npm test",
        "node -r./tools/nguard --test tests",
    ] {
        check_in(&PROGRAMS, line, &around);
    }
    check_in(&PROGRAMS, "go run ./tools/goguard ./src", &["tools/goguard"]);
    check_in(&PROGRAMS, "go -C tools run -tags dev ./goguard", &["goguard", "tools/goguard"]);
    check_in(&PROGRAMS, "run-parts --regex a hooks.d", &["hooks.d"]);
    for line in [
        "find hooks.d -exec sh {} \\;",
        "find -L hooks.d -type f -exec env A=1 bash -e {} +",
        "find hooks.d \\( -name a \\) -execdir {} \\;",
    ] {
        check_in(&PROGRAMS, line, &["hooks.d"]);
    }
}

#[test]
fn a_program_may_lack_its_ending_and_stand_behind_an_option() {
    check_in(
        &PROGRAMS,
        "node -r ./lib/guard tests/a.py",
        &["lib", "lib/guard", "lib/guard.json", "lib/guard.node", "tests"],
    );
    check_in(&PROGRAMS, "node ./g", &["g", "g.js", "g.json", "g.node"]);
    check_in(&PROGRAMS, "node made", &["made", "made.js", "made.json", "made.node"]);
    let around = ["rlib", "rlib/guard", "rlib/guard.so"];
    check_in(&PROGRAMS, "ruby -r./rlib/guard -e 0 src", &around);
    check_in(&PROGRAMS, "ruby -r ./rlib/guard src", &around);
    for line in ["bun run blib/guard", "bun blib/guard src"] {
        let mut around = vec!["blib", "blib/guard"];
        let others = ["cjs", "cts", "js", "json", "jsx", "mjs", "mts", "node", "ts"];
        let others = others.map(|ending| format!("blib/guard.{ending}"));
        around.extend(others.iter().map(String::as_str));
        check_in(&PROGRAMS, line, &around);
    }
    check_in(&PROGRAMS, "awk -fg.awk docs", &["g.awk"]);
    check_in(&PROGRAMS, "make -fguard.mk", &["guard.mk"]);
    check_in(&PROGRAMS, "make -fmade.mk", &["made.mk"]);
    check_in(&PROGRAMS, "NODE_OPTIONS=--require=./g.js node tests/a.py", &["g.js", "tests"]);
    check_in(&PROGRAMS, "php -dauto_prepend_file=./made.php -v", &["made.php"]);
}

#[test]
fn of_a_folder_that_a_runner_works_in_is_kept_what_says_what_it_runs() {
    for line in [
        "npm --prefix tools/ng run check",
        "npm run check --prefix=tools/ng",
        "pnpm --dir tools/ng run check",
        "pnpm -C tools/ng check",
        "yarn --cwd tools/ng check",
    ] {
        check_in(&PROGRAMS, line, &["tools/ng/package.json"]);
    }
    let files = ["crates/x/GNUmakefile", "crates/x/Makefile", "crates/x/makefile"];
    check_in(&PROGRAMS, "make -C crates/x check", &files);
    check_in(&PROGRAMS, "make -Ccrates/x", &files);
}

#[test]
fn folders_that_are_worked_on_are_no_programs() {
    for line in [
        "cd src && cargo check",
        "eslint src",
        "prettier --write docs/",
        "ls tests",
        "python3 -m pytest tests",
        "python3 -um black src",
        "python3 -c 'import sys' src",
        "python3 .",
        "node . src",
        "node --test tests",
        "node -e 0 src",
        "bun test tests",
        "bun run dev src",
        "bun dev",
        "deno fmt docs",
        "npm run dev --prefix .",
        "go vet ./src",
        "go test ./tests",
        "perl -pi -e s,a,b, docs",
        "perl -Ilib -MGuard -e 0",
        "php -l src",
        "sh -c 'ls \"$1\"' src",
        "webpack ./src",
        "find src -name '*.js' -exec prettier --check {} +",
        "find src -type f -exec sh -c 'cat \"$1\"' _ {} \\;",
        "find docs -type f",
        "black python src",
        "timeout 5 black python src",
        "ruby -c src",
        "make -C . check",
        "grep -r guard src docs",
        "python3 $GUARD src",
    ] {
        check_in(&PROGRAMS, line, &[]);
    }
    let line = "cargo fmt --manifest-path crates/x/Cargo.toml";
    check_in(&PROGRAMS, line, &["crates/x/Cargo.toml"]);
}
