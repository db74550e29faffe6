//! Raw JSON never lies below a serde representation that cannot read it back.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::rust_text::{closing, line_at, words};
use crate::tree::{File, Tree};

pub(super) const WHY: &str = "serde buffers what lies below `tag`, `untagged` and `flatten`, and \
     a buffered `RawValue` fails to deserialize; writing works, so tests that only write pass. \
     Read `&RawValue`, peek at the type, then parse the variant";

/// The type that cannot be read back out of serde's buffer.
const RAW: &str = "RawValue";

/// What makes serde buffer.
const BUFFERING: [&str; 3] = ["tag", "untagged", "flatten"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut folders: BTreeSet<&str> = tree.crates().map(|(folder, ..)| folder).collect();
    folders.extend(["bench", "examples", "loom", "xtask"]);
    for folder in folders {
        let prefix = format!("{folder}/");
        let files: Vec<_> = tree.rust().filter(|(path, _)| path.starts_with(&prefix)).collect();
        findings.extend(check_crate(&files));
    }
    findings
}

/// A type may hold raw JSON through another type of its crate, so a crate is looked at whole.
fn check_crate(files: &[(&str, &File)]) -> Vec<Finding> {
    let items: Vec<Item<'_>> = files.iter().flat_map(|(path, file)| items(path, file)).collect();
    let mut raw = BTreeSet::from([RAW]);
    loop {
        let more: Vec<&str> = items
            .iter()
            .filter(|item| item.reads() && !raw.contains(item.name) && item.raw(&raw).is_some())
            .map(|item| item.name)
            .collect();
        if more.is_empty() {
            break;
        }
        raw.extend(more);
    }
    items.iter().filter_map(|item| item.finding(&raw)).collect()
}

/// A struct or enum.
struct Item<'a> {
    path: &'a str,
    line: usize,
    name: &'a str,
    attributes: Vec<&'a str>,
    body: &'a str,
}

impl Item<'_> {
    fn finding(&self, raw: &BTreeSet<&str>) -> Option<Finding> {
        let buffering = self.buffering()?;
        let inner = self.reads().then(|| self.raw(raw))??;
        let message =
            format!("`{}` is read through serde's `{buffering}` and holds `{inner}`", self.name);
        Some(Finding::refused(self.path, self.line, message))
    }

    /// Whether serde derives the reading. A type that only writes is sound, and one that reads
    /// by hand knows what it does.
    fn reads(&self) -> bool {
        self.attributes.iter().any(|attribute| {
            let mut words = words(attribute).map(|(_, word)| word);
            words.next() == Some("derive") && words.any(|word| word == "Deserialize")
        })
    }

    /// The buffering representation that one of the type's attributes asks for.
    fn buffering(&self) -> Option<&'static str> {
        let inner = attributes(self.body);
        self.attributes.iter().chain(&inner).find_map(|attribute| {
            let mut words = words(attribute).map(|(_, word)| word);
            if words.next() != Some("serde") {
                return None;
            }
            let words: Vec<&str> = words.collect();
            BUFFERING.into_iter().find(|buffering| words.contains(buffering))
        })
    }

    /// The raw type among the words of its fields.
    fn raw(&self, raw: &BTreeSet<&str>) -> Option<String> {
        words(self.body).find(|(_, word)| raw.contains(word)).map(|(_, word)| word.to_owned())
    }
}

/// The attributes anywhere in `code`, without `#[` and `]`.
fn attributes(code: &str) -> Vec<&str> {
    let starts = code.match_indices("#[");
    starts.filter_map(|(at, _)| code.get(at + 2..closing(code, at + 1)?)).collect()
}

/// The structs and enums of a file.
fn items<'a>(path: &'a str, file: &'a File) -> Vec<Item<'a>> {
    let code = file.rust.code.as_str();
    let mut items = Vec::new();
    let mut attributes = Vec::new();
    let mut at = 0;
    while let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) {
        let space = rest.len() - rest.trim_start().len();
        if space > 0 {
            at += space;
        } else if rest.starts_with("#[") {
            let Some(end) = closing(code, at + 1) else { break };
            attributes.push(&code[at + 2..end]);
            at = end + 1;
        } else if rest.starts_with('(') && !attributes.is_empty() {
            // The scope of `pub(crate)`.
            at = closing(code, at).unwrap_or(at) + 1;
        } else {
            let word = words(rest).next().filter(|(start, _)| *start == 0).map(|(_, word)| word);
            match word {
                Some("pub") => {}
                Some("struct" | "enum") => {
                    items.extend(item(path, code, at, std::mem::take(&mut attributes)));
                }
                _ => attributes.clear(),
            }
            let first = rest.chars().next().map_or(1, char::len_utf8);
            at += word.map_or(first, str::len);
        }
    }
    items
}

/// The item whose keyword stands at `at`.
fn item<'a>(path: &'a str, code: &'a str, at: usize, attributes: Vec<&'a str>) -> Option<Item<'a>> {
    let name = words(&code[at..]).nth(1).map(|(_, word)| word)?;
    let open = at + code[at..].find(['{', '(', ';'])?;
    let end = closing(code, open).unwrap_or(open);
    Some(Item { path, line: line_at(code, at), name, attributes, body: &code[open..end] })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::finding::render;

    fn check_types(text: &str, expected: Expect) {
        let tree = Tree::of([("crates/a/Cargo.toml", ""), ("crates/a/src/lib.rs", text)]);
        expected.assert_eq(&render(check(&tree)));
    }

    #[test]
    fn each_buffering_representation_above_raw_json_is_refused() {
        check_types(
            r#"
            #[derive(Debug, Deserialize)]
            #[serde(tag = "type", rename_all = "snake_case")]
            pub(crate) enum Tagged { A { input: Box<RawValue> } }
            #[derive(Deserialize)]
            #[serde(untagged)]
            enum Untagged<'a> { A(&'a RawValue), B(String) }
            #[derive(serde::Deserialize)]
            struct Flat {
                id: String,
                #[serde(flatten)]
                rest: Option<Box<serde_json::value::RawValue>>,
            }
            "#,
            expect![[r#"
                crates/a/src/lib.rs:4: `Tagged` is read through serde's `tag` and holds `RawValue`
                crates/a/src/lib.rs:7: `Untagged` is read through serde's `untagged` and holds `RawValue`
                crates/a/src/lib.rs:9: `Flat` is read through serde's `flatten` and holds `RawValue`
            "#]],
        );
    }

    #[test]
    fn raw_json_inside_another_type_is_found() {
        check_types(
            r#"
            #[derive(Deserialize)]
            #[serde(tag = "kind", content = "body")]
            enum Outer { A(Middle) }
            #[derive(Deserialize)]
            struct Middle { inner: Vec<Inner> }
            #[derive(Deserialize)]
            struct Inner(Box<RawValue>);
            "#,
            expect![[r#"
                crates/a/src/lib.rs:4: `Outer` is read through serde's `tag` and holds `Middle`
            "#]],
        );
    }

    #[test]
    fn what_serde_does_not_buffer_or_read_is_fine() {
        check_types(
            r#"
            #[derive(Deserialize)]
            struct Plain { #[serde(rename = "tag")] input: Box<RawValue> }
            #[derive(Serialize)]
            #[serde(tag = "type")]
            enum Written<'a> { A { input: &'a RawValue } }
            #[derive(Serialize, Deserialize)]
            #[serde(tag = "type")]
            enum Tagged { A { raw: RawJson } }
            fn f() { let untagged = RawValue::NULL; }
            "#,
            expect![""],
        );
    }
}
