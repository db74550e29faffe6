//! `heeler config edit`: a file of settings in the user's editor, checked before it is left.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use heeler_assembly::{Environment, settings_files, settings_mistakes};
use heeler_settings::{FILE_BYTES_MAX, Place, put_back, read_file, template};

use crate::editor;
use crate::exit::Exit;
use crate::say::{ask, say};
use crate::whole::unwritten;

/// What is told where the editor left what was made for it.
const NOTHING_SET: &str = "nothing was set, so no file is left";
/// For the owner only: values may be secrets.
const OWN_FILE_MODE: u32 = 0o600;
const OWN_FOLDER_MODE: u32 = 0o700;
/// What a repository holds is for all who work there.
const FILE_MODE: u32 = 0o644;
const FOLDER_MODE: u32 = 0o755;

/// Opens the file of this place.
pub(super) fn run(place: Place, workspace: &Path) -> Result<Exit> {
    let environment = Environment::of_this_process();
    let editor = editor::named(&environment)?;
    let files = settings_files(&environment, workspace)?;
    let path = files.path(place).context("this place has no file")?;
    let shown = path.display().to_string();
    let before = before(&path, place).with_context(|| format!("cannot edit {shown}"))?;
    let after = || read_file(&path, &shown).ok().flatten();
    // Only what was made for the editor can be, and it would pass for settings of somebody's.
    let is_untouched = || before.is_none() && after().as_deref() == Some(template().as_bytes());
    loop {
        if let Err(error) = editor::open(&editor, &path) {
            let left = match is_untouched() {
                true => {
                    put_back(&files.heeler_home, &path, None)?;
                    NOTHING_SET
                }
                false => "the file stays as it left it",
            };
            bail!("cannot run the editor {editor}: {error}; {left}");
        }
        let mistakes = settings_mistakes(&environment, workspace, place)?;
        if mistakes.is_empty() {
            break;
        }
        mistakes.iter().for_each(|mistake| say(format_args!("heeler: {mistake}")));
        match ask("heeler: edit it again, go back to what was there, or keep it? [E/b/k]") {
            None => return Ok(Exit::Usage),
            Some(answer) => match answer.to_ascii_lowercase().as_str() {
                "b" | "back" => {
                    put_back(&files.heeler_home, &path, before.as_deref())?;
                    say(format_args!("heeler: {shown} is as it was"));
                    return Ok(Exit::Done);
                }
                "k" | "keep" => return Ok(Exit::Usage),
                _ => {}
            },
        }
    }
    if is_untouched() {
        put_back(&files.heeler_home, &path, None)?;
        say(format_args!("heeler: {NOTHING_SET}"));
    } else if before == after() {
        say("heeler: nothing changed");
    } else if after().is_none() {
        say(format_args!("heeler: {shown} is gone, so nothing is set there"));
    } else if place.is_repository() {
        say(format_args!(
            "heeler: {shown} is well; what widens counts once you trust it: `heeler permissions trust`"
        ));
    } else {
        say(format_args!("heeler: {shown} is well; it counts from the next start on"));
    }
    Ok(Exit::Done)
}

/// What is there; where there is nothing, a file with every key commented out is made.
fn before(path: &Path, place: Place) -> Result<Option<Vec<u8>>> {
    // A repository may have put anything there: what has no end, or what never begins.
    if let Some(bytes) = read_file(path, &path.display().to_string())? {
        let is_long = bytes.len() as u64 > FILE_BYTES_MAX;
        ensure!(!is_long, "it has more than {FILE_BYTES_MAX} bytes");
        return Ok(Some(bytes));
    }
    let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|it| it.is_symlink());
    ensure!(!is_link(path), "it is a link to what is not there; remove it first");
    let (folder_mode, file_mode) = match place.is_repository() {
        true => (FOLDER_MODE, FILE_MODE),
        false => (OWN_FOLDER_MODE, OWN_FILE_MODE),
    };
    let folder = path.parent().context("it is in no folder")?;
    // In a repository a link may lead anywhere.
    ensure!(!(place.is_repository() && is_link(folder)), "{} is a link", folder.display());
    DirBuilder::new().recursive(true).mode(folder_mode).create(folder)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(file_mode).open(path)?;
    file.write_all(template().as_bytes()).map_err(|error| {
        // A beginning of it would pass for settings of somebody's.
        let _ = std::fs::remove_file(path);
        unwritten(path, &error)
    })?;
    Ok(None)
}
