//! Redirects to names that mean something else a moment later, told by a server of names.

use heeler_http::{Client, Guard, Options, Resolver};
use heeler_testkit::NameServer;

use super::WebFetch;
use super::tests::fetched;
use crate::web::Allowed;
use crate::web::testing::{answer, server_at};

/// Stands for the public internet, and is of this machine: the same as `public` below.
const PUBLIC: &str = "127.0.0.2";

/// A tool for which names mean what this server says, and one address of this machine is public.
fn asking(names: &NameServer) -> WebFetch {
    let public = std::net::IpAddr::from([127, 0, 0, 2]);
    let allows =
        move |host: &str, address| address == public || Allowed::default().allows(host, address);
    let (guard, asker) = (Some(Guard::new(allows)), names.asker());
    let resolver = Some(Resolver::new(move |name| asker.ask(name)));
    WebFetch::by(Client::new(Options { guard, resolver, ..Options::default() }), Allowed::default())
}

#[tokio::test]
async fn a_redirect_to_a_name_that_means_something_near_by_then_gets_nowhere() {
    for (location, n_fetched) in [("/secret", 1), ("http://other.example:PORT/secret", 2)] {
        let names = NameServer::answering(&[&[PUBLIC], &["127.0.0.1"]]);
        // A port of the public address that is free at the near one, too.
        let (served, near, port) = loop {
            let moved = format!("302 Found\r\nlocation: {location}");
            let near = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let port = near.local_addr().unwrap().port();
            let moved = answer(&moved.replace("PORT", &port.to_string()), "");
            if let Ok(served) = server_at((PUBLIC, port), &[&moved]) {
                break (served, near, port);
            }
        };
        let first = format!("http://rebind.example:{port}/");
        let mut said = fetched(asking(&names), &first, 0, false).await;
        assert!(served.asked().starts_with("GET / "));
        if n_fetched == 2 {
            // Another host is asked for again, by its own rules.
            assert_eq!(names.n_asked(), 1, "{said:?}");
            assert!(said.text_content().contains("other.example"), "{said:?}");
            let second = format!("http://other.example:{port}/secret");
            said = fetched(asking(&names), &second, 0, false).await;
        }
        let said = said.text_content();
        assert!(said.contains("is 127.0.0.1, which may not be connected to"), "{location}: {said}");
        assert_eq!(names.n_asked(), 2);
        near.set_nonblocking(true).unwrap();
        assert!(near.accept().is_err(), "{location}");
    }
}
