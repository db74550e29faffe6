//! Answers that begin before their request was read.

use tokio::sync::oneshot;

use super::*;

/// More than any system keeps for a reader that does not read, in pieces of every kind.
fn body() -> Vec<Bytes> {
    let chunk = |n: u8, length| Bytes::from(vec![n; length]);
    (0..=255).flat_map(|n| [chunk(n, 1000), chunk(n, 2000), chunk(n, 128 * 1024)]).collect()
}

/// A server that answers as soon as it has read anything, and reads on when it is told to. What it
/// has said until then may not be the end: once it has read all of a body of this length, it says
/// so and answers one more request. Gives the body as far as it came.
async fn server(
    answer: &'static str,
    length: usize,
) -> (String, oneshot::Sender<()>, JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (go, told) = oneshot::channel();
    let task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        // There is no other connection.
        drop(listener);
        let mut read = vec![stream.read_u8().await.unwrap()];
        stream.write_all(answer.as_bytes()).await.unwrap();
        told.await.unwrap();
        let head = |read: &[u8]| read.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        let mut head_bytes = None;
        while head_bytes.is_none_or(|head_bytes| read.len() < head_bytes + length)
            && stream.read_buf(&mut read).await.is_ok_and(|n| n > 0)
        {
            head_bytes = head_bytes.or_else(|| head(&read).map(|at| at + 4));
        }
        let body = read.split_off(head_bytes.unwrap());
        if body.len() == length {
            stream.write_all(b"3\r\nall\r\n0\r\n\r\n").await.unwrap();
            stream.read_u8().await.unwrap();
            stream.write_all(ANSWER.as_bytes()).await.unwrap();
        }
        body
    });
    (url, go, task)
}

#[tokio::test]
async fn a_success_may_begin_before_the_request_is_read() {
    let sent = body().concat();
    let begun = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nwait\r\n";
    let (url, go, came) = server(begun, sent.len()).await;
    let client = straight();
    let mut answer = client.post(&target(&url), body()).await.unwrap();
    assert_eq!(answer.next().await.unwrap(), Some(&b"wait"[..]));
    go.send(()).unwrap();
    assert_eq!(answer.next().await.unwrap(), Some(&b"all"[..]));
    assert_eq!(answer.next().await.unwrap(), None);
    // And the connection, which has taken all of it, serves the next.
    assert_eq!(ask(&client, &url, "2").await, "200 ok");
    assert!(came.await.unwrap() == sent);
}

#[tokio::test]
async fn a_refusal_ends_without_the_request_being_read() {
    let length = body().concat().len();
    let refused = "HTTP/1.1 413 Long\r\ncontent-length: 2\r\n\r\nno";
    let (url, go, came) = server(refused, length).await;
    let mut answer = straight().post(&target(&url), body()).await.unwrap();
    assert_eq!((answer.head().status(), answer.next().await.unwrap()), (413, Some(&b"no"[..])));
    assert_eq!(answer.next().await.unwrap(), None);
    go.send(()).unwrap();
    assert!(came.await.unwrap().len() < length);
}
