//! Files that git does not know yet: their names for a model, their text for a person.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use heeler_core::ToolError;
use rustix::fs::{CWD, Mode, OFlags};

use super::page::LINE_CHARS_MAX;
use super::repository::Repository;
use super::run::{Ask, Ran};
use crate::text::{count_of, cut};

/// New files that are named.
const NAMED_MAX: usize = 100;
/// Stands before their names alone.
const LISTED: &str = "new files, shown when they are named:\n";
/// What stands beside the name of one that is not shown, in bytes.
const NOT_SHOWN_BYTES_MAX: usize = 100;
/// Bytes of a new file whose text is shown.
const TEXT_BYTES_MAX: u64 = 16 * 1024;
/// Whoever may run a file.
const RUN_BITS: u32 = 0o111;

/// Where paths begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// In the folder that is worked in, as paths of calls do.
    Here,
    /// At the repository's root, as those of a difference do.
    Root,
}

/// The paths of files that git neither tracks nor ignores.
pub(super) async fn names(
    repository: &Repository<'_>,
    begin: Begin,
) -> Result<Vec<String>, ToolError> {
    let mut args = vec!["ls-files", "-z", "--others", "--exclude-standard"];
    args.extend((begin == Begin::Root).then_some("--full-name"));
    let ran: Ran = repository.run(Ask { args, ..Ask::default() }).await?;
    let names = ran.or_refused("list new files")?.text();
    Ok(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

/// The names alone, as many as fit.
pub(super) fn listed(names: &[String], bytes_max: usize) -> String {
    if names.is_empty() {
        return String::new();
    }
    let mut text = LISTED.to_owned();
    let mut n_named = 0;
    for name in names.iter().take(NAMED_MAX) {
        let line = on_one_line(name) + "\n";
        if text.len() + line.len() > bytes_max {
            break;
        }
        text += &line;
        n_named += 1;
    }
    text + &more(names.len() - n_named)
}

/// Each file as git shows one that was added, read as it lies there; the index is not touched. What
/// is no text, or too long, is named, and of what there is no room to name the number is told.
pub(super) fn shown(top: &Path, names: &[String], bytes_max: usize) -> String {
    let mut text = String::new();
    let mut n_shown = 0;
    let named = &names[..names.len().min(NAMED_MAX)];
    // No text takes the room in which those behind it are named.
    let mut to_name: usize = named.iter().map(|name| named_bytes_max(name)).sum();
    for name in named {
        to_name -= named_bytes_max(name);
        let shown = one(top, name, bytes_max.saturating_sub(text.len() + to_name));
        if text.len() + shown.len() > bytes_max {
            break;
        }
        text += &shown;
        n_shown += 1;
    }
    text + &more(names.len() - n_shown)
}

/// How long the name of a file is that is not shown, with all around it and a reason of some length.
fn named_bytes_max(name: &str) -> usize {
    3 * on_one_line(name).len() + NOT_SHOWN_BYTES_MAX
}

fn more(n_files: usize) -> String {
    match n_files {
        0 => String::new(),
        more => format!("(and {more} more)\n"),
    }
}

fn on_one_line(name: &str) -> String {
    name.replace('\n', "\\n")
}

/// One file, in so many bytes.
fn one(top: &Path, name: &str, bytes_max: usize) -> String {
    let path = top.join(name);
    let name = on_one_line(name);
    let head = |mode: &str| format!("diff --git a/{name} b/{name}\nnew file mode {mode}\n");
    let not_shown = |why: String| format!("{}(not shown: {why})\n", head("100644"));
    let (mode, content) = match read(&path) {
        Ok(Content::Text { mode, text }) => (mode, text),
        Ok(Content::Binary { mode }) => {
            return head(mode) + &format!("Binary files /dev/null and b/{name} differ\n");
        }
        Ok(Content::Long { bytes }) => return not_shown(format!("it has {bytes} bytes")),
        Ok(Content::NoFile) => return not_shown("it is no file".to_owned()),
        Err(error) => return not_shown(error.to_string()),
    };
    let n_lines = content.lines().count();
    let mut text = head(mode);
    if n_lines > 0 {
        let _ = writeln!(text, "--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{n_lines} @@");
    }
    for line in content.lines() {
        let _ = writeln!(text, "+{}", cut(line, LINE_CHARS_MAX));
    }
    if n_lines > 0 && !content.ends_with('\n') {
        text += "\\ No newline at end of file\n";
    }
    if text.len() > bytes_max {
        return not_shown(format!("it has {}", count_of(n_lines, "line", "lines")));
    }
    text
}

/// What is at a path.
enum Content {
    Text { mode: &'static str, text: String },
    Binary { mode: &'static str },
    Long { bytes: u64 },
    NoFile,
}

/// Reads what is at a path and nothing that it leads to; no kind of file makes this wait.
fn read(path: &Path) -> io::Result<Content> {
    let metadata = path.symlink_metadata()?;
    if metadata.is_symlink() {
        let target = path.read_link()?;
        let text = String::from_utf8_lossy(target.as_os_str().as_bytes()).into_owned();
        return Ok(Content::Text { mode: "120000", text });
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(Content::NoFile);
    }
    if metadata.len() > TEXT_BYTES_MAX {
        return Ok(Content::Long { bytes: metadata.len() });
    }
    let mode = if metadata.mode() & RUN_BITS == 0 { "100644" } else { "100755" };
    let mut content = Vec::new();
    file.take(TEXT_BYTES_MAX).read_to_end(&mut content)?;
    match String::from_utf8(content) {
        Ok(text) if !text.contains('\0') => Ok(Content::Text { mode, text }),
        _ => Ok(Content::Binary { mode }),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use expect_test::expect;

    use super::*;
    use crate::testing::Folder;

    #[test]
    fn text_is_shown_as_added_and_all_else_is_named() {
        let folder = Folder::new(&[("a", "one\ntwo"), ("empty", ""), ("bin", "x\0y")]);
        let top = &folder.path("");
        let write = |name: &str, text: String| std::fs::write(folder.path(name), text).unwrap();
        write("run", "#!/bin/sh\n".to_owned());
        std::fs::set_permissions(top.join("run"), PermissionsExt::from_mode(0o755)).unwrap();
        symlink("/etc/passwd", top.join("link")).unwrap();
        std::fs::create_dir(top.join("sub")).unwrap();
        let bytes = usize::try_from(TEXT_BYTES_MAX).unwrap();
        write("long", "x".repeat(bytes + 1));
        let names = ["a", "empty", "bin", "run", "link", "sub", "long", "gone"];
        expect![[r#"
            diff --git a/a b/a
            new file mode 100644
            --- /dev/null
            +++ b/a
            @@ -0,0 +1,2 @@
            +one
            +two
            \ No newline at end of file
            diff --git a/empty b/empty
            new file mode 100644
            diff --git a/bin b/bin
            new file mode 100644
            Binary files /dev/null and b/bin differ
            diff --git a/run b/run
            new file mode 100755
            --- /dev/null
            +++ b/run
            @@ -0,0 +1,1 @@
            +#!/bin/sh
            diff --git a/link b/link
            new file mode 120000
            --- /dev/null
            +++ b/link
            @@ -0,0 +1,1 @@
            +/etc/passwd
            \ No newline at end of file
            diff --git a/sub b/sub
            new file mode 100644
            (not shown: it is no file)
            diff --git a/long b/long
            new file mode 100644
            (not shown: it has 16385 bytes)
            diff --git a/gone b/gone
            new file mode 100644
            (not shown: No such file or directory (os error 2))
        "#]]
        .assert_eq(&shown(top, &names.map(str::to_owned), 48_000));
    }

    #[test]
    fn all_of_it_has_a_limit() {
        let folder = Folder::new(&[]);
        let lines = "0123456789012345678901234567890123456789\n".repeat(300);
        let names: Vec<String> = (0..NAMED_MAX + 2).map(|n| format!("{n}")).collect();
        for name in &names {
            std::fs::write(folder.path(name), &lines).unwrap();
        }
        for bytes_max in [0, 100, 5_000, 13_000, 24_000, 48_000] {
            let text = shown(&folder.path(""), &names, bytes_max);
            assert!(text.len() <= bytes_max + "(and 102 more)\n".len(), "{}", text.len());
            let (n_whole, n_named) = (
                text.matches("@@ -0").count(),
                text.matches("(not shown: it has 300 lines)").count(),
            );
            let n_more = names.len() - n_whole - n_named;
            assert!(text.ends_with(&format!("(and {n_more} more)\n")), "{text}");
            // Where there is room for their text there is room for all their names.
            assert!(n_whole == 0 || n_more == 2, "{n_whole} and {n_named} in {bytes_max}");
            let text = listed(&names, bytes_max);
            assert!(text.len() <= bytes_max.max(LISTED.len()) + "(and 102 more)\n".len(), "{text}");
        }
        let text = shown(&folder.path(""), &names, 48_000);
        assert_eq!(text.matches("@@ -0").count(), 3, "{text}");
    }
}
