//! What is wrong with the files that the environment names for whoever vouches for servers.

use std::ffi::{OsStr, OsString};

use super::bundle;

/// Says which of the named files cannot be used; nothing when all can.
pub(super) fn broken(lookup: impl Fn(&str) -> Option<OsString>) -> Option<String> {
    let file = lookup("SSL_CERT_FILE").and_then(|path| match std::fs::read(&path) {
        Ok(bytes) if bundle::certificates(&bytes).is_empty() => {
            Some(told("SSL_CERT_FILE", &path, "in which there is no certificate"))
        }
        Ok(_) => None,
        Err(error) => Some(unread("SSL_CERT_FILE", &path, &error)),
    });
    let folders = lookup("SSL_CERT_DIR").and_then(|folders| {
        let mut each = std::env::split_paths(&folders);
        let read = each.try_for_each(|folder| std::fs::read_dir(folder).map(drop));
        read.err().map(|error| unread("SSL_CERT_DIR", &folders, &error))
    });
    let broken: Vec<String> = file.into_iter().chain(folders).collect();
    let said = || broken.join("; ") + ". Name a PEM file with certificates, or unset it";
    (!broken.is_empty()).then(said)
}

/// Says why nobody at all vouches for servers.
pub(super) fn nobody(lookup: impl Fn(&str) -> Option<OsString>) -> String {
    let otherwise = || match lookup("SSL_CERT_DIR") {
        Some(folders) => {
            let empty = told("SSL_CERT_DIR", &folders, "where there is no certificate");
            format!("{empty}. Name a folder with PEM files, or unset it")
        }
        None => {
            "there are no certificates of authorities on this machine. Install them, mostly as \
                 a package `ca-certificates`, or name a PEM file with some in SSL_CERT_FILE"
                .to_owned()
        }
    };
    broken(&lookup).unwrap_or_else(otherwise)
}

fn unread(name: &str, value: &OsStr, error: &std::io::Error) -> String {
    told(name, value, &format!("which cannot be read: {error}"))
}

fn told(name: &str, value: &OsStr, what: &str) -> String {
    format!("{name} names `{}`, {what}", value.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_named_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("empty"), "no certificate").unwrap();
        let said = |file: Option<&str>, dir: Option<&str>| {
            let value = |name: &str| if name == "SSL_CERT_FILE" { file } else { dir };
            nobody(|name| value(name).map(|name| path(name).into())).replace(&path(""), "")
        };
        let gone = "which cannot be read: No such file or directory (os error 2)";
        let end = "Name a PEM file with certificates, or unset it";
        for (file, dir, expected) in [
            (Some("gone"), None, format!("SSL_CERT_FILE names `gone`, {gone}. {end}")),
            (
                Some("empty"),
                None,
                format!("SSL_CERT_FILE names `empty`, in which there is no certificate. {end}"),
            ),
            (None, Some("gone"), format!("SSL_CERT_DIR names `gone`, {gone}. {end}")),
            (
                Some("gone"),
                Some("nowhere"),
                format!(
                    "SSL_CERT_FILE names `gone`, {gone}; SSL_CERT_DIR names `nowhere`, {gone}. {end}"
                ),
            ),
            (Some("gone"), Some(""), format!("SSL_CERT_FILE names `gone`, {gone}. {end}")),
            (
                None,
                Some(""),
                "SSL_CERT_DIR names ``, where there is no certificate. Name a folder with PEM \
                 files, or unset it"
                    .to_owned(),
            ),
        ] {
            assert_eq!(said(file, dir), expected);
        }
        assert!(said(None, None).contains("ca-certificates"));
    }
}
