//! A tool's schema as OpenAI takes it, and those who speak as it does.

use std::borrow::Cow;

use heeler_core::RawJson;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Writes the schema as it is, but for an object that says nothing of its properties, as that of a tool
/// without input: OpenAI refuses the whole request for it.
pub(crate) fn write(out: &mut Vec<u8>, schema: &RawJson) {
    #[derive(Deserialize)]
    struct Peek<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        properties: Option<IgnoredAny>,
    }
    let json = schema.get().trim_end();
    let is_bare = |peek: Peek<'_>| peek.kind == "object" && peek.properties.is_none();
    match json.strip_suffix('}') {
        Some(open) if serde_json::from_str(json).is_ok_and(is_bare) => {
            out.extend_from_slice(open.as_bytes());
            out.extend_from_slice(br#","properties":{}}"#);
        }
        _ => out.extend_from_slice(json.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_names_its_properties_and_all_else_is_left_as_it_is() {
        let written = |json: &str| {
            let mut out = Vec::new();
            write(&mut out, &RawJson::parse(json).unwrap());
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(r#"{"type": "object" }"#), r#"{"type": "object" ,"properties":{}}"#);
        let inner = r#"{"type":"object","additionalProperties":{"properties":{}}"#;
        assert_eq!(written(&format!("{inner}}}")), format!(r#"{inner},"properties":{{}}}}"#));
        for whole in [
            r#"{"type":"object","properties":{"a":{"type":"object"}}}"#,
            r#"{"properties":{},"type":"object"}"#,
            r#"{"type":["object","null"]}"#,
            r#"{"anyOf":[{"type":"object"}]}"#,
            "{}",
            "true",
        ] {
            assert_eq!(written(whole), whole);
        }
    }
}
