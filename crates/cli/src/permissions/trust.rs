//! `heeler permissions trust`.

use std::path::Path;

use anyhow::Result;
use heeler_assembly::{Environment, Permission, settings_files};
use heeler_settings::{Trust, UntrustedFile};

use super::{lacks, print};
use crate::exit::Exit;
use crate::say::{ask, harmless, say};

/// Shows what asks for trust, and grants it when somebody says so.
pub(super) fn run(workspace: &Path, yes: bool) -> Result<Exit> {
    let environment = Environment::of_this_process();
    let (_, loaded) = Permission::default().settle(&environment, workspace)?;
    if loaded.untrusted.is_empty() {
        print("nothing here asks for more trust than it has\n")?;
        return Ok(Exit::Done);
    }
    let shown: String = loaded.untrusted.iter().map(show).collect();
    print(&shown)?;
    if !(yes || is_wanted()) {
        say("heeler: nothing was trusted; add --yes to trust exactly what is shown above");
        return Ok(Exit::Failure);
    }
    let trust = Trust::of(&settings_files(&environment, workspace)?.heeler_home);
    for file in &loaded.untrusted {
        trust.grant(workspace, file)?;
        print(&format!("trusted: {}\n", harmless(&lacks(file))))?;
    }
    Ok(Exit::Done)
}

/// Takes back all trust in a folder's files.
pub(super) fn revoke(workspace: &Path) -> Result<String> {
    let files = settings_files(&Environment::of_this_process(), workspace)?;
    let revoked = Trust::of(&files.heeler_home).revoke(workspace)?;
    Ok(format!("files no longer trusted: {revoked}\n"))
}

/// Asks a person, when there is one.
fn is_wanted() -> bool {
    ask("Trust exactly this? Type yes to do so:").as_deref() == Some("yes")
}

/// A file as it would be trusted: what it asks for, and every byte of it.
fn show(file: &UntrustedFile) -> String {
    let text = String::from_utf8_lossy(&file.content);
    let body = visible(&text);
    let head = harmless(&lacks(file));
    format!("{head}:\n\n{}\n\n", body.trim_end_matches('\n'))
}

/// A text in which all that cannot be seen is written out: what is trusted has to be what is seen. One
/// by one, since a sign that joins two others looks harmless between them.
fn visible(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    text.chars().map(|c| harmless(c.encode_utf8(&mut [0; 4]))).collect()
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        for (text, expected) in [
            ("plain \u{e4}\r\n\tx", "plain \u{e4}\n\tx"),
            ("a\u{202e}b", "a<U+202E>b"),
            ("\u{feff}x\u{200b}y", "<U+FEFF>x<U+200B>y"),
            ("\u{e0041}\u{3164}\u{1b}", "<U+E0041><U+3164>\u{241b}"),
            ("\u{1f468}\u{200d}\u{1f469}", "\u{1f468}<U+200D>\u{1f469}"),
        ] {
            assert_eq!(visible(text), expected);
        }
    }
}
