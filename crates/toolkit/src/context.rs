//! Keeps what is sent within a number of tokens. What is said stays whole: only requests shrink.

use std::error::Error;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use heeler_core::{BoxFuture, Message, Messages, Role, Usage, panic_text};
use heeler_turn::estimate::weigh_message;
use heeler_turn::{CharacterEstimate, TokenEstimate, compact};

/// Stands between two words of the model where everything between them was left out.
const LEFT_OUT: &str = "(Earlier messages were left out to make room.)";

/// Characters a token has by the estimate.
pub(crate) const CHARS_PER_TOKEN: u32 = 4;

/// Keeps requests within a number of tokens: the first and the newest messages stay, what lies
/// between them is summarised, or dropped without a summariser. When nothing is said of how many, as
/// many of the newest stay as fit ([`ContextManager::keep_recent`]). A call and its result stay together,
/// and a cut may fall within one long turn. No model is called but the summariser's own.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use heeler_core::Message;
/// use heeler_toolkit::ContextManager;
///
/// let context = ContextManager::new(100).keep_first(1).keep_recent(2);
/// let history: Vec<Message> = (0..50).map(|n| Message::user(format!("message {n}"))).collect();
/// let fitted = context.fit(&history).await?;
/// assert!(fitted.fits && fitted.messages.len() == 3);
/// # Ok::<(), heeler_toolkit::ContextError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ContextManager {
    max_tokens: u64,
    keep_first: usize,
    keep_recent: usize,
    counter: Option<Counter>,
    summarizer: Option<Summarizer>,
}

type Counter = Arc<dyn Fn(Vec<Arc<Message>>) -> BoxFuture<Result<u64, Cause>> + Send + Sync>;
type Summarizer = Arc<dyn Fn(Vec<Arc<Message>>) -> BoxFuture<Result<Summary, Cause>> + Send + Sync>;
type Cause = Arc<dyn Error + Send + Sync>;

/// What stands for messages that were left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// The summary.
    pub text: String,
    /// What it cost to make.
    pub usage: Usage,
}

/// A history as it is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// What is sent: the history itself where it fits.
    pub messages: Vec<Arc<Message>>,
    /// How many tokens that is.
    pub tokens: u64,
    /// Whether that is within the limit.
    pub fits: bool,
    /// Whether anything was left out.
    pub is_trimmed: bool,
    /// What summaries cost.
    pub usage: Usage,
}

/// Why a history could not be trimmed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ContextError {
    /// The counter failed.
    #[error("its tokens could not be counted: {0}")]
    Counter(#[source] Cause),
    /// The summariser failed.
    #[error("it could not be summarised: {0}")]
    Summarizer(#[source] Cause),
}

impl ContextManager {
    /// At most so many tokens a request, its system prompt and tools included; 0 for no limit.
    #[must_use]
    pub fn new(max_tokens: u64) -> Self {
        Self { max_tokens, keep_first: 0, keep_recent: 0, counter: None, summarizer: None }
    }

    /// So many of the first messages always stay, and as many more as keep calls and results
    /// together.
    #[must_use]
    pub fn keep_first(mut self, messages: usize) -> Self {
        self.keep_first = messages;
        self
    }

    /// So many of the newest messages always stay, and as many more as keep calls and results
    /// together; the very last one stays anyway. All before them goes as soon as something has to.
    ///
    /// Without this, or with 0, as many stay as fit, and as many as fill half of the limit where the
    /// rest is summarised. What is dropped then is little, and soon more has to be: a cache of the
    /// provider gains less by such a conversation than by one that is cut seldom.
    #[must_use]
    pub fn keep_recent(mut self, messages: usize) -> Self {
        self.keep_recent = messages;
        self
    }

    /// Counts tokens in another way than four characters a token; it may ask a tokenizer's server.
    #[must_use]
    pub fn counter<F, Counting, E>(mut self, count: F) -> Self
    where
        F: Fn(Vec<Arc<Message>>) -> Counting + Send + Sync + 'static,
        Counting: Future<Output = Result<u64, E>> + Send + 'static,
        E: Error + Send + Sync + 'static,
    {
        self.counter = Some(Arc::new(move |messages| {
            let counting = count(messages);
            Box::pin(async move { counting.await.map_err(|error| Arc::new(error) as Cause) })
        }));
        self
    }

    /// Puts a summary in the place of what is left out; without one it is dropped. A summary is
    /// made once and kept as long as it fits.
    #[must_use]
    pub fn summarizer<F, Work, E>(mut self, summarize: F) -> Self
    where
        F: Fn(Vec<Arc<Message>>) -> Work + Send + Sync + 'static,
        Work: Future<Output = Result<Summary, E>> + Send + 'static,
        E: Error + Send + Sync + 'static,
    {
        self.summarizer = Some(Arc::new(move |messages| {
            let work = summarize(messages);
            Box::pin(async move { work.await.map_err(|error| Arc::new(error) as Cause) })
        }));
        self
    }

    /// What of a history would be sent. The history itself is not changed.
    ///
    /// # Errors
    /// What the counter or the summariser says, or that its code crashed.
    pub async fn fit(&self, history: &[Message]) -> Result<Fitted, ContextError> {
        let messages = history.iter().cloned().map(Arc::new).collect();
        Trimmer::new(self.clone()).fit(messages, 0).await
    }
}

impl fmt::Debug for ContextManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextManager")
            .field("max_tokens", &self.max_tokens)
            .field("keep_first", &self.keep_first)
            .field("keep_recent", &self.keep_recent)
            .finish_non_exhaustive()
    }
}

/// A context manager at work on one conversation: it remembers what it left out, so that a summary
/// is made once and a request begins as the one before it did.
pub(crate) struct Trimmer {
    context: ContextManager,
    /// How many of the conversation's messages something else stands for, and what.
    replaced: (usize, Vec<Arc<Message>>),
    /// How often something was left out: a request after that begins otherwise.
    pub(crate) cuts: u32,
}

impl Trimmer {
    pub(crate) fn new(context: ContextManager) -> Self {
        Self { context, replaced: (0, Vec::new()), cuts: 0 }
    }

    /// What of the conversation is sent beside `beside` tokens.
    pub(crate) async fn fit(
        &mut self,
        messages: Vec<Arc<Message>>,
        beside: u64,
    ) -> Result<Fitted, ContextError> {
        let (n_replaced, stand_in) = &self.replaced;
        let rest = messages.iter().skip(*n_replaced).cloned();
        let view: Vec<Arc<Message>> = stand_in.iter().cloned().chain(rest).collect();
        let is_trimmed = *n_replaced > 0;
        let limit = self.context.max_tokens;
        let tokens = self.context.count(&view).await?.saturating_add(beside);
        let usage = Usage::default();
        if limit == 0 || tokens <= limit {
            return Ok(Fitted { messages: view, tokens, fits: true, is_trimmed, usage });
        }
        let Some((head, tail)) = self.context.cut(&view, beside).await? else {
            return Ok(Fitted { messages: view, tokens, fits: false, is_trimmed, usage });
        };
        let (between, usage) = self.context.stand_in(&view[head..tail]).await?;
        let mut kept: Vec<Arc<Message>> = view[..head].to_vec();
        match between {
            Some(summary) => kept.push(summary),
            None => kept.extend(gap(&view, head, tail)),
        }
        self.cuts += 1;
        let newest = view.len() - tail;
        self.replaced = (messages.len() - newest, kept.clone());
        kept.extend_from_slice(&view[tail..]);
        let tokens = self.context.count(&kept).await?.saturating_add(beside);
        Ok(Fitted { fits: tokens <= limit, messages: kept, tokens, is_trimmed: true, usage })
    }
}

/// What is sent between a head and a tail when all between them is left out: nothing, unless the
/// model's words would follow its own, or begin the conversation.
fn gap(view: &[Arc<Message>], head: usize, tail: usize) -> Option<Arc<Message>> {
    let is_models = |message: &Arc<Message>| message.role == Role::Assistant;
    let is_due = view[..head].last().is_none_or(is_models) && view.get(tail).is_some_and(is_models);
    is_due.then(|| Arc::new(Message::user(LEFT_OUT)))
}

/// What the caller's own code gives, or that it crashed: above, where requests are sent, it would be
/// taken for a crash of the provider.
async fn contained<T>(
    whose: &str,
    work: impl FnOnce() -> BoxFuture<Result<T, Cause>>,
) -> Result<T, Cause> {
    let work = AssertUnwindSafe(async move { work().await });
    work.catch_unwind().await.unwrap_or_else(|panic| {
        let text = format!("the {whose}'s code crashed: {}", panic_text(panic.as_ref()));
        Err(Arc::from(Box::<dyn Error + Send + Sync>::from(text)))
    })
}

impl ContextManager {
    async fn count(&self, messages: &[Arc<Message>]) -> Result<u64, ContextError> {
        match &self.counter {
            Some(counter) => contained("counter", || counter(messages.to_vec()))
                .await
                .map_err(ContextError::Counter),
            None => {
                let estimate = CharacterEstimate::new(CHARS_PER_TOKEN);
                let weigh = |message: &Arc<Message>| weigh_message(&estimate, message);
                Ok(estimate.tokens(messages.iter().map(weigh).sum()))
            }
        }
    }

    /// Where the head that stays ends and the tail that stays begins; nothing can be left out when
    /// `None`.
    async fn cut(
        &self,
        view: &[Arc<Message>],
        beside: u64,
    ) -> Result<Option<(usize, usize)>, ContextError> {
        let Some((head, latest)) = self.middle(view).filter(|_| self.keep_recent == 0) else {
            return Ok(self.middle(view));
        };
        let room = match self.summarizer {
            // It needs room itself, and is not made anew with every message.
            Some(_) => self.max_tokens / 2,
            None => self.max_tokens,
        };
        let all: Messages = view.iter().cloned().collect();
        let cuts: Vec<usize> =
            (head + 1..=latest).filter(|cut| compact::keeps_pairs(&all, *cut)).collect();
        // The first of them with which it fits; the last where it never does. Each is counted whole,
        // maybe by a server, so they are halved and not tried one by one.
        let (mut from, mut to) = (0, cuts.len().saturating_sub(1));
        while from < to {
            let half = from.midpoint(to);
            match self.keeps_within(room, beside, &view[..head], None, &view[cuts[half]..]).await? {
                true => to = half,
                false => from = half + 1,
            }
        }
        let tail = cuts.get(to).copied().unwrap_or(latest);
        let (kept, newest) = (&view[..head], &view[tail..]);
        let gap = gap(view, head, tail).filter(|_| self.summarizer.is_none());
        // The note of a gap may be what is too much; where the user speaks next there is none.
        let is_full = gap.is_some() && !self.keeps_within(room, beside, kept, gap, newest).await?;
        Ok(Some((head, cuts.get(to + usize::from(is_full)).copied().unwrap_or(tail))))
    }

    async fn keeps_within(
        &self,
        room: u64,
        beside: u64,
        head: &[Arc<Message>],
        gap: Option<Arc<Message>>,
        tail: &[Arc<Message>],
    ) -> Result<bool, ContextError> {
        let kept: Vec<_> = head.iter().cloned().chain(gap).chain(tail.iter().cloned()).collect();
        Ok(self.count(&kept).await?.saturating_add(beside) <= room)
    }

    /// Where the head that stays ends and the tail that stays begins when no more is kept than was
    /// said; nothing lies between them when `None`.
    fn middle(&self, messages: &[Arc<Message>]) -> Option<(usize, usize)> {
        let n = messages.len();
        let all: Messages = messages.iter().cloned().collect();
        let is_clean = |cut: usize| cut == 0 || compact::keeps_pairs(&all, cut);
        let head = (self.keep_first..n).find(|cut| is_clean(*cut))?;
        let latest = n.checked_sub(self.keep_recent.max(1))?;
        let tail = (head..=latest).rev().find(|cut| is_clean(*cut))?;
        (head < tail).then_some((head, tail))
    }

    async fn stand_in(
        &self,
        middle: &[Arc<Message>],
    ) -> Result<(Option<Arc<Message>>, Usage), ContextError> {
        let Some(summarizer) = &self.summarizer else { return Ok((None, Usage::default())) };
        let summary = contained("summarizer", || summarizer(middle.to_vec()))
            .await
            .map_err(ContextError::Summarizer)?;
        let message = compact::summary_message(&summary.text);
        Ok((Some(Arc::new(message)), summary.usage))
    }
}
