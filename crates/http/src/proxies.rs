//! Which proxy the environment names for an address.
//!
//! Invariant: a proxy that cannot be understood is an error, never a straight connection: somebody
//! set it so that nothing goes out without it.

use std::ffi::OsString;

use http::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

use crate::Error;
use crate::error::Problem;

/// Where the proxy for `http` is named, the first that says something; so are those of `https`.
const HTTP: [&str; 4] = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
const HTTPS: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
const NO: [&str; 2] = ["NO_PROXY", "no_proxy"];
/// Set where a request of the web starts a program, whose headers become variables: one of them may
/// be called `Proxy`.
const WEB_REQUEST: &str = "REQUEST_METHOD";
/// Stands for a proxy that cannot be used, so that the exceptions from it still count.
const NOBODY: &str = "http://proxy.invalid";

/// The variables of this process that name the proxies in use; none where everybody is reached
/// without one.
///
/// # Errors
/// When one of them names no proxy that can be used: what would go through it fails.
pub fn proxy_variables() -> Result<Vec<&'static str>, Error> {
    let lookup = |name: &str| std::env::var_os(name);
    let mut variables = Vec::new();
    for names in [HTTPS, HTTP] {
        named(lookup, &names).map_err(Problem::from)?;
        variables.extend(first(lookup, &names).map(|(name, _)| name));
    }
    variables.dedup();
    Ok(variables)
}

/// The proxies for `http` and `https`, and who is reached without them.
pub(crate) struct Proxies {
    matcher: Matcher,
    http: Option<Unusable>,
    https: Option<Unusable>,
}

/// A variable that names no proxy that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{variable} {why}; write it as http://HOST:PORT or https://NAME:PASSWORD@HOST:PORT, or unset it"
)]
pub(crate) struct Unusable {
    variable: &'static str,
    why: &'static str,
}

impl Proxies {
    /// Those that this process's variables name.
    pub(crate) fn of_environment() -> Self {
        Self::named_by(|name| std::env::var_os(name))
    }

    pub(crate) fn named_by(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let [http, https] = [HTTP, HTTPS].map(|names| named(&lookup, &names));
        let exceptions = match first(&lookup, &NO) {
            Some((_, value)) => value.to_string_lossy().into_owned(),
            None => String::new(),
        };
        let mut builder = Matcher::builder();
        // The library takes a star for every name, but for no address.
        if !entries(&exceptions).any(|entry| entry == "*") {
            let of = |named: &Result<String, Unusable>| named.clone().unwrap_or(NOBODY.to_owned());
            let exceptions: Vec<&str> = entries(&exceptions).map(plain).collect();
            builder = builder.http(of(&http)).https(of(&https)).no(exceptions.join(","));
        }
        Self { matcher: builder.build(), http: http.err(), https: https.err() }
    }

    /// The proxy for an address, if it is reached through one.
    pub(crate) fn proxy(&self, uri: &Uri) -> Result<Option<Intercept>, Problem> {
        let unusable = if uri.scheme_str() == Some("https") { self.https } else { self.http };
        match (self.matcher.intercept(uri), unusable) {
            (Some(_), Some(unusable)) => Err(unusable.into()),
            (proxy, _) => Ok(proxy),
        }
    }
}

impl From<Matcher> for Proxies {
    fn from(matcher: Matcher) -> Self {
        Self { matcher, http: None, https: None }
    }
}

/// The proxy that the first of these variables names; empty for none.
fn named(
    lookup: impl Fn(&str) -> Option<OsString>,
    names: &[&'static str],
) -> Result<String, Unusable> {
    let Some((variable, value)) = first(&lookup, names) else { return Ok(String::new()) };
    let usable = || {
        if variable == "HTTP_PROXY" && lookup(WEB_REQUEST).is_some() {
            return Err(
                "may come from a request of the web, as REQUEST_METHOD is set: use http_proxy",
            );
        }
        let value = value.to_str().ok_or("is no text")?.trim();
        check(value).map(|()| value.to_owned())
    };
    usable().map_err(|why| Unusable { variable, why })
}

fn first(
    lookup: impl Fn(&str) -> Option<OsString>,
    names: &[&'static str],
) -> Option<(&'static str, OsString)> {
    let says = |value: &OsString| !value.to_string_lossy().trim().is_empty();
    names.iter().find_map(|name| Some((*name, lookup(name).filter(says)?)))
}

/// Whether this is a proxy's address, and all of it understood: what the library leaves out or reads
/// otherwise than it was meant would be sent to somebody else. The value is told nowhere, since any
/// part of it may be one of a password.
fn check(value: &str) -> Result<(), &'static str> {
    const NO_ADDRESS: &str = "is no address of a proxy";
    const SIGNS: &str = "is no address of a proxy (in a name or a password, `@` is %40, `/` is %2F, \
                         `#` is %23, `:` is %3A and a space is %20)";
    if value.contains('#') || value.contains(char::is_whitespace) {
        return Err(SIGNS);
    }
    let uri: Uri = value.parse().map_err(|_| NO_ADDRESS)?;
    match uri.scheme_str() {
        None | Some("http" | "https") => {}
        Some(kind) if kind.starts_with("socks") => {
            return Err("names a SOCKS proxy, which is not known here");
        }
        Some(_) => return Err("names a proxy of a kind that is not known here"),
    }
    let authority = uri.authority().ok_or(NO_ADDRESS)?;
    if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
        return Err(if value.contains('@') { SIGNS } else { NO_ADDRESS });
    }
    let (who, place) = authority.as_str().rsplit_once('@').unwrap_or(("", authority.as_str()));
    if who.contains('@') {
        return Err(SIGNS);
    }
    let port = match place.strip_prefix(authority.host()) {
        Some("") => None,
        Some(port) => Some(port.strip_prefix(':').ok_or(NO_ADDRESS)?),
        None => return Err(NO_ADDRESS),
    };
    if authority.host().is_empty() {
        return Err(NO_ADDRESS);
    }
    let is_port = |port: &str| {
        port.bytes().all(|byte| byte.is_ascii_digit())
            && port.parse::<u16>().is_ok_and(|port| port > 0)
    };
    if port.is_none_or(is_port) { Ok(()) } else { Err("has a port that is none") }
}

/// The exceptions, with commas or spaces between them.
fn entries(exceptions: &str) -> impl Iterator<Item = &str> {
    exceptions.split(|c: char| c == ',' || c.is_whitespace()).filter(|entry| !entry.is_empty())
}

/// An exception as the library knows it: `*.a.org` is `.a.org`, `[::1]` is `::1`.
fn plain(entry: &str) -> &str {
    match entry.strip_prefix('[').and_then(|entry| entry.strip_suffix(']')) {
        Some(address) => address,
        None => entry.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(entry),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROXY: &str = "http://proxy:3128";

    /// Whom these variables have asked for an address, or why nobody may be.
    fn seen(variables: &[(&str, &str)], address: &str) -> String {
        let value = |name: &str| variables.iter().find(|(set, _)| *set == name);
        let proxies = Proxies::named_by(|name| value(name).map(|(_, value)| value.into()));
        match proxies.proxy(&address.parse().unwrap()) {
            Ok(Some(proxy)) => proxy.uri().to_string(),
            Ok(None) => "straight".to_owned(),
            Err(problem) => problem.to_string().split([';', '(']).next().unwrap().trim().to_owned(),
        }
    }

    #[test]
    fn what_names_a_proxy() {
        for (value, expected) in [
            ("", "straight"),
            (" ", "straight"),
            ("proxy", "http://proxy/"),
            ("proxy:3128", "http://proxy:3128/"),
            (" http://proxy:3128/\n", "http://proxy:3128/"),
            ("HTTPS://me:p%40w@[::1]:1", "https://[::1]:1/"),
            ("http://me@proxy:65535", "http://proxy:65535/"),
            ("http://", "X is no address of a proxy"),
            ("http:///", "X is no address of a proxy"),
            ("http://me:pw@", "X is no address of a proxy"),
            ("http://me:pw@:3128", "X is no address of a proxy"),
            ("/proxy", "X is no address of a proxy"),
            ("http:proxy", "X has a port that is none"),
            ("garbage:::", "X is no address of a proxy"),
            ("http://[::1:3128", "X is no address of a proxy"),
            ("http://proxy:3128/path", "X is no address of a proxy"),
            ("http://proxy:3128?a=b", "X is no address of a proxy"),
            // Parts of a password, which would be read as a host, a path or another name.
            ("http://me:pa ss@proxy", "X is no address of a proxy"),
            ("http://me:1/2@proxy", "X is no address of a proxy"),
            ("http://me:1#2@proxy", "X is no address of a proxy"),
            ("http://me:1?2@proxy", "X is no address of a proxy"),
            ("http://me:p@w@proxy", "X is no address of a proxy"),
            ("http://proxy:", "X has a port that is none"),
            ("http://proxy:0", "X has a port that is none"),
            ("http://proxy:99999", "X has a port that is none"),
            ("http://proxy:+1", "X has a port that is none"),
            ("proxy:web", "X has a port that is none"),
            ("socks5://proxy", "X names a SOCKS proxy, which is not known here"),
            ("ftp://proxy", "X names a proxy of a kind that is not known here"),
        ] {
            for variable in HTTPS {
                let expected = expected.replace('X', variable);
                assert_eq!(seen(&[(variable, value)], "https://a.org"), expected, "{value}");
            }
        }
    }

    #[test]
    fn the_first_variable_that_says_something_counts() {
        let all = [("ALL_PROXY", "all"), ("https_proxy", "low"), ("HTTPS_PROXY", "")];
        assert_eq!(seen(&all, "https://a.org"), "http://low/");
        assert_eq!(seen(&all, "http://a.org"), "http://all/");
        // What cannot be used is not made up for by another.
        let broken = [("ALL_PROXY", "all"), ("https_proxy", "x:y")];
        assert_eq!(seen(&broken, "https://a.org"), "https_proxy has a port that is none");
        assert_eq!(seen(&broken, "http://a.org"), "http://all/");
        let web = [("REQUEST_METHOD", "GET"), ("HTTP_PROXY", "evil"), ("HTTPS_PROXY", "good")];
        assert_eq!(seen(&web, "https://a.org"), "http://good/");
        assert!(seen(&web, "http://a.org").starts_with("HTTP_PROXY may come from a request"));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_text_is_no_proxy() {
        use std::os::unix::ffi::OsStringExt as _;
        let bytes = |name: &str| (name == "HTTPS_PROXY").then(|| OsString::from_vec(vec![0xff]));
        let problem = Proxies::named_by(bytes).proxy(&"https://a.org".parse().unwrap());
        assert!(problem.unwrap_err().to_string().starts_with("HTTPS_PROXY is no text"));
    }

    #[test]
    fn exceptions() {
        for (exceptions, reached) in [
            ("", &[][..]),
            (" , ", &[]),
            ("*", &["a.org", "x.a.org", "notA.org", "127.0.0.1", "[::1]", "10.1.2.3"]),
            ("a.org", &["a.org", "x.a.org"]),
            (".A.ORG", &["a.org", "x.a.org"]),
            ("*.a.org", &["a.org", "x.a.org"]),
            ("b.org  a.org,\tlocalhost", &["a.org", "x.a.org"]),
            ("127.0.0.1, 10.0.0.0/8", &["127.0.0.1", "10.1.2.3"]),
            ("[::1] 10.0.0.0/33", &["[::1]"]),
            ("::/64", &["[::1]"]),
        ] {
            for host in ["a.org", "x.a.org", "notA.org", "127.0.0.1", "[::1]", "10.1.2.3"] {
                let expected =
                    if reached.contains(&host) { "straight" } else { "http://proxy:3128/" };
                for names in [["ALL_PROXY", "NO_PROXY"], ["all_proxy", "no_proxy"]] {
                    let variables = [(names[0], PROXY), (names[1], exceptions)];
                    let address = format!("http://{host}/");
                    assert_eq!(seen(&variables, &address), expected, "{exceptions}: {host}");
                }
            }
        }
    }
}
