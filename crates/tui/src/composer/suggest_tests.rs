//! Menus, and what was written before.

use expect_test::expect;

use super::testing::{check_with, composer, play, steps};
use super::{Command, Composer, Draft, HISTORY_ENTRIES_MAX, History, Part};

fn with_commands() -> Composer {
    let mut composer = composer();
    let command = |name: &str, hint: &str, about: &str| Command {
        name: name.to_owned(),
        hint: hint.to_owned(),
        about: about.to_owned(),
    };
    composer.set_commands(vec![
        command("help", "", "What there is"),
        command("compact", "[focus]", "Make the conversation shorter"),
        command("clear", "", "Begin anew"),
        command("context", "", "What the tokens are"),
    ]);
    composer
}

fn with_history() -> Composer {
    let mut composer = composer();
    let paste =
        Draft { parts: vec![Part::Text("see ".into()), Part::Paste("a\n".repeat(20).into())] };
    composer.set_history(History::new([
        Draft::from("fix the tests"),
        paste,
        Draft::from("first line\nsecond line"),
        Draft::from("Fix the docs"),
    ]));
    composer
}

#[track_caller]
fn commands(script: &str, expected: expect_test::Expect) {
    check_with(with_commands(), 50, script, expected);
}

#[track_caller]
fn history(script: &str, expected: expect_test::Expect) {
    check_with(with_history(), 40, script, expected);
}

#[test]
fn commands_are_completed() {
    commands(
        "/",
        expect![[r#"
        > /|
          = > /help             What there is
          =   /compact [focus]  Make the conversation shorter
          =   /clear            Begin anew
          =   /context          What the tokens are
    "#]],
    );
    commands(
        "/c",
        expect![[r#"
        > /c|
          = > /compact [focus]  Make the conversation shorter
          =   /clear            Begin anew
          =   /context          What the tokens are
    "#]],
    );
    commands(
        "/ct",
        expect![[r#"
        > /ct|
          = > /context          What the tokens are
          =   /compact [focus]  Make the conversation shorter
    "#]],
    );
    commands(
        "/c<Down><Tab>",
        expect![[r#"
        > /clear |
    "#]],
    );
    commands(
        "/c<Up><CR>",
        expect![[r#"
            > |Ask anything
            submit "/context"
        "#]],
    );
    commands(
        "/com<CR>",
        expect![[r#"
        > /compact |
          =   /compact [focus]  Make the conversation shorter
    "#]],
    );
    commands(
        "/com<CR>th",
        expect![[r#"
        > /compact th|
    "#]],
    );
    commands(
        "/compact<CR>",
        expect![[r#"
            > |Ask anything
            submit "/compact"
        "#]],
    );
    commands(
        "/c<Esc>o<Esc>",
        expect![[r#"
        > /co|
        ignored Esc KeyModifiers(0x0)
    "#]],
    );
    commands(
        "/c<Esc><C-u>/h",
        expect![[r#"
        > /h|
          = > /help  What there is
    "#]],
    );
    commands(
        "/zzz",
        expect![[r#"
        > /zzz|
    "#]],
    );
    commands(
        "no /c",
        expect![[r#"
        > no /c|
    "#]],
    );
    commands(
        "/c<Left><Left><Down>",
        expect![[r#"
            > |/c
            ignored Down KeyModifiers(0x0)
        "#]],
    );
}

#[test]
fn files_are_completed() {
    let offered = |script: &str, query: &str| {
        let mut composer = composer();
        for step in steps(script) {
            play(&mut composer, &step);
        }
        let paths = ["src/main.rs", "src/my file.rs", "src/"].map(str::to_owned);
        composer.offer_files(query, &paths);
        composer
    };
    check_with(
        offered("see @ma", "ma"),
        40,
        "",
        expect![[r#"
        > see @ma|
          = > src/main.rs
          =   src/my file.rs
          =   src/
    "#]],
    );
    check_with(
        offered("see @ma", "m"),
        40,
        "",
        expect![[r#"
        > see @ma|
    "#]],
    );
    check_with(
        offered("see @ma", "ma"),
        40,
        "<CR>it",
        expect![[r#"
        > see @src/main.rs it|
    "#]],
    );
    check_with(
        offered("see @m", "m"),
        40,
        "<Down><Tab>",
        expect![[r#"
        > see @"src/my file.rs" |
    "#]],
    );
    check_with(
        offered("see @s", "s"),
        40,
        "<Down><Down><Tab>m",
        expect![[r#"
        > see @src/m|
    "#]],
    );
    // Until there is an answer, those of the last one that match.
    check_with(
        offered("see @m", "m"),
        40,
        "y",
        expect![[r#"
        > see @my|
          = > src/my file.rs
    "#]],
    );
    check_with(
        offered("@src/main.rs", "src/main.rs"),
        40,
        "<CR>",
        expect![[r#"
        > |Ask anything
        submit "@src/main.rs"
    "#]],
    );
    check_with(
        offered("a@m", "m"),
        40,
        "",
        expect![[r#"
        > a@m|
    "#]],
    );
    check_with(
        offered("@\"my f", "my f"),
        40,
        "<Tab>",
        expect![[r#"
        > @src/main.rs |
    "#]],
    );

    let composer = offered("see (@s", "s");
    assert_eq!(composer.file_query(), Some("s"));
    let mut composer = offered("see (@s", "s");
    play(&mut composer, &steps("<Down>")[0]);
    // What was chosen stays so when better ones come.
    composer.offer_files("s", &["src/new.rs".to_owned(), "src/my file.rs".to_owned()]);
    check_with(
        composer,
        40,
        "",
        expect![[r#"
        > see (@s|
          =   src/new.rs
          = > src/my file.rs
    "#]],
    );
}

#[test]
fn a_long_menu_shows_the_rows_around_the_chosen_one() {
    let mut composer = composer();
    play(&mut composer, &steps("@")[0]);
    let paths: Vec<_> = (0..30).map(|number| format!("file_{number}")).collect();
    composer.offer_files("", &paths);
    check_with(
        composer,
        12,
        "<Down><Down><Down><Down><Down><Down><Down><Down><Down>",
        expect![[r#"
        > @|
          =   file_2
          =   file_3
          =   file_4
          =   file_5
          =   file_6
          =   file_7
          =   file_8
          = > file_9
    "#]],
    );
}

#[test]
fn up_goes_back_and_down_comes_again() {
    history(
        "<Up>",
        expect![[r#"
        > |Ask anything
        ignored Up KeyModifiers(0x0)
    "#]],
    );
    history(
        "<C-p>",
        expect![[r#"
        > Fix the docs|
    "#]],
    );
    history(
        "mine<Up><Up>",
        expect![[r#"
        > first line|
          second line
    "#]],
    );
    history(
        "mine<Up><Up><Up>",
        expect![[r#"
        > see [pasted 20 lines]|
    "#]],
    );
    history(
        "mine<Up><Up><Up><Up><Up>",
        expect![[r#"
        > fix the tests|
        ignored Up KeyModifiers(0x0)
    "#]],
    );
    history(
        "mine<Up><Up><Down><Down>",
        expect![[r#"
        > Fix the docs|
    "#]],
    );
    history(
        "mine<Up><Up><Down><Down><Down>",
        expect![[r#"
        > mine|
    "#]],
    );
    history(
        "mine<Up>!<C-_><C-_>",
        expect![[r#"
        > mine|
    "#]],
    );
    history(
        "sent<CR><C-p>",
        expect![[r#"
        > sent|
        submit "sent"
    "#]],
    );
    history(
        "<C-p><C-p><C-p><CR>",
        expect![[r#"
        > |Ask anything
        submit "see a\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\n" shown "see [pasted 20 lines]" with []
    "#]],
    );
}

#[test]
fn the_history_is_searched() {
    history(
        "mine<C-r>",
        expect![[r#"
        search: |
          = > Fix the docs
          =   first line second line
          =   see [pasted 20 lines]
          =   fix the tests
    "#]],
    );
    history(
        "<C-r>the",
        expect![[r#"
        search: the|
          = > Fix the docs
          =   fix the tests
    "#]],
    );
    history(
        "<C-r>the fix",
        expect![[r#"
        search: the fix|
          = > Fix the docs
          =   fix the tests
    "#]],
    );
    history(
        "<C-r>F",
        expect![[r#"
        search: F|
          = > Fix the docs
    "#]],
    );
    history(
        "<C-r>the<C-r><CR>",
        expect![[r#"
        > fix the tests|
    "#]],
    );
    history(
        "<C-r>the<Down><Down><Up><Tab>",
        expect![[r#"
        > Fix the docs|
    "#]],
    );
    history(
        "mine<C-r>the<Esc>",
        expect![[r#"
        > mine|
    "#]],
    );
    history(
        "<C-r>none at all",
        expect![[r#"
        search: none at all|
          =   nothing found
    "#]],
    );
    history(
        "mine<C-r>none<CR>",
        expect![[r#"
        > mine|
    "#]],
    );
    history(
        "<C-r>ax<BS> b<C-w>c<C-u>pasted<Home>now ",
        expect![[r#"
        > now |see [pasted 20 lines]
    "#]],
    );
    history(
        "<C-r><paste docs\\nmore>",
        expect![[r#"
        search: docs|
          = > Fix the docs
    "#]],
    );
}

#[test]
fn each_text_is_there_once_and_not_too_many() {
    let drafts = |texts: &[&str]| texts.iter().map(|text| Draft::from(*text)).collect::<Vec<_>>();
    let mut history = History::new(drafts(&["a", "b", " ", "a"]));
    assert_eq!(history.drafts(), drafts(&["b", "a"]));
    history.push("b".into());
    history.push("\n".into());
    assert_eq!(history.drafts(), drafts(&["a", "b"]));
    for number in 0..HISTORY_ENTRIES_MAX {
        history.push(number.to_string().as_str().into());
    }
    assert_eq!(history.drafts().len(), HISTORY_ENTRIES_MAX);
    assert_eq!(history.drafts()[0], "0".into());
    let many = (0..=HISTORY_ENTRIES_MAX).map(|number| number.to_string().as_str().into());
    let history = History::new(many);
    assert_eq!(history.drafts()[0], "1".into());
}
