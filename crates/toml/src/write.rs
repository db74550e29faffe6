//! Values as TOML.

use serde::Serialize;
use serde_json::{Map, Number, Value};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table};

/// A value with named fields as a document. What is nothing is left out.
///
/// # Errors
/// When the value has no JSON, is no table, or holds a number that TOML has not.
pub fn write<T: Serialize>(value: &T) -> Result<String, String> {
    match serde_json::to_value(value).map_err(|error| error.to_string())? {
        Value::Object(fields) => Ok(DocumentMut::from(table(fields)?).to_string()),
        _ => Err("a document is a table".to_owned()),
    }
}

fn table(fields: Map<String, Value>) -> Result<Table, String> {
    let mut table = Table::new();
    for (name, value) in fields {
        match value {
            Value::Null => {}
            value => drop(table.insert(&name, item(value)?)),
        }
    }
    Ok(table)
}

/// What stands under a name: tables and lists of tables have headers of their own.
fn item(value: Value) -> Result<Item, String> {
    match value {
        Value::Object(fields) => Ok(Item::Table(table(fields)?)),
        Value::Array(values) if !values.is_empty() && values.iter().all(Value::is_object) => {
            let mut tables = ArrayOfTables::new();
            for value in values {
                if let Value::Object(fields) = value {
                    tables.push(table(fields)?);
                }
            }
            Ok(Item::ArrayOfTables(tables))
        }
        value => inline(value).map(Item::Value),
    }
}

fn inline(value: Value) -> Result<toml_edit::Value, String> {
    Ok(match value {
        Value::Null => return Err("nothing has no place in a list".to_owned()),
        Value::Bool(value) => value.into(),
        Value::Number(number) => self::number(&number)?,
        Value::String(text) => text.into(),
        Value::Array(values) => {
            let mut array = Array::new();
            for value in values {
                array.push(inline(value)?);
            }
            array.into()
        }
        Value::Object(fields) => {
            let mut table = InlineTable::new();
            for (name, value) in fields {
                table.insert(&name, inline(value)?);
            }
            table.into()
        }
    })
}

fn number(number: &Number) -> Result<toml_edit::Value, String> {
    match (number.as_i64(), number.as_f64()) {
        (Some(whole), _) => Ok(whole.into()),
        (None, Some(float)) if number.is_f64() => Ok(float.into()),
        _ => Err(format!("{number} is too large a number")),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn check(value: &Value, expected: Expect) {
        let text = write(value).unwrap_or_else(|why| format!("error: {why}"));
        expected.assert_eq(&text);
        if !text.starts_with("error") {
            assert_eq!(&crate::read::<Value>(&text).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn values_are_written_as_people_write_them() {
        check(
            &json!({
                "n": 1, "f": 1.5, "b": true, "text": "a\n\"b\"", "none": [],
                "list": ["a", [1], {"x": 1}],
                "table": {"key": "secret", "deeper": {"a b": 1}},
                "rows": [{"a": ["x", "y"]}, {"a": []}],
            }),
            expect![[r#"
                n = 1
                f = 1.5
                b = true
                text = """
                a
                "b""""
                none = []
                list = ["a", [1], { x = 1 }]

                [table]
                key = "secret"

                [table.deeper]
                "a b" = 1

                [[rows]]
                a = ["x", "y"]

                [[rows]]
                a = []
            "#]],
        );
        check(&json!({}), expect![""]);
    }

    #[test]
    fn what_toml_has_not_is_refused() {
        check(&json!([1]), expect!["error: a document is a table"]);
        check(
            &json!({"a": u64::MAX}),
            expect!["error: 18446744073709551615 is too large a number"],
        );
        check(&json!({"a": [null]}), expect!["error: nothing has no place in a list"]);
    }

    #[test]
    fn nothing_is_left_out() {
        assert_eq!(write(&json!({"a": null, "b": {"c": null}})).unwrap(), "[b]\n");
    }
}
