//! TOML as JSON whose values stand on the same lines.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A document as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// The JSON.
    pub json: String,
    /// Of each element of the list `listed`, the line it begins in, from 1.
    pub lines: Vec<usize>,
}

/// What is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoToml {
    /// In which line, from 1, if that is known.
    pub line: Option<usize>,
    /// What.
    pub what: String,
}

/// Reads a value.
///
/// # Errors
/// When the text is no TOML, or not what the type wants.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, NoToml> {
    let Converted { json, .. } = converted(text, "")?;
    serde_json::from_str(&json).map_err(|error| NoToml::of(&error))
}

impl NoToml {
    /// What is wrong with the JSON of a document.
    #[must_use]
    pub fn of(error: &serde_json::Error) -> Self {
        let place = format!(" at line {} column {}", error.line(), error.column());
        Self { line: Some(error.line()), what: error.to_string().replace(&place, "") }
    }
}

/// Converts a document; `listed` is the name of a list of tables.
///
/// # Errors
/// When the text is no TOML, or holds a number that JSON has not.
pub fn converted(text: &str, listed: &str) -> Result<Converted, NoToml> {
    let lines = Lines::of(text);
    let at = |span: Range<usize>| lines.at(span.start);
    let document = DeTable::parse(text)
        .map_err(|error| NoToml { line: error.span().map(at), what: error.message().to_owned() })?;
    let table = document.get_ref();
    let elements = table.get(listed).and_then(|value| value.get_ref().as_array());
    let elements = elements.into_iter().flat_map(|list| list.iter());
    let starts = elements.map(|element| at(element.span())).collect();
    let mut writer = Writer { json: String::with_capacity(text.len()), line: 1, lines: &lines };
    writer.table(table)?;
    Ok(Converted { json: writer.json, lines: starts })
}

struct Writer<'l> {
    json: String,
    /// In which line of both texts it is.
    line: usize,
    lines: &'l Lines,
}

impl Writer<'_> {
    /// Goes on in the line of this place, unless that one is over.
    fn go_to(&mut self, span: Range<usize>) {
        let line = self.lines.at(span.start);
        self.json.extend(std::iter::repeat_n('\n', line.saturating_sub(self.line)));
        self.line = self.line.max(line);
    }

    fn table(&mut self, table: &DeTable<'_>) -> Result<(), NoToml> {
        // As they were written, so that no line has to be gone back to.
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        self.json.push('{');
        for (n, (key, value)) in entries.into_iter().enumerate() {
            if n > 0 {
                self.json.push(',');
            }
            self.go_to(key.span());
            self.text(key.get_ref());
            self.json.push(':');
            self.value(value)?;
        }
        self.json.push('}');
        Ok(())
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>) -> Result<(), NoToml> {
        self.go_to(value.span());
        match value.get_ref() {
            DeValue::Boolean(value) => self.json.push_str(if *value { "true" } else { "false" }),
            DeValue::Integer(number) => {
                let number = i64::from_str_radix(number.as_str(), number.radix())
                    .map_err(|_| self.refused("a number is too large"))?;
                self.json.push_str(&number.to_string());
            }
            DeValue::Float(number) => {
                // TOML's own marks between digits are none of Rust's.
                let number: Option<f64> = number.as_str().replace('_', "").parse().ok();
                let number = number.and_then(serde_json::Number::from_f64);
                let number = number.ok_or_else(|| self.refused("a number is not finite"))?;
                self.json.push_str(&number.to_string());
            }
            DeValue::String(text) => self.text(text),
            // JSON has no dates: one that stands bare becomes its text.
            DeValue::Datetime(date) => self.text(&date.to_string()),
            DeValue::Array(list) => {
                self.json.push('[');
                for (n, element) in list.iter().enumerate() {
                    if n > 0 {
                        self.json.push(',');
                    }
                    self.value(element)?;
                }
                self.json.push(']');
            }
            DeValue::Table(table) => self.table(table)?,
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        // Line ends are escaped, so the text ends in the line it began in.
        self.json.push_str(&serde_json::Value::from(text).to_string());
    }

    fn refused(&self, what: &str) -> NoToml {
        NoToml { line: Some(self.line), what: what.to_owned() }
    }
}

/// Where the lines of a text end.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The number of the line that holds this byte, from 1.
    fn at(&self, offset: usize) -> usize {
        1 + self.0.partition_point(|end| *end < offset)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let said = match converted(text, "reply") {
            Ok(Converted { json, lines }) => format!("{lines:?}\n{json}"),
            Err(NoToml { line, what }) => format!("{line:?}: {what}"),
        };
        expected.assert_eq(&said);
    }

    #[test]
    fn values_stand_on_their_lines() {
        check(
            "# a\n[script]\nloop = true\n\n[[reply]]\ntext = \"a\\nb\"\nn = 0x1_0\n\n[[reply]]\n\
             blocks = [\n  { z = 1.5, a = \"\" },\n]\nday = 2020-01-01\n",
            expect![[r#"
                [5, 9]
                {
                "script":{
                "loop":true},

                "reply":[{
                "text":"a\nb",
                "n":16},

                {
                "blocks":[
                {"z":1.5,"a":""}],

                "day":"2020-01-01"}]}"#]],
        );
        check(
            "b = 1\na.x = 2\n",
            expect![[r#"
            []
            {"b":1,
            "a":{"x":2}}"#]],
        );
        check(
            "reply = 1\n",
            expect![[r#"
            []
            {"reply":1}"#]],
        );
    }

    #[test]
    fn what_json_cannot_say_is_told_with_its_line() {
        check("a = 1\nb = inf\n", expect!["Some(2): a number is not finite"]);
        check("a = 99999999999999999999\n", expect!["Some(1): a number is too large"]);
        check("a = 1\nb\n", expect!["Some(2): key with no value, expected `=`"]);
    }
}
