//! What guests see, and what becomes of their wishes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;

use heeler_attach::{
    AttachError, Attached, GUESTS_MAX, OwnerKind, Presence, Questions, attach, presences, serve,
};
use heeler_core::{
    Access, AgentPath, BoxFuture, CallId, Decision, Event, Facts, Input, InputOrigin, Mode,
    PermissionId, Question, RawJson, SessionId, SteeringId, Tool, ToolContext, ToolDefinition,
    ToolError, ToolOutput, TurnOutcome, View,
};
use heeler_engine::{Cursor, DecideError, Parts, Seen, Session, SystemClock, Toolset};
use heeler_providers::scripted::Scripted;
use heeler_script::Script;
use heeler_store::FileStore;
use tempfile::TempDir;

/// Writes, as it says, and so is asked about.
struct Writes;

impl Tool for Writes {
    fn definition(&self) -> ToolDefinition {
        let schema = RawJson::parse(r#"{"type":"object"}"#).unwrap();
        ToolDefinition::new("writes", "Writes.", schema)
    }

    fn facts(&self, _: &RawJson, _: &str) -> Facts {
        Facts { accesses: vec![Access::Write("/elsewhere".into())], ..Facts::default() }
    }

    fn call(
        self: Arc<Self>,
        _: ToolContext,
        _: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(async { Ok(ToolOutput::text("written")) })
    }
}

/// A session that others can attach to.
struct Owner {
    session: Session,
    store: FileStore,
    parts: Parts,
    questions: Questions,
    _folder: TempDir,
}

impl Owner {
    async fn new(script: &str) -> Self {
        Self::of_kind(OwnerKind::Run, script).await
    }

    async fn of_kind(kind: OwnerKind, script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::open(folder.path()).unwrap();
        let model = Scripted::from_script(Script::parse(script).unwrap(), Arc::new(SystemClock));
        let mut parts = Parts::new(Arc::new(model), Arc::new(store.clone()));
        parts.settings.model.name = "script/test".into();
        parts.settings.policy.mode = Mode::Ask;
        parts.settings.policy.interactive = true;
        parts.tools = Toolset::new([Arc::new(Writes) as Arc<dyn Tool>]).unwrap();
        let session = Session::create(parts.clone(), "/space").await.unwrap();
        let questions = Questions::default();
        let path = store.door_path(session.id());
        serve(&session, path, kind, questions.clone()).unwrap();
        Self { session, store, parts, questions, _folder: folder }
    }

    async fn guest(&self) -> Result<Attached, AttachError> {
        attach(&self.store, self.session.id()).await
    }
}

/// Folds what is seen until the view is so.
async fn until(view: &mut View, cursor: &mut Cursor, is_so: impl Fn(&View) -> bool) {
    while !is_so(view) {
        match cursor.next().await.expect("the session ended before") {
            Seen::Event(envelope) => view.apply(&envelope.event),
            Seen::Resync(now) => *view = *now,
        }
    }
}

/// Folds all there is to see.
async fn to_the_end(view: &mut View, cursor: &mut Cursor) {
    while let Some(seen) = cursor.next().await {
        match seen {
            Seen::Event(envelope) => view.apply(&envelope.event),
            Seen::Resync(now) => *view = *now,
        }
    }
}

fn first() -> PermissionId {
    PermissionId::first(CallId { turn: 1, round: 1, index: 0 })
}

/// A model that is not asked.
const NOTHING: &str = "[[reply]]\ntext = \"x\"\n";

const ASKS: &str = r#"
    [[reply]]
    text = "I have to write."
    chunks = 5
    blocks = [{ call = "writes", input = {} }]
    [[reply]]
    text = "Written, as you wished."
    chunks = 7
"#;

#[tokio::test]
async fn guests_see_what_is_so_whenever_they_come_and_the_first_answer_counts() {
    let owner = Owner::new(ASKS).await;
    let early = owner.guest().await.unwrap().session;
    let (mut seen_early, mut early_cursor) = early.subscribe();
    let turn = owner.session.turn(Input::text("go"));
    until(&mut seen_early, &mut early_cursor, |view| !view.permissions.is_empty()).await;
    let ids = [owner.session.id().clone()];
    let present = presences(&owner.store, &ids).await;
    assert_eq!(present, [Presence::Present { owner: OwnerKind::Run, waiting: 1 }]);
    let late = owner.guest().await.unwrap().session;
    let (mut seen_late, mut late_cursor) = late.subscribe();
    assert_eq!(seen_late, owner.session.subscribe().0);
    assert_eq!(seen_late, seen_early);

    let edited = Decision::Edited { input: RawJson::parse("[1]").unwrap() };
    let unusable = late.decide(first(), edited, "guest").await.unwrap_err();
    assert!(matches!(unusable, DecideError::Unusable(..)), "{unusable}");
    assert_eq!(early.decide(first(), Decision::Once, "guest").await, Ok(()));
    let second = late.decide(first(), Decision::Deny { reason: None }, "guest").await;
    assert_eq!(second, Err(DecideError::NotOpen(first())));
    let third = owner.session.decide(first(), Decision::Once, "owner").await;
    assert_eq!(third, Err(DecideError::NotOpen(first())));

    assert_eq!(turn.await, TurnOutcome::Done);
    let (view, _) = owner.session.subscribe();
    let state = owner.session.state().await.unwrap();
    owner.session.close().await;
    to_the_end(&mut seen_early, &mut early_cursor).await;
    to_the_end(&mut seen_late, &mut late_cursor).await;
    assert_eq!((&seen_early, &seen_late), (&view, &view));
    assert_eq!(state.final_answer(), "Written, as you wished.");
    let refused = attach(&owner.store, early.id()).await.err().unwrap();
    assert!(matches!(refused, AttachError::Unowned(_)), "{refused}");
}

/// Time stands still but where nothing else happens, so it is counted exactly.
#[tokio::test(start_paused = true)]
async fn many_that_do_not_answer_take_no_longer_than_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    let ids: Vec<SessionId> = (0..150).map(|n| format!("silent-{n}").parse().unwrap()).collect();
    let doors = ids.iter().map(|id| {
        let door = store.door_path(id);
        std::fs::create_dir_all(door.parent().unwrap()).unwrap();
        std::os::unix::net::UnixListener::bind(door).unwrap()
    });
    let doors: Vec<_> = doors.collect();
    let begun = tokio::time::Instant::now();
    let present = presences(&store, &ids).await;
    assert_eq!(begun.elapsed().as_millis(), 500);
    assert_eq!(present, vec![Presence::Silent; doors.len()]);
}

#[tokio::test]
async fn wishes_are_done_and_what_a_guest_began_goes_on_without_it() {
    let script =
        "[[reply]]\ntext = \"One.\"\n[[reply]]\ntext = \"Two.\"\n[[reply]]\ntext = \"Three.\"";
    let owner = Owner::new(script).await;
    let guest = owner.guest().await.unwrap().session;
    assert_eq!(guest.turn(Input::text("one")).await, TurnOutcome::Done);
    assert_eq!(guest.steer(SteeringId("a".into()), Input::text("two")).await, Ok(true));
    assert_eq!(guest.take_back(SteeringId("a".into())).await, Ok(false));
    guest.rename("the name".parse().ok()).await.unwrap();
    assert_eq!(guest.compact(None).await, Ok(false));
    // What only the owner can do is done by nobody.
    assert!(guest.set_system("other").await.is_err());
    let (mut view, mut cursor) = owner.session.subscribe();
    let begun = guest.turn(Input::text("three"));
    until(&mut view, &mut cursor, |view| {
        view.messages.iter().any(|message| message.text() == "three")
    })
    .await;
    drop(begun);
    guest.close().await;
    until(&mut view, &mut cursor, |view| {
        view.turn.is_none()
            && view.last_outcome == Some(TurnOutcome::Done)
            && view.messages.last().is_some_and(|last| last.text() == "Three.")
    })
    .await;
    let state = owner.session.state().await.unwrap();
    assert_eq!(state.name.as_ref().map(|name| name.as_str()), Some("the name"));
    owner.session.close().await;
}

#[tokio::test]
async fn a_question_is_answered_by_whoever_is_there_first() {
    let owner = Owner::new(NOTHING).await;
    let question = |text: &str| Question {
        session: owner.session.id().clone(),
        agent: AgentPath::default(),
        call: CallId { turn: 1, round: 1, index: 0 },
        to: InputOrigin::default(),
        text: text.into(),
        choices: vec!["a".into()],
    };
    let person = owner.questions.person(None);
    // Asked before anybody is there, it waits.
    let answer = tokio::spawn(person.answer(question("early?")));
    let mut guest = owner.guest().await.unwrap();
    let mut other = owner.guest().await.unwrap();
    let asked = guest.questions.recv().await.unwrap();
    assert_eq!(
        (&*asked.question.text, &*asked.question.choices),
        ("early?", &["a".to_owned()][..])
    );
    let late = other.questions.recv().await.unwrap();
    asked.answer.send(Some("yes".into())).unwrap();
    assert_eq!(answer.await.unwrap().as_deref(), Some("yes"));
    let mut late = late.answer;
    late.closed().await;
    // A question that is taken back is nobody's any more.
    let answer = tokio::spawn(person.answer(question("never mind")));
    let mut asked = guest.questions.recv().await.unwrap();
    answer.abort();
    asked.answer.closed().await;
    owner.session.close().await;
}

#[tokio::test]
async fn there_are_so_many_guests_and_one_who_speaks_nonsense_is_sent_away() {
    let owner = Owner::new(NOTHING).await;
    let mut guests = Vec::new();
    for _ in 0..GUESTS_MAX {
        guests.push(owner.guest().await.unwrap());
    }
    let refused = owner.guest().await.err().unwrap();
    assert!(matches!(refused, AttachError::Full(_)), "{refused}");
    let ids = [owner.session.id().clone()];
    let present = presences(&owner.store, &ids).await;
    assert_eq!(present, [Presence::Present { owner: OwnerKind::Run, waiting: 0 }]);
    guests.pop().unwrap().session.close().await;
    let path = owner.store.door_path(owner.session.id());
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let heard = tokio::task::spawn_blocking(move || {
        loop {
            let mut stream = UnixStream::connect(&path).unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let hello = lines.next().unwrap().unwrap();
            // The place of the one who left is free once that was seen.
            if hello.contains("full") {
                continue;
            }
            stream.write_all(b"{\"number\":1,\"wish\":\"world domination\"}\n").unwrap();
            return (hello, lines.count());
        }
    });
    let (hello, n_more) = heard.await.unwrap();
    assert!(hello.starts_with(r#"{"hello":{"version":3,"owner":"run","seq":"#), "{hello}");
    assert_eq!(n_more, 0);
    owner.session.close().await;
}

#[tokio::test]
async fn a_guest_that_reads_nothing_holds_nobody_up_and_is_told_what_it_missed() {
    let text = "many words, and then some more of them; ".repeat(400_000);
    let script = format!("[[reply]]\ntext = \"{text}\"\nchunks = 4000\nstall = {{}}");
    let owner = Owner::new(&script).await;
    let path = owner.store.door_path(owner.session.id());
    let greeted = tokio::task::spawn_blocking(move || {
        let mut lines = BufReader::new(UnixStream::connect(path).unwrap()).lines();
        assert!(lines.next().unwrap().unwrap().starts_with(r#"{"hello""#));
        lines
    });
    let mut lines = greeted.await.unwrap();
    let (mut view, mut cursor) = owner.session.subscribe();
    let turn = owner.session.turn(Input::text("go"));
    until(&mut view, &mut cursor, |view| {
        view.turn.as_ref().is_some_and(|turn| turn.draft.len() == text.len())
    })
    .await;
    let read = tokio::task::spawn_blocking(move || {
        let behind =
            lines.by_ref().map(Result::unwrap).find(|line| line.starts_with(r#"{"behind""#));
        behind.map(|line| line.len())
    });
    let behind = read.await.unwrap().expect("it is told that it is behind");
    assert!(behind > text.len(), "with all of the draft");
    owner.session.cancel().await;
    assert_eq!(turn.await, TurnOutcome::Cancelled);
    owner.session.close().await;
}

#[tokio::test]
async fn a_turn_that_was_left_is_told_to_guests_until_somebody_goes_on_with_it() {
    let owner = Owner::new(ASKS).await;
    let turn = owner.session.turn(Input::text("go"));
    let (mut view, mut cursor) = owner.session.subscribe();
    until(&mut view, &mut cursor, |view| !view.permissions.is_empty()).await;
    assert!(!owner.guest().await.unwrap().is_left);
    let Owner { session, store, parts, _folder, .. } = owner;
    let id = session.id().clone();
    // Closing would end the turn: whoever dies leaves it.
    let journal = std::fs::read(store.journal_path(&id)).unwrap();
    session.close().await;
    drop(turn);
    std::fs::write(store.journal_path(&id), journal).unwrap();
    let session = Session::open(parts, id.clone()).await.unwrap();
    serve(&session, store.door_path(&id), OwnerKind::Window, Questions::default()).unwrap();
    let guest = attach(&store, &id).await.unwrap();
    assert!(guest.is_left);
    guest.session.decide(first(), Decision::Once, "guest").await.unwrap();
    assert_eq!(guest.session.resume().await, TurnOutcome::Done);
    assert!(!attach(&store, &id).await.unwrap().is_left);
    session.close().await;
}

#[tokio::test]
async fn who_does_not_answer_has_it_open_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    let id = |n: u64| format!("01900000-0000-7000-8000-{n:012x}").parse().unwrap();
    let ids: Vec<SessionId> = (0..40).map(id).collect();
    let door = |n: usize| store.door_path(&ids[n]);
    std::fs::create_dir_all(door(0).parent().unwrap()).unwrap();
    let mut doors: Vec<_> = (0..40).map(|n| UnixListener::bind(door(n)).unwrap()).collect();
    // So many wait before the first that the system lets no more wait.
    rustix::net::listen(&doors[0], 0).unwrap();
    let mut before = Vec::new();
    while let Ok(stream) = tokio::net::UnixStream::connect(door(0)).await {
        before.push(stream);
    }
    drop(doors.pop());
    let other = doors.pop().unwrap();
    let spoke = std::thread::spawn(move || {
        let hello = r#"{"hello":{"version":1000,"owner":"run","of":"what will be"}}"#;
        writeln!(other.accept().unwrap().0, "{hello}").unwrap();
    });
    let began = std::time::Instant::now();
    let present = presences(&store, &ids).await;
    assert!(began.elapsed().as_secs() < 10, "all are asked at once");
    assert_eq!(present[..38], [Presence::Silent; 38]);
    assert_eq!(present[38..], [Presence::OtherVersion, Presence::Unowned]);
    spoke.join().unwrap();
}

/// As a window does for another model: nobody who watches is thrown out, nor anything lost that is said
/// meanwhile.
#[tokio::test]
async fn guests_of_a_window_stay_when_it_opens_its_session_again() {
    let mut owner = Owner::of_kind(OwnerKind::Window, "[[reply]]\ntext = \"Heard.\"\n").await;
    let guest = owner.guest().await.unwrap().session;
    let (mut view, mut cursor) = guest.subscribe();
    owner.session.clone().close().await;
    // Until its door is closed.
    while owner.guest().await.is_ok() {}
    let said = guest.turn(Input::text("said meanwhile"));
    owner.parts.settings.model.name = "script/other".into();
    owner.session = Session::open(owner.parts.clone(), guest.id().clone()).await.unwrap();
    let path = owner.store.door_path(guest.id());
    serve(&owner.session, path, OwnerKind::Window, owner.questions.clone()).unwrap();
    let notice = loop {
        match cursor.next().await.expect("the guest is thrown out") {
            Seen::Event(envelope) => match &envelope.event {
                Event::Notice { text } => break text.clone(),
                event => view.apply(event),
            },
            Seen::Resync(now) => view = *now,
        }
    };
    assert_eq!(notice, "script/other answers from here on");
    assert_eq!(said.await, TurnOutcome::Done);
    until(&mut view, &mut cursor, |view| view.last_outcome.is_some()).await;
    assert_eq!(view, owner.session.subscribe().0);
    let state = guest.state().await.unwrap();
    assert_eq!((&*state.settings.model.name, &*state.final_answer()), ("script/other", "Heard."));
}

#[tokio::test]
async fn a_window_that_closes_its_session_for_good_ends_it_for_its_guests() {
    let owner = Owner::of_kind(OwnerKind::Window, NOTHING).await;
    let guest = owner.guest().await.unwrap().session;
    let (mut view, mut cursor) = guest.subscribe();
    owner.session.close().await;
    to_the_end(&mut view, &mut cursor).await;
    guest.closed().await;
}
