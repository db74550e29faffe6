//! Walks a journal: checks every line's checksum, the chain and the order, and finds its end.

use std::io::{self, BufRead};

use heeler_core::{JournalDamage, Seq, SessionHeader};

use super::ahead::{Ahead, Found, Link, Sealed};
use super::header::{HeaderError, decode_header};
use super::line::{RecordLine, Sum};
use super::lines::Lines;
use super::typed::is_newer;

/// The most places of damage that are told apart; what comes after them is counted in one more.
pub const DAMAGE_MAX: usize = 1000;

/// What a walk found besides the records.
#[derive(Debug, PartialEq)]
pub(crate) struct Scanned {
    pub(crate) header: SessionHeader,
    pub(crate) damage: Vec<JournalDamage>,
    /// The first record that only a newer heeler can read.
    pub(crate) newer: Option<String>,
    /// Bytes after the end that were left out.
    pub(crate) torn_bytes: u64,
    pub(crate) end: End,
}

/// Where a journal ends and what the next record must follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// The bytes up to here are kept.
    pub(crate) length: u64,
    /// How many lines they are, the header included.
    pub(crate) lines: u64,
    /// The last record whose envelope could be read; 0 before the first.
    pub(crate) seq: Seq,
    /// Unreadable lines after that record; each may have been one.
    pub(crate) unreadable: u64,
    /// The checksum of the last line.
    pub(crate) sum: Sum,
    /// Whether the last line lacks its newline, which is then written before what is appended.
    pub(crate) is_open: bool,
}

impl End {
    /// Whether there is nothing before it but the header.
    pub(crate) fn is_before_records(&self) -> bool {
        self.lines <= 1
    }

    /// The number of the next record if each unreadable line was one.
    fn first_free(&self) -> Seq {
        self.seq.saturating_add(self.unreadable).saturating_add(1)
    }

    /// Whether a record of this number may come next. Behind unreadable lines it may take the
    /// number after the last readable record, or leave room for them.
    pub(crate) fn is_followed_by(&self, seq: Seq) -> bool {
        let first = self.seq.saturating_add(1);
        (first..=first.saturating_add(self.unreadable)).contains(&seq)
    }
}

/// Why a journal cannot be walked.
#[derive(Debug)]
pub(crate) enum ScanError {
    Header(HeaderError),
    Io(io::Error),
}

impl From<io::Error> for ScanError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Walks a journal and shows `visit` every sound record, which answers what is wrong with its
/// body, if anything.
pub(crate) fn scan(
    reader: impl BufRead,
    mut visit: impl FnMut(&RecordLine<'_>) -> Result<(), String>,
) -> Result<Scanned, ScanError> {
    let mut lines = Lines::new(reader);
    let walk = begin(&mut lines)?;
    walk_on(walk, lines, &mut visit)
}

/// Reads the header alone.
pub(crate) fn scan_header(reader: impl BufRead) -> Result<SessionHeader, ScanError> {
    Ok(begin(&mut Lines::new(reader))?.scanned.header)
}

/// As [`scan`], of a reader that stands at `end`: what comes before is taken as it is.
pub(crate) fn scan_from(
    header: SessionHeader,
    end: End,
    reader: impl BufRead,
    mut visit: impl FnMut(&RecordLine<'_>) -> Result<(), String>,
) -> Result<Scanned, ScanError> {
    let scanned = Scanned { header, damage: Vec::new(), newer: None, torn_bytes: 0, end };
    walk_on(Walk::begin(scanned), Lines::new(reader), &mut visit)
}

fn walk_on(
    mut walk: Walk,
    lines: Lines<impl BufRead>,
    visit: &mut impl FnMut(&RecordLine<'_>) -> Result<(), String>,
) -> Result<Scanned, ScanError> {
    let mut lines = Ahead::new(lines);
    let mut bytes = Vec::new();
    // What an append that was cut short leaves has no line break: that, if nothing follows it, is the
    // torn tail. Any other line that is not sound was changed, and is damage.
    let mut suspect_bytes = 0;
    while let Some(length) = lines.next(&mut bytes)? {
        if suspect_bytes > 0 {
            walk.unreadable_line(suspect_bytes);
            suspect_bytes = 0;
        }
        walk.scanned.end.lines += 1;
        match lines.found(&bytes, length) {
            Found::Sealed(line) => {
                if line.is_open {
                    walk.scanned.end.is_open = true;
                    walk.scanned.torn_bytes = length - line.length;
                }
                walk.sealed_line(&line, &mut lines, visit)?;
            }
            Found::Changed => walk.unreadable_line(length),
            Found::Unended => suspect_bytes = length,
        }
    }
    Ok(walk.finish(suspect_bytes))
}

/// Reads the header.
fn begin(lines: &mut Lines<impl BufRead>) -> Result<Walk, ScanError> {
    let missing = || ScanError::Header(HeaderError::Missing);
    let line = lines.next()?.ok_or_else(missing)?;
    // A header too long to be one has no whole line either, so it is told by its length.
    let whole = match line.whole {
        Some(whole) => whole,
        None if line.length < super::HEADER_BYTES_MAX as u64 => return Err(missing()),
        None => b"",
    };
    let (header, sum) = decode_header(whole).map_err(ScanError::Header)?;
    let end = End { length: line.length, lines: 1, seq: 0, unreadable: 0, sum, is_open: false };
    let scanned = Scanned { header, damage: Vec::new(), newer: None, torn_bytes: 0, end };
    Ok(Walk::begin(scanned))
}

/// A walk on its way.
struct Walk {
    scanned: Scanned,
    /// The checksum of the last record that was read, or of the header.
    last_sum: Sum,
    /// How many of the damages come before that record, or are of it.
    n_damages_before: usize,
    n_damages_untold: u64,
}

impl Walk {
    fn begin(scanned: Scanned) -> Self {
        Self { last_sum: scanned.end.sum, scanned, n_damages_before: 0, n_damages_untold: 0 }
    }

    /// The current line is unreadable, or the one before it turned out to be.
    fn unreadable_line(&mut self, length: u64) {
        self.scanned.end.length += length;
        self.scanned.end.sum = Sum::UNKNOWN;
        self.unread("the line's checksum is wrong".to_owned());
    }

    /// The current line is as it was written.
    fn sealed_line(
        &mut self,
        line: &Sealed<'_>,
        ahead: &mut Ahead<impl BufRead>,
        visit: &mut impl FnMut(&RecordLine<'_>) -> Result<(), String>,
    ) -> io::Result<()> {
        let before = self.scanned.end;
        self.scanned.end.length += line.length;
        self.scanned.end.sum = line.sum;
        let Some(record) = RecordLine::parse(line.said) else {
            self.unread("the line is not a record".to_owned());
            return Ok(());
        };
        let link = Link { seq: record.seq, prev: record.prev, sum: line.sum };
        let follows = record.prev == before.sum || link.follows(before.seq, self.last_sum);
        if !follows
            && record.seq > before.seq.saturating_add(1)
            && ahead.is_astray(link, before.seq, self.last_sum)?
        {
            // What comes with it strayed, too, and is no more to be followed.
            self.scanned.end.sum = before.sum;
            self.unread(format!("record {} stands here too early, out of order", record.seq));
            return Ok(());
        }
        let expected = before.first_free();
        if !follows && before.sum != Sum::UNKNOWN {
            let what =
                "the chain is broken here: the line before was changed or lines were removed";
            self.damage(expected, what.to_owned());
        }
        if record.seq <= before.seq {
            self.unread(format!("record {} stands here again, out of order", record.seq));
            return Ok(());
        }
        if record.seq > expected {
            self.damage(expected, format!("records {expected} to {} are missing", record.seq - 1));
        }
        self.take(&record, line.sum, visit);
        Ok(())
    }

    /// The next record stands here.
    fn take(
        &mut self,
        record: &RecordLine<'_>,
        sum: Sum,
        visit: &mut impl FnMut(&RecordLine<'_>) -> Result<(), String>,
    ) {
        self.scanned.end.seq = record.seq;
        self.scanned.end.unreadable = 0;
        self.last_sum = sum;
        if is_newer(record.kind, record.version) {
            let RecordLine { seq, kind, version, .. } = record;
            let what = format!("record {seq} is of kind `{kind}`, version {version}");
            self.damage(*seq, format!("{what}, which only a newer heeler can read"));
            self.scanned.newer.get_or_insert(what);
        } else if let Err(what) = visit(record) {
            self.damage(record.seq, what);
        }
        // Each line that was not read may have been a record, until this one shows that there were
        // fewer. A number left free for one behind it would be refused.
        for damage in self.scanned.damage.iter_mut().skip(self.n_damages_before) {
            damage.seq = damage.seq.min(record.seq);
        }
        self.n_damages_before = self.scanned.damage.len();
    }

    /// The current line gave no record, and may have been the next one.
    fn unread(&mut self, what: String) {
        self.damage(self.scanned.end.first_free(), what);
        self.scanned.end.unreadable += 1;
    }

    fn damage(&mut self, seq: Seq, what: String) {
        if self.scanned.damage.len() < DAMAGE_MAX {
            let line = self.scanned.end.lines;
            self.scanned.damage.push(JournalDamage { line, seq, what });
        } else {
            self.n_damages_untold += 1;
        }
    }

    fn finish(mut self, torn_bytes: u64) -> Scanned {
        if self.n_damages_untold > 0 {
            let what = format!("and {} more places", self.n_damages_untold);
            let End { lines: line, seq, unreadable, .. } = self.scanned.end;
            let seq = seq.saturating_add(unreadable);
            self.scanned.damage.push(JournalDamage { line, seq, what });
        }
        if torn_bytes > 0 {
            self.scanned.end.lines -= 1;
            self.scanned.torn_bytes = torn_bytes;
        }
        self.scanned
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use heeler_core::{Entry, Input, Record, SessionHeader, Timestamp};

    use super::super::header::encode_header;
    use super::super::line::{encode, seal};
    use super::super::read::read;
    use super::*;

    /// The lines of a journal of four records, the header first.
    fn lines() -> Vec<String> {
        let id = "a".parse().unwrap();
        let header = SessionHeader { id, created: Timestamp(0), workspace: "/".to_owned() };
        let (bytes, mut sum) = encode_header(&header).unwrap();
        let mut lines = vec![bytes];
        for seq in 1..=4 {
            let record = Record::Input(Box::new(Input::text(format!("text {seq}"))));
            let mut line = Vec::new();
            sum = encode(&mut line, &Entry { seq, at: Timestamp(0), record }, sum).unwrap();
            lines.push(line);
        }
        lines.into_iter().map(|line| String::from_utf8(line).unwrap()).collect()
    }

    /// A line with other content and a checksum that fits it.
    fn forged(line: &str, from: &str, to: &str) -> String {
        assert!(line.contains(from));
        let at = line.rfind(r#","sum":""#).unwrap();
        let mut bytes = line[..at].replace(from, to).into_bytes();
        seal(&mut bytes, 0);
        String::from_utf8(bytes).unwrap()
    }

    fn check(change: impl FnOnce(&mut Vec<String>), expected: Expect) {
        let mut lines = lines();
        change(&mut lines);
        let bytes = lines.concat();
        let text = match read(bytes.as_bytes()) {
            Err(error) => format!("{error:?}\n"),
            Ok(journal) => {
                let seqs: Vec<Seq> = journal.entries.iter().map(|entry| entry.seq).collect();
                let damage = journal.damage.iter();
                let damage =
                    damage.map(|d| format!("line {}, record {}: {}\n", d.line, d.seq, d.what));
                format!("{seqs:?}, torn {}\n{}", journal.torn_bytes, damage.collect::<String>())
            }
        };
        expected.assert_eq(&text);
    }

    #[test]
    fn a_sound_journal_has_neither_damage_nor_a_tail() {
        check(
            |_| {},
            expect![[r#"
            [1, 2, 3, 4], torn 0
        "#]],
        );
        check(
            |lines| lines.truncate(1),
            expect![[r#"
            [], torn 0
        "#]],
        );
    }

    #[test]
    fn only_a_last_line_without_its_end_is_a_torn_tail() {
        check(
            |lines| lines[4] = lines[4].replace("text 4", "test 4"),
            expect![[r#"
                [1, 2, 3], torn 0
                line 5, record 4: the line's checksum is wrong
            "#]],
        );
        check(
            |lines| lines[4].truncate(20),
            expect![[r#"
            [1, 2, 3], torn 20
        "#]],
        );
        check(
            |lines| lines[4] = lines[4].replace("}\n", ""),
            expect![[r#"
            [1, 2, 3], torn 178
        "#]],
        );
        check(
            |lines| lines[3].truncate(20),
            expect![[r#"
                [1, 2], torn 0
                line 4, record 3: the line's checksum is wrong
            "#]],
        );
        check(
            |lines| lines[3] = lines[3].replace("text 3", "test 3"),
            expect![[r#"
            [1, 2, 4], torn 0
            line 4, record 3: the line's checksum is wrong
        "#]],
        );
        check(
            |lines| lines[2] = "\n\n".to_owned(),
            expect![[r#"
            [1, 3, 4], torn 0
            line 3, record 2: the line's checksum is wrong
            line 4, record 3: the line's checksum is wrong
        "#]],
        );
        check(
            |lines| {
                lines[3] = "one\n".to_owned();
                lines[4] = "two\n".to_owned();
            },
            expect![[r#"
                [1, 2], torn 0
                line 4, record 3: the line's checksum is wrong
                line 5, record 4: the line's checksum is wrong
            "#]],
        );
    }

    #[test]
    fn a_last_line_that_lacks_its_newline_alone_is_whole() {
        check(
            |lines| lines[4] = lines[4].replace('\n', ""),
            expect![[r#"
            [1, 2, 3, 4], torn 0
        "#]],
        );
        check(
            |lines| lines[4] = lines[4].replace('\n', "}"),
            expect![[r#"
            [1, 2, 3, 4], torn 1
        "#]],
        );
    }

    #[test]
    fn edits_with_a_fitting_checksum_break_the_chain() {
        check(
            |lines| lines[2] = forged(&lines[2], "text 2", "test 2"),
            expect![[r#"
            [1, 2, 3, 4], torn 0
            line 4, record 3: the chain is broken here: the line before was changed or lines were removed
        "#]],
        );
        check(
            |lines| lines[0] = forged(&lines[0], r#":"/""#, r#":"/x""#),
            expect![[r#"
            [1, 2, 3, 4], torn 0
            line 2, record 1: the chain is broken here: the line before was changed or lines were removed
        "#]],
        );
        check(
            |lines| drop(lines.remove(2)),
            expect![[r#"
            [1, 3, 4], torn 0
            line 3, record 2: the chain is broken here: the line before was changed or lines were removed
            line 3, record 2: records 2 to 2 are missing
        "#]],
        );
        check(
            |lines| lines.swap(2, 3),
            expect![[r#"
                [1, 2, 4], torn 0
                line 3, record 2: record 3 stands here too early, out of order
                line 5, record 3: the chain is broken here: the line before was changed or lines were removed
                line 5, record 3: records 3 to 3 are missing
            "#]],
        );
        check(
            |lines| lines.insert(2, lines[1].clone()),
            expect![[r#"
            [1, 2, 3, 4], torn 0
            line 3, record 2: the chain is broken here: the line before was changed or lines were removed
            line 3, record 2: record 1 stands here again, out of order
        "#]],
        );
        check(
            |lines| lines[2] = forged(&lines[2], r#""seq":2"#, r#""seq":x"#),
            expect![[r#"
            [1, 3, 4], torn 0
            line 3, record 2: the line is not a record
            line 4, record 3: the chain is broken here: the line before was changed or lines were removed
        "#]],
        );
        check(
            |lines| lines[2] = forged(&lines[2], "blocks", "rocks"),
            expect![[r#"
                [1, 3, 4], torn 0
                line 3, record 2: the body of record kind `input`: missing field `blocks` at line 1 column 50
                line 4, record 3: the chain is broken here: the line before was changed or lines were removed
            "#]],
        );
    }

    #[test]
    fn what_only_a_newer_heeler_can_read_is_named() {
        check(
            |lines| lines[2] = forged(&lines[2], r#""v":1"#, r#""v":2"#),
            expect![[r#"
            [1, 3, 4], torn 0
            line 3, record 2: record 2 is of kind `input`, version 2, which only a newer heeler can read
            line 4, record 3: the chain is broken here: the line before was changed or lines were removed
        "#]],
        );
        check(
            |lines| lines[4] = forged(&lines[4], "input", "dreamed"),
            expect![[r#"
            [1, 2, 3], torn 0
            line 5, record 4: record 4 is of kind `dreamed`, version 1, which only a newer heeler can read
        "#]],
        );
        check(
            |lines| lines[0] = forged(&lines[0], r#"n":1"#, r#"n":2"#),
            expect![[r#"
            Header(Newer(2))
        "#]],
        );
    }

    #[test]
    fn a_journal_without_a_header_says_why() {
        check(
            |lines| lines.clear(),
            expect![[r#"
            Header(Missing)
        "#]],
        );
        check(
            |lines| *lines = vec![lines[0].trim_end().to_owned()],
            expect![[r#"
            Header(Missing)
        "#]],
        );
        check(
            |lines| drop(lines.remove(0)),
            expect![[r#"
            Header(Damaged("missing field `format` at line 1 column 179"))
        "#]],
        );
        check(
            |lines| lines[0] = "x".repeat(9000),
            expect![[r#"
            Header(Damaged("its checksum is wrong"))
        "#]],
        );
    }

    #[test]
    fn places_of_damage_are_told_up_to_a_limit() {
        let bad = "x\n".repeat(DAMAGE_MAX + 5);
        let journal = read((lines()[0].clone() + &bad).as_bytes()).unwrap();
        assert_eq!(journal.damage.len(), DAMAGE_MAX + 1);
        assert_eq!(journal.damage[DAMAGE_MAX].what, "and 5 more places");
        assert_eq!((journal.damage[7].line, journal.damage[7].seq), (9, 8));
    }
}
