//! The promise of who searches.

use heeler_core::{BoxFuture, ToolError};

/// Somebody who searches the web.
///
/// `WebSearch` asks once for each call, with a question that is not empty and within its limits. An
/// implementation asks its server once and never again by itself; it ends within a minute whatever
/// the server does, since who waits for it may give up before; dropping the future stops it. What it
/// gives is as the server said it: the tool bounds, cleans and filters.
///
/// An error is in words for the model and names the server, what it said and the next step. No key
/// is ever in one, nor in a result.
pub trait SearchBackend: Send + Sync + 'static {
    /// What it is called, such as `Brave Search`.
    fn title(&self) -> &str;
    /// The host that is asked, which rules speak of.
    fn host(&self) -> &str;
    /// Asks.
    fn search(&self, request: SearchRequest) -> BoxFuture<Result<SearchPage, ToolError>>;
}

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    /// The question, one line.
    pub query: String,
    /// How many results are wanted, from 1 to [`SEARCH_RESULTS_MAX`](crate::SEARCH_RESULTS_MAX).
    pub count: usize,
    /// Which part of them, from 1.
    pub page: usize,
    /// Hosts that results have to be of, or below; any when there are none. What comes from elsewhere
    /// is left out afterwards, so passing this on only makes more of a page.
    pub allowed_domains: Vec<String>,
    /// Hosts that no result is to be of, or below; as above.
    pub blocked_domains: Vec<String>,
}

/// A part of what was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchPage {
    /// In the server's order.
    pub hits: Vec<SearchHit>,
    /// Whether there may be a next page.
    pub has_more: bool,
    /// What the model should know of this page, if anything.
    pub note: String,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchHit {
    /// What the page calls itself.
    pub title: String,
    /// Its address.
    pub url: String,
    /// What it says about the question.
    pub snippet: String,
    /// When it was written, as the server says it; empty when it does not.
    pub published: String,
}

impl SearchRequest {
    /// The question with its domains as operators that most engines know, as long as that has no more
    /// characters than this.
    pub(super) fn with_operators(&self, chars_max: usize) -> String {
        let sites = |domain: &String| format!("site:{domain}");
        let allowed: Vec<String> = self.allowed_domains.iter().map(sites).collect();
        let blocked = self.blocked_domains.iter().map(|domain| format!("-site:{domain}"));
        let operators = [allowed.join(" OR ")].into_iter().chain(blocked);
        let mut query = self.query.clone();
        for operator in operators.filter(|operator| !operator.is_empty()) {
            if query.chars().count() + 1 + operator.chars().count() <= chars_max {
                query = format!("{query} {operator}");
            }
        }
        query
    }
}
