//! The demo: works without a key and without a network, and fails when an edit does.

use expect_test::expect;

use crate::home::namespace;
use crate::repository::with_cargo;
use crate::support::World;

#[test]
fn the_demo_ends_with_the_diff_and_the_passing_test() {
    let world = World::new();
    let output = with_cargo(world.heeler(&["demo"])).run().exits(0);
    let (_, end) = output.stdout.split_once("The change in ").unwrap();
    let (diff, test) = end.split_once("The last test run:").unwrap();
    expect![[r#"
        src/lib.rs:

            --- src/lib.rs
            +++ src/lib.rs
            @@ -9,5 +9,6 @@
                     sorted.get(middle).copied()
                 } else {
            -        sorted.get(middle).copied()
            +        let below = sorted.get(middle.checked_sub(1)?)?;
            +        Some((below + sorted.get(middle)?) / 2.0)
                 }
             }

    "#]]
    .assert_eq(diff);
    assert!(test.contains("test result: ok. 3 passed"), "{test}");
    assert_eq!(output.stderr, "");
    // It leaves nothing behind, neither a session nor its project.
    assert_eq!(world.journals().len(), 0);
    assert_eq!(std::fs::read_dir(world.path("temp")).unwrap().count(), 0);
}

#[test]
fn the_demo_does_not_care_for_what_is_set() {
    let world = World::new();
    let heeler = world.heeler(&["demo"]).env("HEELER_MODEL", "gpt-0");
    let heeler = heeler.env("HEELER_CONTEXT_LIMIT", "many").env("HEELER_HOME", "/dev/null/x");
    with_cargo(heeler).run().exits(0);
}

#[test]
fn without_cargo_the_demo_fails() {
    let world = World::new();
    let output = world.heeler(&["demo"]).env("PATH", "/usr/bin:/bin").env("HOME", "/").run();
    let output = output.exits(1);
    let why = "heeler: the demo failed: it needs `cargo`, which does not run here (";
    assert!(output.stderr.starts_with(why), "{}", output.stderr);
}

/// After the first test run the file to edit cannot be written any more: every edit fails.
#[test]
fn an_edit_that_fails_fails_the_demo() {
    let Some(unshare) = namespace() else { return };
    let world = World::new();
    let line = r#"
        real=$(command -v cargo)
        mkdir bin
        cat > bin/cargo <<END
#!/bin/sh
"$real" "\$@"
code=\$?
mount --bind src src && mount -o remount,ro,bind src
exit \$code
END
        chmod +x bin/cargo
        PATH="$PWD/bin:$PATH" exec "$@"
    "#;
    let shell = [unshare, &["bash", "-c", line, "bash"]].concat();
    let output = with_cargo(world.heeler(&["demo"])).run_in("unshare", &shell).exits(1);
    assert!(output.stdout.contains("  ! Edit: "), "{}", output.stdout);
    assert!(output.stderr.starts_with("heeler: the demo failed: "), "{}", output.stderr);
}
