//! HTTP/1.1 as model providers need it: a request with a body of known length, an answer that is
//! read piece by piece while it comes.
//!
//! A thousand sessions in one process have a thousand connections. One of a general client keeps
//! 36 kB of buffers and queues; one of ours is a socket, and room to read only while something is
//! there to be read. What stands on this page is all there is: no redirects, no cookies, no
//! compression, no HTTP/2. The names of hosts, TLS, proxies and the form of heads are read by
//! libraries; what is ours is whose turn it is on a connection, and where a body ends.
//!
//! Read in this order: [`client`](Client) (a request's way), `proxies` (which the environment names), `connect` (to a
//! server or through a proxy), `authorities` (who vouches for it), `pool` (connections that wait), `connection` (bytes in, bytes out), `request` (the
//! bytes of a request), `head` and `body` (what an answer's bytes mean).

mod answer;
mod authorities;
mod body;
mod client;
mod connect;
mod connection;
mod error;
mod guard;
mod head;
mod pieces;
mod pool;
mod proxies;
mod request;

pub use answer::Answer;
pub use client::{Client, Options};
pub use error::Error;
pub use guard::{Guard, Resolver};
pub use head::Head;
pub use http::{HeaderMap, HeaderName, HeaderValue};
pub use proxies::proxy_variables;
pub use request::Target;
