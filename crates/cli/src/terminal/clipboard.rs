//! The image that somebody copied, as a program of their desktop gives it: terminals paste text alone.

use std::time::Duration;

use heeler_assembly::Environment;
use heeler_core::BoxFuture;
use heeler_sandbox::{Command, Exit, Launcher, LauncherError, Streams};
use heeler_tui::IMAGE_BYTES_MAX;

/// Whoever copied it may have gone, and the desktop then waits for nobody.
const WAIT: Duration = Duration::from_secs(5);
/// All that these programs need to find a clipboard.
const VARIABLES: [&str; 6] =
    ["PATH", "HOME", "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"];

/// A program that prints the image.
#[derive(Debug, PartialEq, Eq)]
struct Reader {
    program: &'static str,
    args: &'static [&'static str],
    /// What it comes with.
    package: &'static str,
}

const WAYLAND: Reader = Reader {
    program: "wl-paste",
    args: &["--no-newline", "--type", "image/png"],
    package: "wl-clipboard",
};
const X11: Reader = Reader {
    program: "xclip",
    args: &["-selection", "clipboard", "-target", "image/png", "-out"],
    package: "xclip",
};
const MACOS: Reader = Reader { program: "pngpaste", args: &["-"], package: "pngpaste" };

/// The image, or words for the person.
pub(super) fn image(environment: &Environment) -> BoxFuture<Result<Vec<u8>, String>> {
    let is_set = |name: &str| matches!(environment.get(name), Ok(Some(value)) if !value.is_empty());
    let reader = reader(is_set);
    let variable = |name: &str| Some((name.to_owned(), environment.get(name).ok()??.to_owned()));
    let variables = VARIABLES.into_iter().filter_map(variable).collect();
    Box::pin(async move {
        let reader =
            reader.ok_or("no clipboard can be seen from here; drag the image's file here")?;
        let read = tokio::time::timeout(WAIT, reader.read(variables)).await;
        read.unwrap_or_else(|_| Err("the clipboard does not answer".to_owned()))
    })
}

fn reader(is_set: impl Fn(&str) -> bool) -> Option<Reader> {
    match () {
        () if cfg!(target_os = "macos") => Some(MACOS),
        () if is_set("WAYLAND_DISPLAY") => Some(WAYLAND),
        () if is_set("DISPLAY") => Some(X11),
        () => None,
    }
}

impl Reader {
    async fn read(self, variables: Vec<(String, String)>) -> Result<Vec<u8>, String> {
        let command = Command::new(self.program, "/").args(self.args.iter().copied());
        let command = command.env(variables).streams(Streams::Separate);
        let mut child = Launcher::new().run(&command).await.map_err(|error| match error {
            LauncherError::ProgramNotFound { .. } => format!(
                "`{}` reads images from the clipboard, and is not there: install {}, or drag the image's \
                 file here",
                self.program, self.package
            ),
            error => error.to_string(),
        })?;
        let mut image = Vec::new();
        if let Some(mut output) = child.take_output() {
            while let Some(chunk) = output.chunk().await.map_err(|error| error.to_string())? {
                image.extend(chunk);
                if image.len() as u64 > IMAGE_BYTES_MAX {
                    return Err(format!("the copied image has more than {IMAGE_BYTES_MAX} bytes"));
                }
            }
        }
        match child.wait().await {
            Ok(Exit::Code(0)) if !image.is_empty() => Ok(image),
            Ok(_) => Err("the clipboard holds no image".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_desktop_says_who_is_asked() {
        let of = |set: &[&str]| reader(|name| set.contains(&name)).map(|reader| reader.program);
        let expected: [_; 3] = match cfg!(target_os = "macos") {
            true => [Some("pngpaste"); 3],
            false => [Some("wl-paste"), Some("xclip"), None],
        };
        assert_eq!([of(&["DISPLAY", "WAYLAND_DISPLAY"]), of(&["DISPLAY"]), of(&[])], expected);
    }
}
