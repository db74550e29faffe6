//! The file of a history: one draft a line, added to by several processes at once.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::draft::{Attachment, Draft, ImageSource, Part};

/// A longer file loses its older half with the next line.
pub const HISTORY_FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The longest paste that is kept whole; of a longer one its label stays.
pub const PASTE_KEPT_BYTES_MAX: usize = 10 * 1024;
/// The longest line; a draft that makes a longer one is not kept.
pub const HISTORY_LINE_BYTES_MAX: usize = 256 * 1024;

/// Only its owner may read what somebody wrote.
const MODE: u32 = 0o600;

/// The file of a history.
#[derive(Debug, Clone)]
pub struct HistoryFile {
    path: PathBuf,
}

/// What became of a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It stands in the file.
    Yes,
    /// It holds a secret, or nothing.
    No,
    /// Its line would be too long.
    TooLong,
}

/// Whether a draft without secrets comes back from the file as it is.
pub(crate) fn keeps_whole(draft: &Draft) -> bool {
    let line = Line::of_draft(draft);
    let length = serde_json::to_vec(&line).map_or(usize::MAX, |bytes| bytes.len());
    length < HISTORY_LINE_BYTES_MAX && line.into_draft() == *draft
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    parts: Vec<LinePart>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LinePart {
    Text(String),
    Paste(String),
    Image(PathBuf),
}

impl HistoryFile {
    /// The file there; it comes to be with the first draft.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The drafts of the file, oldest first; none when there is no file. Lines that are broken, or
    /// that a later version wrote, are passed over.
    ///
    /// # Errors
    ///
    /// When there is a file and it cannot be read; the error names it.
    pub fn load(&self) -> io::Result<Vec<Draft>> {
        let bytes = match read_end(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(|error| self.named(error))?,
        };
        let line = |line: &[u8]| serde_json::from_slice::<Line>(line).ok();
        Ok(bytes.split(|byte| *byte == b'\n').filter_map(line).map(Line::into_draft).collect())
    }

    /// Adds a draft, unless some of it `is_secret`.
    ///
    /// # Errors
    ///
    /// When the file cannot be written; the error names it. What it held before is whole.
    pub fn append(&self, draft: &Draft, is_secret: impl Fn(&str) -> bool) -> io::Result<Kept> {
        if draft.is_blank() || is_secret(&draft.text()) {
            return Ok(Kept::No);
        }
        let mut line = serde_json::to_vec(&Line::of_draft(draft))?;
        line.push(b'\n');
        if line.len() > HISTORY_LINE_BYTES_MAX {
            return Ok(Kept::TooLong);
        }
        self.append_line(&line).map_err(|error| self.named(error))?;
        Ok(Kept::Yes)
    }

    fn append_line(&self, line: &[u8]) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        // Not the file itself is locked: it is another one after it was shortened.
        let lock = open(&self.beside("lock"))?;
        lock.lock()?;
        let mut file = open(&self.path)?;
        if file.metadata()?.len() + line.len() as u64 > HISTORY_FILE_BYTES_MAX {
            self.shorten()?;
            file = open(&self.path)?;
        }
        // Somebody died in the middle of a line: it is lost, this one is not.
        let torn = ends_torn(&mut file)?;
        let line = if torn { [b"\n", line].concat() } else { line.to_vec() };
        file.write_all(&line)
    }

    /// Keeps the newer half.
    fn shorten(&self) -> io::Result<()> {
        let bytes = read_end(&self.path)?;
        let half = bytes.len().saturating_sub(HISTORY_FILE_BYTES_MAX as usize / 2);
        let line_break = bytes[half..].iter().position(|byte| *byte == b'\n');
        let kept = line_break.map_or(&[][..], |at| &bytes[half + at + 1..]);
        let shorter = self.beside("new");
        let mut file = open(&shorter)?;
        file.set_len(0)?;
        file.write_all(kept)?;
        std::fs::rename(&shorter, &self.path)
    }

    fn beside(&self, end: &str) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".");
        name.push(end);
        self.path.with_file_name(name)
    }

    fn named(&self, error: io::Error) -> io::Error {
        let path = self.path.display();
        io::Error::new(error.kind(), format!("the history of inputs {path}: {error}"))
    }
}

fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).append(true).create(true).mode(MODE).open(path)?;
    if file.metadata()?.permissions().mode() & 0o777 != MODE {
        file.set_permissions(Permissions::from_mode(MODE))?;
    }
    Ok(file)
}

/// The end of the file, as much of it as counts.
fn read_end(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let surplus = file.metadata()?.len().saturating_sub(HISTORY_FILE_BYTES_MAX);
    file.seek(SeekFrom::Start(surplus))?;
    let mut bytes = Vec::new();
    file.take(HISTORY_FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn ends_torn(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

impl Line {
    fn of_draft(draft: &Draft) -> Self {
        let part = |part: &Part| match part {
            Part::Text(text) => LinePart::Text(text.clone()),
            Part::Paste(text) if text.len() <= PASTE_KEPT_BYTES_MAX => {
                LinePart::Paste(text.to_string())
            }
            Part::Image(Attachment { source: ImageSource::Path(path), .. })
                if path.to_str().is_some() =>
            {
                LinePart::Image(path.clone())
            }
            Part::Paste(_) | Part::Image(_) => LinePart::Text(part.label()),
        };
        Self { parts: draft.parts.iter().map(part).collect() }
    }

    fn into_draft(self) -> Draft {
        let part = |part| match part {
            LinePart::Text(text) => Part::Text(text),
            LinePart::Paste(text) => Part::Paste(text.into()),
            LinePart::Image(path) => Part::Image(Attachment::of_path(&path)),
        };
        Draft { parts: self.parts.into_iter().map(part).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> (tempfile::TempDir, HistoryFile) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = HistoryFile::new(folder.path().join("state/history.jsonl"));
        (folder, file)
    }

    fn append(file: &HistoryFile, draft: impl Into<Draft>) -> Kept {
        file.append(&draft.into(), |_| false).expect("it can be written")
    }

    fn shown(file: &HistoryFile) -> Vec<String> {
        file.load().expect("it can be read").iter().map(Draft::shown).collect()
    }

    #[test]
    fn drafts_come_back_as_they_were() {
        let (_folder, file) = file();
        assert_eq!(file.load().expect("no file is no error"), []);
        let draft = Draft {
            parts: vec![
                Part::Text("see\n".to_owned()),
                Part::Paste("one\ntwo".into()),
                Part::Image(Attachment::of_path(Path::new("/space/a.png"))),
            ],
        };
        assert_eq!(append(&file, draft.clone()), Kept::Yes);
        assert_eq!(append(&file, " \n"), Kept::No);
        assert_eq!(file.load().expect("it can be read"), [draft]);
    }

    #[test]
    fn only_labels_stay_of_what_is_long_or_nowhere() {
        let (_folder, file) = file();
        let long = "x\n".repeat(PASTE_KEPT_BYTES_MAX / 2);
        let paste = |text: &str| Part::Paste(text.into());
        let image = Part::Image(Attachment::of_bytes("clip.png", *b"x"));
        let parts = vec![paste(&long), paste(&format!("{long}x")), image];
        append(&file, Draft { parts: parts.clone() });
        expect_test::expect![[r#"
            [
                "[pasted 5120 lines][pasted 5121 lines][image: clip.png]",
            ]
        "#]]
        .assert_debug_eq(&shown(&file));
        let loaded = file.load().expect("it can be read");
        assert_eq!(loaded[0].parts[0], parts[0]);
        let whole = parts.iter().map(|part| keeps_whole(&Draft { parts: vec![part.clone()] }));
        assert_eq!(whole.collect::<Vec<_>>(), [true, false, false]);
        assert!(matches!(loaded[0].parts[1], Part::Text(_)));
        let line = "x".repeat(HISTORY_LINE_BYTES_MAX);
        assert_eq!(append(&file, line.as_str()), Kept::TooLong);
        assert!(!keeps_whole(&line.as_str().into()));
    }

    #[test]
    fn secrets_are_not_kept() {
        let (_folder, file) = file();
        let is_secret = |text: &str| text.contains("hunter2");
        let paste = Draft { parts: vec![Part::Paste("line\nhunter2".into())] };
        for draft in [Draft::from("the password is hunter2"), paste] {
            assert_eq!(file.append(&draft, is_secret).expect("nothing is written"), Kept::No);
        }
        assert_eq!(file.append(&"no".into(), is_secret).expect("written"), Kept::Yes);
        assert_eq!(shown(&file), ["no"]);
    }

    #[test]
    fn broken_lines_cost_only_themselves() {
        let (_folder, file) = file();
        append(&file, "before");
        let mut raw = open(&file.path).expect("it is there");
        raw.write_all(b"\xff\n{\"parts\":[{\"hologram\":1}]}\n\n{\"parts\":[{\"te")
            .expect("written");
        append(&file, "after");
        assert_eq!(shown(&file), ["before", "after"]);
    }

    #[test]
    fn nobody_else_may_read_it() {
        let (_folder, file) = file();
        append(&file, "mine");
        std::fs::set_permissions(&file.path, Permissions::from_mode(0o644)).expect("ours");
        append(&file, "mine, too");
        let mode = std::fs::metadata(&file.path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, MODE);
    }

    #[test]
    fn the_older_half_goes_when_it_is_too_long() {
        let (_folder, file) = file();
        let line = "x".repeat(HISTORY_LINE_BYTES_MAX / 2);
        let count = HISTORY_FILE_BYTES_MAX as usize / line.len() + 2;
        for number in 0..count {
            append(&file, format!("{number} {line}").as_str());
        }
        let length = std::fs::metadata(&file.path).expect("it is there").len();
        assert!(length <= HISTORY_FILE_BYTES_MAX);
        let shown = shown(&file);
        let numbers: Vec<_> = shown.iter().filter_map(|it| it.split_once(' ')).collect();
        assert!(numbers.len() > 10 && numbers.len() < count, "{}", numbers.len());
        let expected: Vec<_> = (count - numbers.len()..count).map(|it| it.to_string()).collect();
        assert!(numbers.iter().map(|(number, _)| *number).eq(expected.iter()));
    }

    #[test]
    fn of_lines_written_at_once_none_is_lost_but_the_oldest() {
        const WRITERS: usize = 8;
        const LINES: usize = 60;
        // Together several times what the file holds: it is shortened while others write.
        const LENGTH: usize = HISTORY_FILE_BYTES_MAX as usize / (WRITERS * LINES) * 3;
        let (_folder, file) = file();
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                // A file of its own: locks are between opened files, whatever process has them.
                let file = HistoryFile::new(file.path.clone());
                scope.spawn(move || {
                    for line in 0..LINES {
                        append(&file, format!("{writer} {line} {}", "x".repeat(LENGTH)).as_str());
                    }
                });
            }
        });
        let shown = shown(&file);
        let size = |it: &String| it.len() as u64;
        assert!(shown.iter().map(size).sum::<u64>() > HISTORY_FILE_BYTES_MAX / 3);
        for writer in 0..WRITERS {
            let head = format!("{writer} ");
            let lines = shown.iter().filter_map(|it| it.strip_prefix(&head)?.split_once(' '));
            let lines: Vec<usize> =
                lines.map(|(line, _)| line.parse().expect("a number")).collect();
            // A writer that was done early may have none left; nobody's have a gap.
            let first = lines.first().copied().unwrap_or(LINES);
            assert_eq!(lines, (first..LINES).collect::<Vec<_>>(), "of writer {writer}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = HistoryFile::new(folder.path()).load().expect_err("a folder is no file");
        assert!(error.to_string().contains(&*folder.path().to_string_lossy()), "{error}");
    }
}
