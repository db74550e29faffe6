//! Words alone, for whoever has the terminal read aloud.

use expect_test::expect;

use super::Glass;
use crate::support::World;

const SCRIPT: &str = r#"
    [[reply]]
    blocks = [
        { text = "A **bold** plan:\n\n- look\n- mend\n\n> quoted\n\n| text | cells |\n|---|---|\n| a | 1 |\n\n---\n\nFirst I count." },
        { call = "Bash", input = { command = "seq 1 9" } },
        { call = "Read", input = { file_path = "missing.txt" } },
    ]
    [[reply]]
    blocks = [{ call = "Write", input = { file_path = "a.txt", content = "one\ntwo\n" } }]
    [[reply]]
    blocks = [{ call = "ToolSearch", input = { query = "ask_user" } }]
    [[reply]]
    blocks = [{ call = "ask_user", input = { question = "Which port?", choices = ["80", "8080"] } }]
    [[reply]]
    expect = { tool_result_contains = "8080" }
    text = "That is all."
"#;

#[test]
fn p1_in_plain_mode_there_are_words_alone_and_each_is_written_once() {
    let world = World::new();
    world.write("home/settings.toml", "[tui]\nplain = true\n");
    let model = world.script(SCRIPT);
    let mut glass = Glass::open(&world, 80, 24, &["--model", &model]);
    glass.waits_for("model script.toml, mode ask, context 0 %");
    // What is written can be edited where it stands.
    glass.types("say hellp");
    glass.waits_for("You: say hellp");
    glass.types("\x7fo\x1bbnow \x05\r");
    glass.waits_for("y: once");
    glass.types("y");
    glass.waits_for("Enter: answer, or with nothing let the model decide, Esc: stop the turn");
    glass.types("2\r");
    glass.waits_for("That is all.");
    glass.types("\x1b[Z\x1b[Z");
    glass.waits_for("mode plan, context");
    glass.types("\x04");
    let (code, written) = glass.everything_after_end();
    assert_eq!(code, 0);
    let sequences = regex::Regex::new("\x1b(\\[[?<>]?[0-9;]*[a-zA-Z])").unwrap();
    // Nothing is gone back to: the cursor stays on the line that is edited.
    let moves = regex::Regex::new("\x1b\\[([0-9]*[AF]|[0-9;]*H|2J|\\?1049h)").unwrap();
    assert!(!moves.is_match(&written), "{written:?}");
    let words = sequences.replace_all(&written, "");
    let strange: String = words.chars().filter(|c| !c.is_ascii() || *c == '\x1b').collect();
    assert_eq!(strange, "", "{words}");
    for once in
        ["You: say now hello", "Quote: quoted", "text: a", "Done: Bash seq 1 9", "Which port?"]
    {
        let n = words.lines().filter(|line| line.trim_end().ends_with(once)).count();
        assert_eq!(n, 1, "{once}: {words}");
    }
    // As it is read: of a line that was edited, what stands there at last.
    let mut terminal = vt100::Parser::new(200.try_into().unwrap(), 80.try_into().unwrap(), 0);
    terminal.process(written.as_bytes());
    let screen = terminal.screen().contents();
    let (read, _) = screen.split_once("heeler: ").unwrap();
    let read = read.replace(&world.path("work").display().to_string(), "/space");
    // When what runs is seen is a matter of how fast it is; one call waits for an answer.
    assert!(read.contains("\nworking, Esc stops it\n"), "{read}");
    assert!(read.contains("\nRunning: ask_user "), "{read}");
    let is_sure = |line: &&str| !line.starts_with("Running: ") && !line.starts_with("working");
    let read: String = read.split_inclusive('\n').filter(is_sure).collect();
    expect![[r#"
        write what is to be done; /help has the keys and commands
        model script.toml, mode ask, context 0 %, confined
        You: say now hello

        A bold plan:

        - look
        - mend

        Quote: quoted

        text: a
        cells: 1



        First I count.

        Done: Bash seq 1 9
          4 lines above (Ctrl-T)
          5
          6
          7
          8
          9
        Failed: Read missing.txt
          missing.txt does not exist; use Glob or LS to find it
        Write this file?
        a.txt, lines added: 2, removed: 0
        line 1 added: one
        line 2 added: two
          it writes /space/a.txt
          y: once
          s: for this session: Edit(//space/a.txt)
          a: always in this folder: Edit(//space/a.txt)
          n: no, with a reason
          e: edit it first
          d: no, and stop the turn
        Done: Write a.txt
        Done: ToolSearch ask_user

        the cached beginning could not be used: 2169 tokens were read again
        The model asks
          Which port?
          1. 80
          2. 8080
        Enter: answer, or with nothing let the model decide, Esc: stop the turn

        Done: ask_user {"question":"Which port?","choices":["80","8080"]}

        That is all.
        model script.toml, mode ask, context 1 %, cache 5 min, confined
        model script.toml, mode accept-edits, context 1 %, cache 5 min, confined
        model script.toml, mode plan, context 1 %, cache 5 min, confined
    "#]]
    .assert_eq(&read);
}

/// What a menu or a list would show stands in words behind what is written, and the page too.
#[test]
fn p2_in_plain_mode_menus_lists_and_the_page_are_words_too() {
    let world = World::new();
    world.write("home/settings.toml", "[tui]\nplain = true\n");
    let model = world.script("[[reply]]\ntext = \"Here.\"\n");
    let mut glass = Glass::open(&world, 80, 24, &["--model", &model]);
    glass.waits_for("mode ask");
    glass.types("go\r");
    glass.waits_for("Here.");
    glass.types("/sess");
    glass.waits_for("choice 1 of 1: /sessions: choose among the stored sessions");
    glass.types("\r");
    glass.waits_for("choice 1 of 1:");
    glass.waits_for("go (this one)");
    glass.shows(expect![[r#"
        write what is to be done; /help has the keys and commands
        model script.toml, mode ask, context 0 %, confined
        You: go

        Here.
        model script.toml, mode ask, context 1 %, cache 5 min, confined
        Go on with which session?
        choice 1 of 1:  _ s  go (this one)
          You: go
          Here.
        Enter: go on, Esc: back
    "#]]);
    glass.types("\x1b");
    glass.waits_without("go (this one)");
    glass.types("\x14");
    glass.waits_for("q: back, arrows PgUp");
    glass.types("q");
    glass.waits_without("q: back");
    // Another size leaves what stands there.
    glass.resizes(60, 20);
    glass.types("still");
    glass.waits_for("You: still");
    glass.types("\x15\x04");
    let (code, written) = glass.everything_after_end();
    assert_eq!(code, 0);
    let sequences = regex::Regex::new("\x1b(\\[[?<>]?[0-9;]*[a-zA-Z])").unwrap();
    let words = sequences.replace_all(&written, "");
    let strange: String = words.chars().filter(|c| !c.is_ascii() || *c == '\x1b').collect();
    assert_eq!(strange, "", "{words}");
    let n_answers = words.lines().filter(|line| line.trim_end() == "Here.").count();
    assert_eq!(n_answers, 1, "{words}");
}
