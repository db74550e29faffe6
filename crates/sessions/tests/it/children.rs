//! Starts this test program again as another process that plays a role with a store.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use heeler_sessions::{Session, SessionStore, load_or_new, save};

/// Tells a child where its store is.
const PLACE: &str = "HEELER_SESSIONS_TEST_PLACE";

/// The folder or database a child was given.
pub(crate) fn place_of_child() -> String {
    std::env::var(PLACE).expect("only another test runs this")
}

/// A child that says line by line how far it is; killed when dropped.
pub(crate) struct Player {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Player {
    pub(crate) fn start(role: &str, place: &str) -> Self {
        let mut command = program_command(std::env::current_exe().unwrap().to_str().unwrap());
        command.args(["--ignored", "--exact", "--nocapture", role]).env(PLACE, place);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// Waits for the child's next word; what the test harness prints is not one.
    pub(crate) fn next_word(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the child ended");
            if let Some((_, word)) = line.trim_end().split_once("says ") {
                return word.to_owned();
            }
        }
    }

    /// Kills the child as nothing can prevent, and gives its last words.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        let words = rest.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        words.filter_map(|line| Some(line.split_once("says ")?.1.trim_end().to_owned())).collect()
    }

    /// Waits until the child has done its part.
    pub(crate) fn finish(mut self) {
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success(), "{rest}");
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "the test waits for the child or kills it itself")]
pub(crate) fn program_command(program: &str) -> Command {
    Command::new(program)
}

pub(crate) fn say(word: impl std::fmt::Display) {
    println!("says {word}");
}

/// How often each child adds one.
const COUNTS: u64 = 25;
/// How many children there are.
const CHILDREN: u64 = 6;

/// Adds one to a sum again and again, each time until nobody was in between.
pub(crate) async fn count(store: &impl SessionStore) {
    for _ in 0..COUNTS {
        loop {
            let mut session = load_or_new(store, "a").await.unwrap();
            let sum = session.state::<u64>("sum").unwrap_or_default();
            session.set_state("sum", &(sum + 1)).unwrap();
            match save(store, &mut session).await {
                Ok(()) => break,
                Err(error) if error.is_conflict() => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// That many processes that count in one session lose nothing.
pub(crate) async fn check_sum(store: &impl SessionStore, role: &str, place: &str) {
    let children: Vec<Player> = (0..CHILDREN).map(|_| Player::start(role, place)).collect();
    children.into_iter().for_each(Player::finish);
    let session = store.get("a").await.unwrap();
    assert_eq!(session.state::<u64>("sum").unwrap(), CHILDREN * COUNTS);
}

/// Writes ever other sessions and says which write is done.
pub(crate) async fn write_forever(store: &impl SessionStore) {
    let mut session = load_or_new(store, "a").await.unwrap();
    let from = session.state::<usize>("n").unwrap_or_default();
    for n in from + 1.. {
        session.history = history(n);
        session.set_state("n", &n).unwrap();
        save(store, &mut session).await.unwrap();
        say(n);
    }
}

/// That a session is one write whole, and tells which.
pub(crate) fn whole(session: &Session) -> usize {
    let n = session.state::<usize>("n").unwrap();
    assert_eq!(session.history, history(n), "write {n} is there in parts");
    n
}

/// The history of a write: longer and shorter by turns.
fn history(n: usize) -> Vec<heeler_core::Message> {
    vec![heeler_core::Message::user("x".repeat(n % 7 * 20_000)); n % 11]
}
