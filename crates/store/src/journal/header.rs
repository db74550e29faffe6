//! The first line: the format's name and version, and what is fixed of the session.

use heeler_core::{SessionHeader, from_json_bytes};
use serde::{Deserialize, Serialize};

use super::line::{Sum, seal, unseal};

/// The longest header line, its newline included; the beginning of a file that a list reads holds
/// it whole.
pub const HEADER_BYTES_MAX: usize = 8 * 1024;

/// The format's name.
const FORMAT: &str = "heeler-journal";
/// The version of the lines' layout. It grows only when an older reader could not even tell
/// records apart; a new kind of record does not change it.
const FORMAT_VERSION: u64 = 1;

/// Why a header cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HeaderError {
    /// There is no whole first line: the session was never made, its maker died first.
    Missing,
    /// The layout is of a newer version.
    Newer(u64),
    /// The line is not what was written.
    Damaged(String),
}

#[derive(Serialize, Deserialize)]
struct HeaderLine {
    format: String,
    version: u64,
    header: SessionHeader,
}

#[derive(Deserialize)]
struct Format {
    format: String,
    version: u64,
}

/// The header's line with its newline and its checksum; `None` when it is too long.
pub(crate) fn encode_header(header: &SessionHeader) -> Option<(Vec<u8>, Sum)> {
    let line =
        HeaderLine { format: FORMAT.to_owned(), version: FORMAT_VERSION, header: header.clone() };
    let mut buffer = serde_json::to_vec(&line).ok()?;
    buffer.pop();
    let sum = seal(&mut buffer, 0);
    (buffer.len() <= HEADER_BYTES_MAX).then_some((buffer, sum))
}

/// Reads a header's line, which comes without newline.
pub(crate) fn decode_header(line: &[u8]) -> Result<(SessionHeader, Sum), HeaderError> {
    let damaged = |what: &str| HeaderError::Damaged(what.to_owned());
    // The version first: a newer layout may keep its checksum elsewhere.
    if let Ok(Format { format, version }) = from_json_bytes(line)
        && format == FORMAT
        && version > FORMAT_VERSION
    {
        return Err(HeaderError::Newer(version));
    }
    let (_, sum) = unseal(line).ok_or_else(|| damaged("its checksum is wrong"))?;
    let line: HeaderLine =
        from_json_bytes(line).map_err(|error| HeaderError::Damaged(error.to_string()))?;
    if line.format != FORMAT || line.version != FORMAT_VERSION {
        return Err(damaged("it is of another format"));
    }
    Ok((line.header, sum))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use heeler_core::Timestamp;

    use super::*;

    fn header(workspace: &str) -> SessionHeader {
        SessionHeader {
            id: "a".parse().unwrap(),
            created: Timestamp(5),
            workspace: workspace.to_owned(),
        }
    }

    #[test]
    fn a_header_names_its_format_and_round_trips() {
        let (line, sum) = encode_header(&header("/w \"x\"")).unwrap();
        expect![[r#"
            {"format":"heeler-journal","version":1,"header":{"id":"a","created":5,"workspace":"/w \"x\""},"sum":"0a760f49c7cd8394a8210ea83e94bb35"}
        "#]]
        .assert_eq(std::str::from_utf8(&line).unwrap());
        let line = line.strip_suffix(b"\n").unwrap();
        assert_eq!(decode_header(line), Ok((header("/w \"x\""), sum)));
    }

    #[test]
    fn other_lines_are_refused_for_their_reason() {
        let check = |line: &str, expected| {
            assert_eq!(decode_header(line.as_bytes()).unwrap_err(), expected, "{line}");
        };
        let damaged = |what: &str| HeaderError::Damaged(what.to_owned());
        check(r#"{"format":"heeler-journal","version":2,"layout":"?"}"#, HeaderError::Newer(2));
        check("", damaged("its checksum is wrong"));
        check(r#"{"format":"heeler-journal","version":1}"#, damaged("its checksum is wrong"));
        let mut other =
            br#"{"format":"diary","version":1,"header":{"id":"a","created":5,"workspace":""}"#
                .to_vec();
        seal(&mut other, 0);
        check(std::str::from_utf8(&other).unwrap().trim_end(), damaged("it is of another format"));
        assert!(encode_header(&header(&"w".repeat(HEADER_BYTES_MAX))).is_none());
    }
}
