//! What becomes of a database that is gone, refuses, or holds what it should not.

use heeler_core::Message;
use heeler_sessions::{
    FileSessions, PostgresSessions, Session, SessionError, SessionErrorKind, SessionStore,
    conformance,
};
use heeler_testkit::Player;

use crate::children::{check_sum, start, whole};
use crate::server::{PASSWORD, Server};

/// What other processes do.
mod roles {
    use heeler_sessions::PostgresSessions;

    use crate::children::{count, place_of_child, write_forever};

    #[tokio::test]
    #[ignore = "a role that other tests start in a process of its own"]
    async fn counts() {
        count(&PostgresSessions::connect(&place_of_child()).await.unwrap()).await;
    }

    #[tokio::test]
    #[ignore = "a role that other tests start in a process of its own"]
    async fn writes() {
        write_forever(&PostgresSessions::connect(&place_of_child()).await.unwrap()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn postgres_keeps_every_promise() {
    let Some(server) = Server::start() else { return };
    let make = async || {
        let store = PostgresSessions::connect(&server.connection()).await.unwrap();
        server.client().await.batch_execute("TRUNCATE heeler_sessions").await.unwrap();
        store
    };
    conformance::check(make).await.unwrap();
}

#[tokio::test]
async fn many_processes_lose_nothing_and_a_killed_one_leaves_a_whole_session() {
    let Some(server) = Server::start() else { return };
    let place = server.connection();
    // They also make the table, all at once.
    let store = async || PostgresSessions::connect(&place).await.unwrap();
    let children: Vec<Player> = (0..2).map(|_| start("postgres::roles::counts", &place)).collect();
    children.into_iter().for_each(Player::finish);
    let store = store().await;
    store.delete("a").await.unwrap();
    check_sum(&store, "postgres::roles::counts", &place).await;

    store.delete("a").await.unwrap();
    for kill in 0..10 {
        let mut writer = start("postgres::roles::writes", &place);
        let first: usize = writer.next_word().parse().unwrap();
        (0..kill).for_each(|_| drop(writer.next_word()));
        let last = writer.kill().last().map_or(first, |word| word.parse().unwrap());
        assert!(whole(&store.get("a").await.unwrap()) >= last.max(first));
    }
}

#[tokio::test]
async fn a_database_that_comes_back_is_found_again() {
    let Some(mut server) = Server::start() else { return };
    let store = PostgresSessions::connect(&server.connection()).await.unwrap();
    let mut session = Session::new("a");
    session.version = store.create(&session).await.unwrap();
    server.stop();
    // Whoever comes first may be the one who finds out.
    assert!(store.get("a").await.unwrap_err().is_unavailable());
    for error in [
        store.get("a").await.unwrap_err(),
        store.update(&session).await.unwrap_err(),
        PostgresSessions::connect(&server.connection()).await.unwrap_err(),
    ] {
        let text = error.to_string();
        assert!(error.is_unavailable(), "{text}");
        assert!(text.starts_with("cannot connect to the database: "), "{text}");
        assert!(text.contains("; start it, or check host and port"), "{text}");
        silent(&error);
    }
    server.run();
    session.history.push(Message::user("again"));
    session.version = store.update(&session).await.unwrap();
    assert_eq!(store.get("a").await.unwrap(), session);
}

#[tokio::test]
async fn a_connection_lost_in_the_middle_is_told_and_made_again() {
    let Some(server) = Server::start() else { return };
    let store = PostgresSessions::connect(&server.connection()).await.unwrap();
    let mut session = Session::new("a");
    session.version = store.create(&session).await.unwrap();

    // The update waits for somebody else's lock, and its connection is ended meanwhile.
    let other = server.client().await;
    other.batch_execute("BEGIN; SELECT 1 FROM heeler_sessions FOR UPDATE").await.unwrap();
    let update = tokio::spawn(store.update(&session));
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE application_name = 'heeler' AND wait_event_type = 'Lock'";
    let watcher = server.client().await;
    while watcher.query(end, &[]).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let error = update.await.unwrap().unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    assert!(error.to_string().starts_with("the connection to the database was lost ("), "{error}");
    assert!(error.to_string().contains("; the next call connects again. A write"), "{error}");
    silent(&error);

    other.batch_execute("ROLLBACK").await.unwrap();
    session.version = store.update(&session).await.unwrap();
    assert_eq!(store.get("a").await.unwrap(), session);
}

#[tokio::test]
async fn who_waits_for_an_answer_waits_a_minute() {
    let Some(server) = Server::start() else { return };
    let store = PostgresSessions::connect(&server.connection()).await.unwrap();
    let mut session = Session::new("a");
    session.version = store.create(&session).await.unwrap();
    let other = server.client().await;
    other.batch_execute("BEGIN; SELECT 1 FROM heeler_sessions FOR UPDATE").await.unwrap();
    tokio::time::pause();
    let begun = tokio::time::Instant::now();
    let error = store.update(&session).await.unwrap_err();
    assert!((60..62).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    tokio::time::resume();
    assert!(error.is_unavailable(), "{error}");
    assert!(
        error.to_string().starts_with("the database has not answered for 60 seconds"),
        "{error}"
    );
    // What reads is not held up, on a connection of its own.
    assert_eq!(store.get("a").await.unwrap(), session);
}

#[tokio::test]
async fn isolation_that_is_stricter_gives_the_same_answers() {
    let Some(server) = Server::start() else { return };
    for isolation in ["serializable", r"repeatable\\ read"] {
        let strict = format!(
            "{} options='-c default_transaction_isolation={isolation}'",
            server.connection()
        );
        let store = PostgresSessions::connect(&strict).await.unwrap();
        let session = Session::new("a");
        // Each time another transaction has written what is written here, and ends meanwhile.
        let insert = "INSERT INTO heeler_sessions VALUES ('a', 1, '{}')";
        let error = beside(&server, insert, store.create(&session)).await.unwrap_err();
        assert!(error.is_already_exists(), "{error}");
        let update = "UPDATE heeler_sessions SET version = 7";
        beside(&server, update, store.delete("a")).await.unwrap();
        let version = store.create(&session).await.unwrap();
        let session = Session { version, ..session };
        let error = beside(&server, update, store.update(&session)).await.unwrap_err();
        assert!(error.is_conflict(), "{error}");
        store.delete("a").await.unwrap();
    }
}

/// What comes of `work` that begins while another transaction has done `sql`, and waits for its end.
async fn beside<T: Send + 'static>(
    server: &Server,
    sql: &str,
    work: impl Future<Output = Result<T, SessionError>> + Send + 'static,
) -> Result<T, SessionError> {
    let other = server.client().await;
    other.batch_execute(&format!("BEGIN; {sql}")).await.unwrap();
    let work = tokio::spawn(work);
    let waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    let watcher = server.client().await;
    while watcher.query(waits, &[]).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    other.batch_execute("COMMIT").await.unwrap();
    work.await.unwrap()
}

#[tokio::test]
async fn a_row_that_cannot_be_read_costs_only_its_own_session() {
    let Some(server) = Server::start() else { return };
    let store = PostgresSessions::connect(&server.connection()).await.unwrap();
    let made = store.create(&Session::new("good")).await.unwrap();
    let client = server.client().await;
    client.batch_execute("INSERT INTO heeler_sessions VALUES ('bad', 1, '[]')").await.unwrap();
    let error = store.get("bad").await.unwrap_err();
    let expected = "cannot read row `bad` of table heeler_sessions: ";
    assert!(error.is_corrupt() && error.to_string().starts_with(expected), "{error}");
    assert!(error.to_string().ends_with("; mend it, or delete the session"), "{error}");
    assert_eq!(store.list("", 0).await.unwrap(), ["bad", "good"]);
    assert_eq!(store.get("good").await.unwrap().version, made);
    store.delete("bad").await.unwrap();

    // What is stored can be asked for in SQL.
    let sql = "SELECT session->>'id' FROM heeler_sessions";
    assert_eq!(client.query_one(sql, &[]).await.unwrap().get::<_, String>(0), "good");
}

#[tokio::test]
async fn a_user_who_may_not_make_the_table_may_use_it() {
    let Some(server) = Server::start() else { return };
    let client = server.client().await;
    let guest = format!("CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'");
    client.batch_execute(&guest).await.unwrap();
    let connection = server.connection().replace("user=heeler", "user=guest");
    let error = PostgresSessions::connect(&connection).await.unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("cannot make the table heeler_sessions: "), "{text}");
    assert!(text.contains("permission denied") && text.contains("; make it by hand"), "{text}");

    PostgresSessions::connect(&server.connection()).await.unwrap();
    let error = PostgresSessions::connect(&connection).await.unwrap().get("a").await.unwrap_err();
    assert_eq!(error.kind(), SessionErrorKind::Io);
    assert!(error.to_string().contains("permission denied for table heeler_sessions"), "{error}");
    client.batch_execute("GRANT ALL ON heeler_sessions TO guest").await.unwrap();
    let store = PostgresSessions::connect(&connection).await.unwrap();
    let made = store.create(&Session::new("a")).await.unwrap();
    assert_eq!(store.get("a").await.unwrap().version, made);
}

#[tokio::test]
async fn no_error_shows_a_password() {
    let Some(server) = Server::start() else { return };
    for bad in [
        format!("postgres://heeler:{PASSWORD}@127.0.0.1:port/db"),
        format!("postgres://heeler:{PASSWORD}:x@/db?{PASSWORD}=1"),
        format!("postgres://heeler:{PASSWORD}"),
        format!("user=heeler password=a {PASSWORD}"),
        format!("user=heeler {PASSWORD}=x"),
        format!("user=heeler password='{PASSWORD}"),
        format!("mysql://heeler:{PASSWORD}@localhost"),
        PASSWORD.to_owned(),
        format!("user=heeler password={PASSWORD}"),
        server.connection().replace("user=heeler", "user=nobody"),
        server.connection().replace("dbname=postgres", "dbname=none"),
        server.connection().replace("host=", "host=/none"),
    ] {
        silent(&PostgresSessions::connect(&bad).await.unwrap_err());
    }
    let wrong = server.connection_with("wrong-geheim-7Zq");
    let error = PostgresSessions::connect(&wrong).await.unwrap_err();
    assert!(error.to_string().contains("password authentication failed"), "{error}");
    silent(&error);
    let store = PostgresSessions::connect(&server.connection()).await.unwrap();
    assert_eq!(format!("{store:?}"), "PostgresSessions { .. }");
}

/// That an error and its causes do not show a password.
fn silent(error: &SessionError) {
    let mut shown = format!("{error} {error:?}");
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        shown = format!("{shown} {next} {next:?}");
        cause = next.source();
    }
    assert!(!shown.contains("geheim"), "{shown}");
}

#[tokio::test]
async fn a_session_goes_from_one_store_to_another_as_it_is() {
    let Some(server) = Server::start() else { return };
    let postgres = PostgresSessions::connect(&server.connection()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let files = FileSessions::open(folder.path()).unwrap();
    let mut session = Session::new("a");
    session.history.push(Message::user("Wie hei\u{df}t du?"));
    session.set_state("visits", &3).unwrap();
    session.version = files.create(&session).await.unwrap();
    let mut moved = files.get("a").await.unwrap();
    moved.version = postgres.create(&moved).await.unwrap();
    let back = postgres.get("a").await.unwrap();
    assert_eq!(Session { version: session.version, ..back }, session);
}
