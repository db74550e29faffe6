//! Events as JSON Lines: one object a line.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::Recorder;
use super::queue::{Queue, Sink};
use crate::RecordedEvent;

/// For the owner only: events hold what tools saw.
const FILE_MODE: u32 = 0o600;
/// What each line begins with.
const LINE_START: &[u8] = b"{\"seq\":";
/// How much of a file is looked through at once.
const READ_BYTES: usize = 64 * 1024;

/// Writes each event as a line of JSON, from a thread of its own, so that a slow disk delays
/// nobody.
///
/// No more than [`QUEUE_EVENTS_MAX`](crate::QUEUE_EVENTS_MAX) events wait; those that come meanwhile
/// are dropped and counted, and leave a gap in the numbers. What cannot be written is counted, too.
/// Nothing is synced to the disk. Dropping it waits until the events that wait were written.
///
/// ```
/// use heeler_core::Timestamp;
/// use heeler_sessions::{JsonLinesRecorder, Recorder, RecordedEvent, RecordedEventKind, TurnId};
///
/// let recorder = JsonLinesRecorder::new(std::io::stderr())?;
/// recorder.record(&RecordedEvent::new(TurnId(1), 0, Timestamp(0), RecordedEventKind::ModelRequest));
/// recorder.flush()?;
/// assert_eq!((recorder.dropped(), recorder.failed()), (0, 0));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct JsonLinesRecorder {
    /// The last number; held while an event is queued, so that lines come in the order of numbers.
    seq: Mutex<u64>,
    queue: Queue,
}

impl JsonLinesRecorder {
    /// Writes to `writer`, the first event with the number 1.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub fn new(writer: impl Write + Send + 'static) -> io::Result<Self> {
        Self::after(0, writer)
    }

    /// Writes to the end of a file, which is made when it is missing, for its owner only. Numbers
    /// go on after the last in it. A line at its end that was cut short, as by the death of its
    /// writer, is removed.
    ///
    /// # Errors
    /// When the file cannot be opened, holds something else than events, or another recorder has
    /// it open; the message names the file.
    pub fn append_to(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let opened = open(path).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot record to `{}`: {error}", path.display()))
        })?;
        Self::after(opened.0, opened.1)
    }

    fn after(seq: u64, writer: impl Write + Send + 'static) -> io::Result<Self> {
        let queue = Queue::start(Lines { writer, is_torn: false })?;
        Ok(Self { seq: Mutex::new(seq), queue })
    }

    /// Waits until all that was recorded before is written. It blocks: not for the middle of a run.
    ///
    /// # Errors
    /// When the writer cannot be flushed, or the thread is gone.
    pub fn flush(&self) -> io::Result<()> {
        self.queue.flush()
    }

    /// How many events were dropped because the queue was full.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }

    /// How many events could not be written.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.queue.failed()
    }
}

impl Recorder for JsonLinesRecorder {
    fn record(&self, event: &RecordedEvent) {
        let mut seq = self.seq.lock().unwrap_or_else(PoisonError::into_inner);
        *seq = seq.saturating_add(1);
        self.queue.push(event.numbered(*seq));
    }

    fn is_immediate(&self) -> bool {
        true
    }
}

struct Lines<W> {
    writer: W,
    /// Whether a part of a line was written, and nothing after it.
    is_torn: bool,
}

impl<W: Write + Send + 'static> Sink for Lines<W> {
    fn take(&mut self, event: RecordedEvent) -> io::Result<()> {
        // What was cut short stays a line of its own, and costs no other.
        let mut line = if self.is_torn { vec![b'\n'] } else { Vec::new() };
        serde_json::to_writer(&mut line, &event)?;
        line.push(b'\n');
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            match self.writer.write(rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => rest = &rest[n..],
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            self.is_torn = !rest.is_empty();
        }
        Ok(())
    }

    fn settle(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Opens a file of events, and says the last number in it.
fn open(path: &Path) -> io::Result<(u64, File)> {
    let options = &mut OpenOptions::new();
    let file = options.read(true).append(true).create(true).mode(FILE_MODE).open(path)?;
    // Two writers would give the same numbers.
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => io::Error::other("another recorder has it open"),
        TryLockError::Error(error) => error,
    })?;
    let length = file.metadata()?.len();
    let end = line_before(&file, length)?;
    check_start(&file, end, length)?;
    if end == 0 {
        file.set_len(0)?;
        return Ok((0, file));
    }
    let start = line_before(&file, end - 1)?;
    let seq = check_start(&file, start, end)?;
    file.set_len(end)?;
    Ok((seq, file))
}

/// Where the line begins that goes on at `end`: after the last line feed before it.
fn line_before(file: &File, mut end: u64) -> io::Result<u64> {
    let mut buffer = vec![0; READ_BYTES];
    while end > 0 {
        let n = end.min(READ_BYTES as u64);
        let part = &mut buffer[..usize::try_from(n).unwrap_or(READ_BYTES)];
        file.read_exact_at(part, end - n)?;
        if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
            return Ok(end - n + at as u64 + 1);
        }
        end -= n;
    }
    Ok(0)
}

/// Checks that what stands between `start` and `end` is an event, or the beginning of one, and
/// says its number: what is somebody else's is neither cut nor written to.
fn check_start(file: &File, start: u64, end: u64) -> io::Result<u64> {
    let mut buffer = [0; LINE_START.len() + 21];
    let n = buffer.len().min(usize::try_from(end - start).unwrap_or(usize::MAX));
    file.read_exact_at(&mut buffer[..n], start)?;
    let known = n.min(LINE_START.len());
    if buffer[..known] != LINE_START[..known] {
        let message = format!("what stands at byte {start} is no event; choose another file");
        return Err(io::Error::new(ErrorKind::InvalidData, message));
    }
    let digits = buffer[known..n].iter().take_while(|byte| byte.is_ascii_digit());
    Ok(digits
        .fold(0, |seq: u64, digit| seq.saturating_mul(10).saturating_add(u64::from(digit - b'0'))))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;

    use expect_test::{Expect, expect};

    use super::*;
    use crate::RecordedEventKind::ModelRequest;
    use crate::samples::{event, kinds};

    /// Records this many events to a file that holds `before`, and tells what it holds then, with
    /// only the numbers of events that can be read.
    fn check(before: &str, n: usize, expected: Expect) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        fs::write(&path, before).unwrap();
        let told = match JsonLinesRecorder::append_to(&path) {
            Ok(recorder) => {
                (0..n).for_each(|_| recorder.record(&event(ModelRequest)));
                recorder.flush().unwrap();
                let text = fs::read_to_string(&path).unwrap();
                let line = |line: &str| match serde_json::from_str::<RecordedEvent>(line) {
                    Ok(event) => format!("{}\n", event.seq),
                    Err(_) => format!("{line}\n"),
                };
                text.lines().map(line).collect()
            }
            Err(error) => {
                assert_eq!(fs::read_to_string(&path).unwrap(), before);
                error.to_string().replace(&folder.path().display().to_string(), "FOLDER")
            }
        };
        expected.assert_eq(&told);
    }

    fn line(seq: u64) -> String {
        serde_json::to_string(&event(ModelRequest).numbered(seq)).unwrap() + "\n"
    }

    #[test]
    fn numbers_go_on_after_what_the_file_holds() {
        check(
            "",
            2,
            expect![[r#"
            1
            2
        "#]],
        );
        check(
            &(line(1) + &line(41)),
            2,
            expect![[r#"
            1
            41
            42
            43
        "#]],
        );
        check(
            &line(u64::MAX - 1),
            1,
            expect![[r#"
            18446744073709551614
            18446744073709551615
        "#]],
        );
    }

    #[test]
    fn a_line_that_was_cut_short_is_removed_wherever_it_was_cut() {
        let (whole, cut) = (line(7), line(8));
        for at in 0..cut.len() {
            check(
                &(whole.clone() + &cut[..at]),
                1,
                expect![[r#"
                7
                8
            "#]],
            );
        }
        check(
            &cut[..20],
            1,
            expect![[r#"
            1
        "#]],
        );
    }

    #[test]
    fn a_file_of_something_else_stays_as_it_is() {
        let refused = || {
            expect![
                "cannot record to `FOLDER/events.jsonl`: what stands at byte 0 is no event; choose another file"
            ]
        };
        check(
            "[package]\nname",
            1,
            expect![
                "cannot record to `FOLDER/events.jsonl`: what stands at byte 10 is no event; choose another file"
            ],
        );
        check("[package]\n", 1, refused());
        check("name", 1, refused());
    }

    #[test]
    fn a_long_line_is_found_and_a_file_has_one_writer_and_is_its_owners() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let recorder = JsonLinesRecorder::append_to(&path).unwrap();
        let error = "x".repeat(3 * READ_BYTES);
        let usage = heeler_core::Usage::default();
        recorder.record(&event(crate::RecordedEventKind::TurnError { error, usage }));
        recorder.flush().unwrap();
        let second = JsonLinesRecorder::append_to(&path).err().unwrap().to_string();
        assert!(second.ends_with("events.jsonl`: another recorder has it open"), "{second}");
        drop(recorder);
        let recorder = JsonLinesRecorder::append_to(&path).unwrap();
        for kind in kinds() {
            recorder.record(&event(kind));
        }
        drop(recorder);
        let text = fs::read_to_string(&path).unwrap();
        let events: Vec<RecordedEvent> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let expected: Vec<RecordedEvent> =
            kinds().into_iter().zip(2..).map(|(kind, seq)| event(kind).numbered(seq)).collect();
        assert_eq!((events[0].seq, &events[1..]), (1, &expected[..]));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let missing = JsonLinesRecorder::append_to(folder.path().join("no/file")).err().unwrap();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    }

    /// Takes this much with each write, then fails; in the end, everything.
    #[derive(Clone)]
    struct Failing {
        plan: Arc<Mutex<VecDeque<Option<usize>>>>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Failing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let n = match self.plan.lock().unwrap().pop_front() {
                Some(Some(n)) => n.min(bytes.len()),
                Some(None) => return Err(io::Error::other("disk full")),
                None => bytes.len(),
            };
            self.written.lock().unwrap().extend(&bytes[..n]);
            Ok(n)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_write_that_fails_is_counted_and_costs_no_other_line() {
        let plan = Arc::new(Mutex::new([None, Some(9), Some(0), Some(5), None].into()));
        let written = Arc::new(Mutex::new(Vec::new()));
        let writer = Failing { plan, written: Arc::clone(&written) };
        let recorder = JsonLinesRecorder::new(writer).unwrap();
        for _ in 0..5 {
            recorder.record(&event(ModelRequest));
        }
        recorder.flush().unwrap();
        assert_eq!((recorder.failed(), recorder.dropped()), (3, 0));
        let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        let lines: Vec<&str> = text.lines().map(|line| &line[..line.len().min(9)]).collect();
        assert_eq!(lines, [r#"{"seq":2,"#, r#"{"se"#, r#"{"seq":4,"#, r#"{"seq":5,"#]);
    }
}
