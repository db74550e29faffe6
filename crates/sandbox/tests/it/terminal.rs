//! Commands on a terminal, outside of a box and in one: it is theirs, and they end with it.

use std::sync::Arc;

use heeler_sandbox::{
    Child, Command, Confinement, Exit, InputStream, OutputStream, Streams, TerminalSize,
};

use crate::harness::Case;
use crate::place::{Place, VERSIONS};
use crate::processes::wait_dead;

pub(crate) const CASES: &[Case] = crate::cases![
    a_command_leads_a_session_on_its_terminal,
    a_new_size_is_told,
    keys_give_signals_and_shells_have_jobs,
    who_is_asked_to_end_may_refuse_and_is_killed,
    what_nobody_reads_is_taken_in_part,
];

const SIZE: TerminalSize = TerminalSize { rows: 30, columns: 100 };

/// A command on a terminal, and what it has said and not been asked about.
struct Talk {
    child: Child,
    input: InputStream,
    output: OutputStream,
    unheard: String,
}

impl Talk {
    async fn with(place: &Place, confinement: Confinement, script: &str) -> Self {
        let env = [("PATH", "/usr/bin:/bin"), ("TERM", "xterm")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let command = Command::new("bash", &place.workspace)
            .args(["--norc", "--noprofile", "-c", script])
            .env(env)
            .streams(Streams::Terminal(SIZE))
            .confinement(confinement);
        let mut child = place.launcher.run(&command).await.unwrap();
        let (input, output) = (child.take_input().unwrap(), child.take_output().unwrap());
        Self { child, input, output, unheard: String::new() }
    }

    async fn send(&mut self, text: &str) {
        self.input.send(text.as_bytes()).await.unwrap();
    }

    /// Reads up to a text, and returns what came before it.
    async fn hear(&mut self, wanted: &str) -> String {
        loop {
            if let Some((before, after)) = self.unheard.split_once(wanted) {
                let before = before.to_owned();
                self.unheard = after.to_owned();
                return before;
            }
            match self.output.chunk().await.unwrap() {
                Some(bytes) => self.unheard += &String::from_utf8(bytes).unwrap(),
                None => panic!("it never said {wanted:?}, but {:?}", self.unheard),
            }
        }
    }

    async fn end(mut self) -> (String, Exit) {
        while let Some(bytes) = self.output.chunk().await.unwrap() {
            self.unheard += &String::from_utf8(bytes).unwrap();
        }
        (self.unheard, self.child.wait().await.unwrap())
    }
}

/// No box, and one on each kernel.
fn places() -> Vec<(Place, Confinement)> {
    let boxed = VERSIONS.map(|version| {
        let place = Place::on(version);
        let confinement = Confinement::Box(Arc::new(place.confines()));
        (place, confinement)
    });
    [(Place::new(), Confinement::None)].into_iter().chain(boxed).collect()
}

async fn a_command_leads_a_session_on_its_terminal() {
    for (place, confinement) in places() {
        let script = "for n in 0 1 2; do test -t $n && echo $n; done; stty size
            : >/dev/tty && echo own; exit 3";
        let (said, exit) = Talk::with(&place, confinement, script).await.end().await;
        let expected = ("0\r\n1\r\n2\r\n30 100\r\nown\r\n".to_owned(), Exit::Code(3));
        assert_eq!((said, exit), expected);
    }
}

async fn a_new_size_is_told() {
    for (place, confinement) in places() {
        let script = "trap 'stty size; exit' WINCH; sleep 1000 & echo go; while :; do wait; done";
        let mut talk = Talk::with(&place, confinement, script).await;
        talk.hear("go").await;
        let size = TerminalSize { rows: 5, columns: 7 };
        talk.child.terminal().unwrap().resize(size).unwrap();
        assert_eq!(talk.end().await, ("\r\n5 7\r\n".to_owned(), Exit::Code(0)));
    }
}

async fn keys_give_signals_and_shells_have_jobs() {
    for (place, confinement) in places() {
        let mut talk =
            Talk::with(&place, confinement, "exec env PS1='ready> ' bash --norc --noprofile -i")
                .await;
        talk.hear("ready> ").await;
        for (key, told) in [("\x1a", "Stopped"), ("\x03", "^C")] {
            talk.send("sh -c 'echo on; exec sleep 1000'\n").await;
            talk.hear("on\r\n").await;
            talk.send(key).await;
            talk.hear(told).await;
            talk.hear("ready> ").await;
        }
    }
}

async fn who_is_asked_to_end_may_refuse_and_is_killed() {
    for (place, confinement) in places() {
        let script =
            "trap '' TERM; trap 'exit 5' HUP; sleep 1000 & echo go; while :; do wait; done";
        let mut talk = Talk::with(&place, confinement.clone(), script).await;
        talk.hear("go").await;
        talk.child.ask_to_end();
        assert_eq!(talk.child.wait().await.unwrap(), Exit::Code(5));
        let script =
            "trap 'echo no' TERM; trap '' HUP; sleep 1000 & echo go; while :; do wait; done";
        let mut talk = Talk::with(&place, confinement, script).await;
        talk.hear("go").await;
        talk.child.ask_to_end();
        talk.hear("no").await;
        let pid = talk.child.pid();
        assert_eq!(talk.child.kill_tree().await.unwrap().n_survivors, 0);
        assert_eq!(talk.child.wait().await.unwrap(), Exit::Signal(9));
        wait_dead(&[pid]);
    }
}

async fn what_nobody_reads_is_taken_in_part() {
    let place = Place::new();
    let script = "stty raw -echo; echo go; sleep 1000";
    let mut talk = Talk::with(&place, Confinement::None, script).await;
    talk.hear("go").await;
    let bytes = vec![b'x'; 1 << 20];
    let n_sent = talk.input.send_some(&bytes).await.unwrap();
    assert!((1..bytes.len()).contains(&n_sent), "{n_sent}");
}
