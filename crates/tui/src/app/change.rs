//! What a call would make of a file, for whoever is asked about it.

use heeler_core::OpenPermission;
use serde_json::Value;

/// The file that a call would change, when it is of one that is written in place.
pub(super) fn path(open: &OpenPermission) -> Option<String> {
    if !matches!(open.tool.as_str(), "Edit" | "MultiEdit" | "Write") {
        return None;
    }
    Some(open.input.value().get("file_path")?.as_str()?.to_owned())
}

/// The whole file before and after the call; `None` when that is not plain to see, as where the text
/// to replace stands in several places or is only alike.
pub(super) fn whole(tool: &str, input: &Value, file: &str) -> Option<(String, String)> {
    let after = match tool {
        "Write" => input.get("content")?.as_str()?.to_owned(),
        "Edit" => replaced(file, input)?,
        "MultiEdit" => {
            let edits = input.get("edits")?.as_array()?;
            edits.iter().try_fold(file.to_owned(), |file, edit| replaced(&file, edit))?
        }
        _ => return None,
    };
    Some((file.to_owned(), after))
}

fn replaced(file: &str, edit: &Value) -> Option<String> {
    let text = |field: &str| edit.get(field)?.as_str();
    let (old, new) = (text("old_string")?, text("new_string")?);
    let is_all = edit.get("replace_all").and_then(Value::as_bool).unwrap_or(false);
    match (old.is_empty(), file.matches(old).count(), is_all) {
        (false, 1, _) => Some(file.replacen(old, new, 1)),
        (false, 2.., true) => Some(file.replace(old, new)),
        _ => None,
    }
}
