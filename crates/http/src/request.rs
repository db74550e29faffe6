//! A request as bytes.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{AUTHORIZATION, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Uri};
use percent_encoding::percent_decode_str;

use crate::Error;
use crate::error::Problem;

/// Where requests go, and the headers they all carry.
#[derive(Clone)]
pub struct Target {
    uri: Uri,
    origin: String,
    /// Each with its line end. What it holds may be secret.
    headers: Vec<u8>,
    /// Whether they say these, which the client says otherwise.
    has_host: bool,
    has_user_agent: bool,
}

impl Target {
    /// A target at this address; `content-length` is written by the client, and so are `host` and
    /// `user-agent` unless they are among the headers. Who is named in the address is told in the
    /// headers, unless these say who asks.
    ///
    /// # Errors
    /// When the address is not one of a host, with http or https.
    pub fn new(address: &str, headers: &HeaderMap) -> Result<Self, Error> {
        let bad = || Problem::Address(address.to_owned());
        let uri: Uri = address.parse().map_err(|_| bad())?;
        let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"));
        let origin = match (scheme, uri.host(), uri.port_u16()) {
            (None, _, _) | (_, None | Some(""), _) => return Err(bad().into()),
            (Some(scheme), Some(host), None) => format!("{scheme}://{host}"),
            (Some(scheme), Some(host), Some(port)) => format!("{scheme}://{host}:{port}"),
        };
        let mut bytes = Vec::new();
        for (name, value) in headers {
            header(&mut bytes, name.as_str(), value);
        }
        if let Some(who) = who(&uri)
            && !headers.contains_key(AUTHORIZATION)
        {
            header(&mut bytes, AUTHORIZATION.as_str(), &basic(who).ok_or_else(bad)?);
        }
        let (has_host, has_user_agent) =
            (headers.contains_key(HOST), headers.contains_key(USER_AGENT));
        Ok(Self { uri, origin, headers: bytes, has_host, has_user_agent })
    }

    /// Scheme, host and port.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The address without who asks and without a query, either of which may be a key.
    #[must_use]
    pub fn address(&self) -> String {
        format!("{}{}", self.origin, self.uri.path())
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &str {
        self.uri.host().unwrap_or_default()
    }

    /// What the address tells of who asks that nobody is to see, in each form that a server may
    /// echo: what proves it as it is written and as it is meant, and all of it as the header has it.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let Some(who) = who(&self.uri) else { return Vec::new() };
        let (name, password) = named(who);
        // Where there is no password, the name is the key.
        let proof = if password.is_empty() { name } else { password };
        let meant = percent_decode_str(proof).decode_utf8_lossy().into_owned();
        vec![proof.to_owned(), meant, told(who)]
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The head of a request with a body of this length, or of one that only asks. A proxy that
    /// reads the request itself is told the whole address, and who asks.
    pub(crate) fn head(
        &self,
        length: Option<usize>,
        user_agent: &str,
        proxy: Option<&Proxy>,
    ) -> Vec<u8> {
        let path = self.uri.path_and_query().map_or("/", |path| path.as_str());
        let host = self.origin.split_once("://").map_or("", |(_, host)| host);
        // The first word and the client's own headers without what they say take less than 128.
        let told = [path, &self.origin, host, user_agent].into_iter().map(str::len).sum::<usize>();
        let mut head = String::with_capacity(told + self.headers.len() + 128);
        head.push_str(if length.is_some() { "POST " } else { "GET " });
        if proxy.is_some() {
            head.push_str(&self.origin);
        }
        head.push_str(if path.starts_with('/') { "" } else { "/" });
        head.push_str(path);
        // Writing to a string does not fail, here and below.
        head.push_str(" HTTP/1.1\r\n");
        if !self.has_host {
            let _ = write!(head, "host: {host}\r\n");
        }
        if let Some(length) = length {
            let _ = write!(head, "content-length: {length}\r\n");
        }
        let mut head = head.into_bytes();
        if let Some(Proxy { authorization: Some(value) }) = proxy {
            header(&mut head, "proxy-authorization", value);
        }
        if !self.has_user_agent {
            head.extend_from_slice(b"user-agent: ");
            head.extend_from_slice(user_agent.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(&self.headers);
        head.extend_from_slice(b"\r\n");
        head
    }
}

/// The head of a request that has a proxy connect to this host and port.
pub(crate) fn tunnel_head(
    place: &str,
    user_agent: Option<&HeaderValue>,
    authorization: Option<&HeaderValue>,
) -> Vec<u8> {
    let mut head = format!("CONNECT {place} HTTP/1.1\r\nhost: {place}\r\n").into_bytes();
    let told = [("user-agent", user_agent), ("proxy-authorization", authorization)];
    for (name, value) in told {
        if let Some(value) = value {
            header(&mut head, name, value);
        }
    }
    head.extend_from_slice(b"\r\n");
    head
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Neither headers nor who is named in the address.
        f.debug_struct("Target").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// A proxy that reads requests itself, as those do that are asked for plain HTTP.
#[derive(Debug, Clone)]
pub(crate) struct Proxy {
    pub(crate) authorization: Option<HeaderValue>,
}

/// `name:password` of an address.
fn who(uri: &Uri) -> Option<&str> {
    Some(uri.authority()?.as_str().rsplit_once('@')?.0)
}

fn named(who: &str) -> (&str, &str) {
    who.split_once(':').unwrap_or((who, ""))
}

/// `name:password` as addresses write it, as headers do.
fn told(who: &str) -> String {
    let (name, password) = named(who);
    let part = |text| percent_decode_str(text).collect::<Vec<u8>>();
    BASE64_STANDARD.encode([&part(name)[..], b":", &part(password)].concat())
}

fn basic(who: &str) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("Basic {}", told(who))).ok()
}

fn header(out: &mut Vec<u8>, name: &str, value: &HeaderValue) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value.as_bytes());
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(address: &str, proxy: Option<&Proxy>, expected: Expect) {
        let headers = [("x-api-key", "k"), ("accept", "text/event-stream")];
        let headers = headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let seen = match Target::new(address, &HeaderMap::from_iter(headers)) {
            Ok(target) => {
                let shown = format!("{target:?}");
                assert!(!["x-api-key", "p%40w"].iter().any(|secret| shown.contains(secret)));
                let head = String::from_utf8(target.head(Some(12), "heeler/1", proxy)).unwrap();
                assert!(head.ends_with("\r\n\r\n"));
                let shown = target.address();
                assert!(
                    shown.starts_with(target.origin()) && !shown.contains(['?', '@']),
                    "{shown}"
                );
                format!("{}\n{}", target.origin(), head.trim_end().replace('\r', ""))
            }
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&seen);
    }

    #[test]
    fn heads() {
        check(
            "https://api.example.com/v1/messages",
            None,
            expect![[r#"
                https://api.example.com
                POST /v1/messages HTTP/1.1
                host: api.example.com
                content-length: 12
                user-agent: heeler/1
                x-api-key: k
                accept: text/event-stream"#]],
        );
        let authorization = Some(HeaderValue::from_static("Basic eDp5"));
        check(
            "http://user:p%40w@[::1]:8080?a=b",
            Some(&Proxy { authorization }),
            expect![[r#"
                http://[::1]:8080
                POST http://[::1]:8080/?a=b HTTP/1.1
                host: [::1]:8080
                content-length: 12
                proxy-authorization: Basic eDp5
                user-agent: heeler/1
                x-api-key: k
                accept: text/event-stream
                authorization: Basic dXNlcjpwQHc="#]],
        );
    }

    #[test]
    fn a_host_and_a_user_agent_are_told_once() {
        let headers = [("user-agent", "other/2"), ("host", "inner.example")];
        let headers = headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let target = Target::new("http://a.org/v1", &HeaderMap::from_iter(headers)).unwrap();
        let head = String::from_utf8(target.head(None, "heeler/1", None)).unwrap();
        expect![[r#"
            GET /v1 HTTP/1.1
            user-agent: other/2
            host: inner.example

        "#]]
        .assert_eq(&head.replace('\r', ""));
    }

    #[test]
    fn what_of_an_address_nobody_is_to_see() {
        for (address, expected) in [
            ("http://a.org/v1", expect!["[]"]),
            ("http://user:p%40w@a.org/v1", expect![[r#"["p%40w", "p@w", "dXNlcjpwQHc="]"#]]),
            ("http://key%3D@a.org", expect![[r#"["key%3D", "key=", "a2V5PTo="]"#]]),
            ("http://@a.org", expect![[r#"["", "", "Og=="]"#]]),
        ] {
            let target = Target::new(address, &HeaderMap::new()).unwrap();
            expected.assert_eq(&format!("{:?}", target.secrets()));
        }
    }

    #[test]
    fn what_is_no_address() {
        for bad in
            ["", "/v1", "api.example.com", "ftp://a/", "http://", "https:///v1", "http://a b"]
        {
            let expected = format!("`{bad}` is no address with a host, http or https; correct it");
            assert_eq!(Target::new(bad, &HeaderMap::new()).unwrap_err().to_string(), expected);
        }
    }
}
