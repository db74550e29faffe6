//! A sentence, and calls whose last answer shows that it is true.

/// A sentence that a model is told of a tool, and how to see that it is true.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    /// The tool that it is told of.
    pub(crate) tool: &'static str,
    /// The sentence, to the letter.
    pub(crate) words: &'static str,
    /// The files of the workspace, each newer than the one before it; `->` makes a link.
    pub(crate) files: Vec<(String, String)>,
    /// Calls of one session, one a reply: a name and JSON, in which `$W` is the workspace and `HOST`
    /// the server.
    pub(crate) calls: Vec<String>,
    /// What the last answer holds, or with a `!` before it, does not; with a `=`, all that is in the
    /// file `a` then.
    pub(crate) says: &'static [&'static str],
    /// What is around these calls.
    pub(crate) around: Around,
}

/// What is around a session besides its files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around {
    /// How fast time passes.
    pub(crate) speed: u64,
    /// What the person answers; without it nobody is there.
    pub(crate) answers: Option<&'static str>,
    /// Whether commands have to stay in the box, and a person is asked to let one out, and does.
    pub(crate) is_boxed: bool,
    /// Whether the session hears the end of what goes on in the background.
    pub(crate) hears: bool,
    /// Whether there is only `sh`.
    pub(crate) is_without_bash: bool,
}

type Files<'a> = &'a [(&'a str, &'a str)];

pub(crate) fn claim(
    tool: &'static str,
    words: &'static str,
    files: Files<'_>,
    calls: &[&str],
    says: &'static [&'static str],
) -> Claim {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let calls = calls.iter().map(|call| (*call).to_owned()).collect();
    let around =
        Around { speed: 1, answers: None, is_boxed: false, hears: false, is_without_bash: false };
    Claim { tool, words, files, calls, says, around }
}

/// The same, among so many files of these names; `#` is the number.
pub(crate) fn among(n: usize, name: &str, claim: Claim) -> Claim {
    let more = (0..n).map(|index| (name.replace('#', &format!("{index:04}")), String::new()));
    Claim { files: claim.files.into_iter().chain(more).collect(), ..claim }
}

impl Claim {
    /// In time that passes so many times as fast.
    pub(crate) fn hurried(mut self, speed: u64) -> Self {
        self.around.speed = speed;
        self
    }

    /// With a person who answers this.
    pub(crate) fn answered(mut self, answers: &'static str) -> Self {
        self.around.answers = Some(answers);
        self
    }

    /// In the box, with a person who lets out what asks for it.
    pub(crate) fn boxed(mut self) -> Self {
        self.around.is_boxed = true;
        self
    }

    /// Until what goes on in the background has ended and the model was told.
    pub(crate) fn heard(mut self) -> Self {
        self.around.hears = true;
        self
    }

    /// Where no bash is.
    pub(crate) fn without_bash(mut self) -> Self {
        self.around.is_without_bash = true;
        self
    }
}
