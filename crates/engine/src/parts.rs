//! Everything a session is handed. Nothing is looked up elsewhere.

use std::sync::Arc;

use heeler_core::{
    Approver, Clock, Entropy, Hooks, InputOrigin, MediaStore, Outbound, Person, Provider,
    RESULT_CHARS_MAX, Reach, SessionStore, Settings, Spill,
};
use heeler_secrets::Secrets;
use heeler_turn::TokenEstimate;
use heeler_turn::retry;

use crate::{Fallback, OsEntropy, SystemClock, ToolRegistry, Toolset};

/// What a session is made of; cheap to clone. `docs/guide/engine.md` shows them in use.
#[derive(Clone)]
pub struct Parts {
    /// Answers model requests.
    pub provider: Arc<dyn Provider>,
    /// Who answers, in this order, when the model of the settings cannot.
    pub fallback: Vec<Fallback>,
    /// What the model can call.
    pub tools: Toolset,
    /// Gives what the model can call before each request, in place of `tools`.
    pub tool_source: Option<ToolRegistry>,
    /// How far tools reach, whoever lets a call run.
    pub reach: Arc<Reach>,
    /// Answer permission requests, when `settings.policy.interactive`: all are asked at once, and the
    /// first decision wins, that of [`crate::Session::decide`] included. When the last of them gives none,
    /// the call is denied; where there are none, it waits for `decide`.
    pub approvers: Vec<Arc<dyn Approver>>,
    /// Milliseconds after which a request that nobody decided is denied; 0 for never, as when nothing
    /// is said: for sessions that may be left alone with a question.
    pub permission_expiry_millis: u64,
    /// Told of moments of the session, and heard about them.
    pub hooks: Option<Arc<dyn Hooks>>,
    /// Where an input comes from that does not say so itself.
    pub origin: InputOrigin,
    /// Takes what calls have for the user, and answers, to where inputs come from, besides what
    /// watchers see.
    pub outbound: Option<Arc<dyn Outbound>>,
    /// Keeps the journal.
    pub store: Arc<dyn SessionStore>,
    /// Keeps outputs too long for the history; without one they are only cut.
    pub spill: Option<Arc<dyn Spill>>,
    /// Keeps what tools make beside text, and what of their texts no model can read.
    pub media: Option<Arc<dyn MediaStore>>,
    /// Whom tools can ask; `None` where nobody is.
    pub person: Option<Arc<dyn Person>>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// For ids and jitter.
    pub entropy: Arc<dyn Entropy>,
    /// The system prompt; empty for none.
    pub system: String,
    /// Model, limits, permission.
    pub settings: Settings,
    /// Whether a session that was left in plan mode is gone on with in it, whatever mode the settings have.
    pub keeps_plan: bool,
    /// When a failed model request is sent again.
    pub retry: retry::Policy,
    /// Estimates tokens instead of counting characters.
    pub estimate: Option<Arc<dyn TokenEstimate>>,
    /// What is taken out of results and progress before anybody sees them or they are written.
    pub secrets: Arc<Secrets>,
    /// The most characters of one result that enter the history; 200,000 when nothing is said.
    pub result_chars_max: usize,
    /// Milliseconds after which a call is cancelled, unless its tool says otherwise; 0 for never,
    /// eleven minutes when nothing is said.
    pub call_timeout_millis: u64,
    /// Milliseconds between heartbeats while a turn runs; 0 for none, 30,000 when nothing is said.
    pub heartbeat_millis: u64,
    /// The version written into the journal.
    pub build: String,
}

impl Parts {
    /// The parts with the defaults of the library: no tools, the limits of
    /// [`Limits::default`](heeler_core::Limits), the system's clock, nobody to ask, and every tool that
    /// is handed in may run. The model's name is yet to be set: `settings.model`.
    pub fn new(provider: Arc<dyn Provider>, store: Arc<dyn SessionStore>) -> Self {
        let mut settings = Settings::default();
        settings.policy.mode = heeler_core::Mode::Bypass;
        Self {
            provider,
            fallback: Vec::new(),
            tools: Toolset::default(),
            tool_source: None,
            reach: Arc::default(),
            approvers: Vec::new(),
            permission_expiry_millis: 0,
            hooks: None,
            origin: InputOrigin::default(),
            outbound: None,
            store,
            spill: None,
            media: None,
            person: None,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(OsEntropy::default()),
            system: String::new(),
            settings,
            keeps_plan: false,
            retry: retry::Policy::default(),
            estimate: None,
            secrets: Arc::default(),
            result_chars_max: RESULT_CHARS_MAX,
            call_timeout_millis: 660_000,
            heartbeat_millis: 30_000,
            build: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}
