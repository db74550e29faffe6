//! This test program again, as another process that plays a role with a store.

use heeler_sessions::{Session, SessionStore, load_or_new, save};
use heeler_testkit::Player;
use heeler_testkit::player::{role, say};

/// Tells a child where its store is.
const PLACE: &str = "HEELER_SESSIONS_TEST_PLACE";

/// The folder or database a child was given.
pub(crate) fn place_of_child() -> String {
    std::env::var(PLACE).expect("only another test runs this")
}

/// Starts a role with the store at this place.
pub(crate) fn start(name: &str, place: &str) -> Player {
    let mut command = role(name);
    command.env(PLACE, place);
    Player::start(command)
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
pub(crate) async fn check_sum(store: &impl SessionStore, name: &str, place: &str) {
    let children: Vec<Player> = (0..CHILDREN).map(|_| start(name, place)).collect();
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
