//! `heeler sessions export` as Markdown and as a page, the page in a real browser.

mod browser;
mod large;

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use expect_test::expect;
use regex::Regex;

use crate::fifo::Fifo;
use crate::support::World;
use browser::Browser;

/// Whatever a page could fall for, and what a terminal could.
const HOSTILE: &str = r#"</pre></details></script></style><script>document.title = "ran"</script><img src=x onerror="document.title='ran'"><a href="javascript:document.title='ran'">x</a> &lt;b&gt; ``` ````"#;

/// A session in which everybody says hostile things, thinks, and changes a file.
fn hostile() -> (World, String) {
    let world = World::new();
    world.write("work/a.txt", "one\ntwo\nthree\n");
    world.write("work/hostile.txt", format!("{HOSTILE} \u{1b}[2J\n"));
    let said = serde_json::to_string(&format!("{HOSTILE} \u{1b}]0;ran\u{7}")).unwrap();
    let script = format!(
        r#"
        [[reply]]
        blocks = [
          {{ thinking = {said}, signature = "s" }},
          {{ text = {said} }},
          {{ call = "Read", input = {{ file_path = "hostile.txt" }} }},
          {{ call = "Read", input = {{ file_path = "a.txt" }} }},
        ]
        [[reply]]
        blocks = [{{ call = "Edit", input = {{ file_path = "a.txt", old_string = "two", new_string = "2 </span>" }} }}]
        [[reply]]
        text = "Done."
        [[reply]]
        text = "Again."
        "#
    );
    let rules = ["--permission-mode", "accept-edits"];
    world.exec(&script, &[&rules[..], &[HOSTILE]].concat()).run().exits(0);
    let again = "[[reply]]\ntext = \"Again.\"\n";
    world.exec(again, &["--continue", "and again?"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    (world, id)
}

fn exported(world: &World, id: &str, name: &str) -> PathBuf {
    let path = world.path(name);
    let output = path.to_str().unwrap();
    let told = world.heeler(&["sessions", "export", id, "-o", output]).run().exits(0);
    assert_eq!((&*told.stdout, &*told.stderr), ("", ""));
    path
}

#[test]
fn a_page_shows_what_is_hostile_and_runs_nothing_of_it() {
    if !browser::is_there() {
        return;
    }
    let (world, id) = hostile();
    let page = exported(&world, &id, "page.html");
    let mut browser = Browser::open();
    browser.loads(&page);
    let title = browser.says("document.title");
    assert!(title.as_str().unwrap().starts_with("</pre></details></script>"), "{title}");
    // It is shown, by everybody who said it, and made nothing but text.
    let shown = browser.says(
        "['.said', '.answer', 'details.thought pre', 'details.call pre + pre'].map(
            (each) => document.querySelector(each).textContent)",
    );
    for text in shown.as_array().unwrap() {
        assert!(text.as_str().unwrap().contains(HOSTILE), "{text}");
        assert!(!text.as_str().unwrap().contains(char::is_control), "{text}");
    }
    let counted = browser.says(
        "['script', 'style', 'img', 'iframe', 'meta[http-equiv]'].map(
        (each) => document.querySelectorAll(each).length)",
    );
    assert_eq!(counted, serde_json::json!([1, 1, 0, 0, 1]));
    assert_eq!(
        browser.says("[...document.links].every((each) => each.protocol === 'file:')"),
        true
    );
    // What got into the page all the same would neither run nor reach anybody.
    let ran = browser.says(
        "(async () => {
            const script = document.createElement('script');
            script.textContent = 'window.ran = 1';
            document.body.append(script);
            document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 2\">');
            const reached = await fetch('data:text/plain,x').then(() => 'reached', () => 'refused');
            return [typeof window.ran, reached];
        })()",
    );
    assert_eq!(ran, serde_json::json!(["undefined", "refused"]));
}

#[test]
fn a_page_folds_colours_and_leads_to_its_turns() {
    if !browser::is_there() {
        return;
    }
    let (world, id) = hostile();
    let page = exported(&world, &id, "page.html");
    let mut browser = Browser::open();
    browser.loads(&page);
    let opened = "['call', 'thought'].map(
        (each) => document.querySelectorAll(`details.${each}[open]`).length)";
    assert_eq!(browser.says(opened), serde_json::json!([0, 0]));
    browser.says("document.querySelector('details.call summary').click()");
    assert_eq!(browser.says(opened), serde_json::json!([1, 0]));
    browser.says("document.querySelector('button[data-fold=open][data-what=call]').click()");
    assert_eq!(browser.says(opened), serde_json::json!([3, 0]));
    browser.says("document.querySelector('button[data-fold=open][data-what=thought]').click()");
    assert_eq!(browser.says(opened), serde_json::json!([3, 1]));
    browser.says("document.querySelector('button[data-fold=close][data-what=call]').click()");
    assert_eq!(browser.says(opened), serde_json::json!([0, 1]));
    // The change: its lines with their numbers, added and removed told apart by colour.
    let change = browser.says(
        "[...document.querySelectorAll('pre.diff .add, pre.diff .del')].map((each) =>
            [each.className, each.querySelector('.num').textContent.trim(), each.textContent.trim(),
             getComputedStyle(each).backgroundColor !== 'rgba(0, 0, 0, 0)'])",
    );
    assert_eq!(
        change,
        serde_json::json!([["del", "2", "2-two", true], ["add", "2", "2+2 </span>", true]])
    );
    // The timeline leads to each turn.
    let led = browser.says(
        "[...document.querySelectorAll('.timeline a')].map(
            (each) => document.querySelector(each.hash).matches('section.turn'))",
    );
    assert_eq!(led, serde_json::json!([true, true]));
}

#[test]
fn markdown_is_read_as_it_was_said() {
    let world = World::new();
    world.write("work/a.txt", "one\n```\ntwo\n");
    let script = r#"
        [script]
        usage = { input = 100, output = 7 }
        [[reply]]
        blocks = [
          { thinking = "hm", signature = "s" },
          { text = "I will *look*." },
          { call = "Read", input = { file_path = "a.txt" } },
        ]
        [[reply]]
        text = "Seen."
    "#;
    world.exec(script, &["what is\nin <a>?"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    world.heeler(&["sessions", "rename", &id, "a look"]).run().exits(0);
    let arguments = ["sessions", "export", "a look", "--format", "markdown"];
    let markdown = world.heeler(&arguments).run().exits(0);
    let took = Regex::new(r"TIME UTC · \d+\.\d s ·").unwrap();
    expect![[r##"
        # a look

        - session: `ID`
        - folder: `WORLD/work`
        - created: TIME UTC
        - model: `script:WORLD/script.toml`
        - used: 200 tokens in (0 % cached: 0 read, 0 written, 200 neither), 14 out, cost not known

        ## 1. what is in \<a\>?

        *TIME UTC · SHORT · 200 tokens in, 14 out · cost not known · done*

        > what is
        > in <a>?

        <details><summary>thinking</summary>

        ```
        hm
        ```

        </details>

        I will *look*.

        <details><summary>✓ <b>Read</b> a.txt</summary>

        ```json
        {
          "file_path": "a.txt"
        }
        ```

        ````
             1  one
             2  ```
             3  two
        ````

        </details>

        Seen.
    "##]]
    .assert_eq(&took.replace(&world.plain(&markdown.stdout), "TIME UTC · SHORT ·"));
}

#[test]
fn a_files_name_says_its_form_and_what_cannot_be_written_is_told() {
    let world = World::new();
    world.exec("[[reply]]\ntext = \"hi\"\n", &["hello"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    let read = |name: &str| std::fs::read_to_string(exported(&world, &id, name)).unwrap();
    assert!(read("a.md").starts_with("# hello\n"));
    assert!(read("a.html").starts_with("<!doctype html>"));
    let journal = std::fs::read_to_string(world.journal()).unwrap();
    assert_eq!((read("a.jsonl"), read("a.other")), (journal.clone(), journal));
    // What is there stays, unless it is said.
    world.write("work/notes.txt", "mine");
    let arguments = ["sessions", "export", &id, "-o", "notes.txt"];
    let refused = world.heeler(&arguments).run().exits(2);
    assert_eq!(
        refused.stderr,
        "heeler: notes.txt is there already; name another file, or replace it with --force\n"
    );
    assert_eq!(world.worked("notes.txt"), "mine");
    world.heeler(&[&arguments[..], &["--force"]].concat()).run().exits(0);
    assert_eq!(world.worked("notes.txt"), read("b.other"));
    let arguments = ["sessions", "export", &id, "--output", "absent/a.html"];
    let refused = world.heeler(&arguments).run().exits(2);
    assert!(refused.stderr.contains("cannot write absent/a.html"), "{}", refused.stderr);
    assert!(!world.path("work/absent").exists());
}

#[test]
fn a_pipe_that_nobody_reads_is_told_and_what_a_link_leads_to_is_its_owners() {
    let world = World::new();
    world.exec("[[reply]]\ntext = \"hi\"\n", &["hello"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    let export = |arguments: &[&str]| {
        let export = ["sessions", "export", &id];
        world.heeler(&[&export[..], arguments].concat()).run()
    };
    // Made, and nobody holds an end of it.
    drop(Fifo::new(&world.path("work/pipe")));
    let refused = export(&["--force", "-o", "pipe"]).exits(2).stderr;
    assert_eq!(refused, "heeler: cannot write pipe: nobody reads it\n");
    std::os::unix::fs::symlink("target", world.path("work/link")).unwrap();
    let refused = export(&["-o", "link"]).exits(2).stderr;
    assert!(refused.ends_with("or replace it with --force\n"), "{refused}");
    export(&["--force", "-o", "link"]).exits(0);
    let mode = std::fs::metadata(world.path("work/target")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn an_export_takes_no_place_among_the_sessions() {
    let world = World::new();
    world.exec("[[reply]]\ntext = \"ok\"\n", &["hello"]).run().exits(0);
    let before = world.journal_lines();
    let journal = world.journal();
    let ids = world.ids();
    let arguments = ["sessions", "export", &ids[0], "--format", "markdown", "--force", "-o"];
    let output = world.heeler(&[&arguments[..], &[journal.to_str().unwrap()]].concat()).run();
    let told = output.exits(2).stderr;
    assert!(told.contains("is in the folder that the sessions are kept in"), "{told}");
    assert_eq!(world.journal_lines(), before);
}
