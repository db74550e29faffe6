//! Waits that are cut off when one takes too long, with one timer for all of them.
//!
//! An answer comes in many small pieces. Setting a timer for each and taking it back costs as much as
//! reading it, and more where a thousand answers share a list of timers. So one stays set, and is
//! put off when it sounds while somebody has not waited long enough.

use std::pin::{Pin, pin};
use std::time::Duration;

use futures::future::{Either, select};
use tokio::time::{Instant, Sleep};

/// How long each of several waits may take.
#[derive(Debug)]
pub(super) struct Patience {
    limit: Duration,
    alarm: Pin<Box<Sleep>>,
}

impl Patience {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, alarm: Box::pin(tokio::time::sleep(limit)) }
    }

    /// How long each wait may take.
    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// Lets each wait from now on take so long at most.
    pub(super) fn shorten(&mut self, limit: Duration) {
        if limit < self.limit {
            self.limit = limit;
            self.alarm.as_mut().reset(Instant::now() + limit);
        }
    }

    /// What `work` gives, unless that takes longer than the limit.
    pub(super) async fn wait<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        let since = Instant::now();
        let mut work = pin!(work);
        loop {
            match select(work.as_mut(), self.alarm.as_mut()).await {
                Either::Left((done, _)) => return Some(done),
                Either::Right(_) if since.elapsed() >= self.limit => return None,
                Either::Right(_) => self.alarm.as_mut().reset(since + self.limit),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits as long as each of these, in milliseconds, with a limit of 10, and tells when each
    /// wait came to its end.
    async fn check(works: &[u64], expected: &[(bool, u64)]) {
        let start = Instant::now();
        let mut patience = Patience::new(Duration::from_millis(10));
        let mut seen = Vec::new();
        for millis in works {
            let done = patience.wait(tokio::time::sleep(Duration::from_millis(*millis))).await;
            seen.push((done.is_some(), start.elapsed().as_millis() as u64));
        }
        assert_eq!(seen, expected, "{works:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn each_wait_has_all_of_the_limit() {
        check(&[10, 10, 10], &[(true, 10), (true, 20), (true, 30)]).await;
        check(&[11], &[(false, 10)]).await;
        check(&[7, 7, 11, 4], &[(true, 7), (true, 14), (false, 24), (true, 28)]).await;
        check(&[0, 40, 40], &[(true, 0), (false, 10), (false, 20)]).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_can_only_be_shortened() {
        let start = Instant::now();
        let mut patience = Patience::new(Duration::from_secs(300));
        for (limit, expected_seconds) in [(5, 5), (9, 10), (2, 12)] {
            patience.shorten(Duration::from_secs(limit));
            assert_eq!(patience.wait(std::future::pending::<()>()).await, None);
            assert_eq!(start.elapsed().as_secs(), expected_seconds, "{limit}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_limit_is_none() {
        let work = tokio::time::sleep(Duration::from_secs(3600));
        assert_eq!(Patience::new(Duration::MAX).wait(work).await, Some(()));
    }
}
