//! What is written is what serde_json writes.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use proptest::prelude::*;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;

/// What is written is what serde_json writes, or both refuse it.
#[track_caller]
fn check<T: Serialize>(value: &T) {
    let mut written = b"before".to_vec();
    let ours = write(&mut written, value).map(|_| String::from_utf8(written).unwrap());
    let theirs = serde_json::to_string(value).map(|json| format!("before{json}"));
    let theirs = theirs.map_err(|error| error.to_string());
    assert_eq!(ours.map_err(|error| error.to_string()), theirs);
    assert_eq!(in_pieces(value).map(|(_, written)| written), theirs);
}

/// The sizes of the pieces, the last one that which was left, and all of them together.
fn in_pieces<T: Serialize>(value: &T) -> Result<(Vec<usize>, String), String> {
    let (mut out, mut whole, mut sizes) = (b"before".to_vec(), Vec::new(), Vec::new());
    let mut take = |piece: &mut Vec<u8>| {
        sizes.push(piece.len());
        whole.append(piece);
        Ok(())
    };
    write_in_pieces(&mut out, value, &mut take).map_err(|error| error.to_string())?;
    take(&mut out).unwrap();
    Ok((sizes, String::from_utf8(whole).unwrap()))
}

#[derive(Serialize)]
struct Fields<'a> {
    text: &'a str,
    none: Option<u8>,
    some: Option<i8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<u8>,
    #[serde(flatten)]
    rest: BTreeMap<&'a str, Variants>,
    unit: (),
    nothing: Nothing,
}

#[derive(Serialize)]
struct Nothing;

#[derive(Serialize)]
struct Pair(u8, char);

#[derive(Serialize)]
struct Newtype(f64);

#[derive(Serialize, Clone)]
enum Variants {
    Unit,
    Newtype(u64),
    Tuple(i64, bool),
    Struct { a: f32, b: Vec<Variants> },
}

#[derive(Serialize)]
#[serde(tag = "kind", content = "body", rename_all = "snake_case")]
enum Adjacent {
    Unit,
    Struct { a: i128, b: u128 },
}

/// A text that is displayed in several pieces.
struct Shown;

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces = (1, 'b');
        writeln!(f, "{}\"{}", pieces.0, pieces.1)
    }
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

struct Bytes;

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&[0, 255])
    }
}

#[test]
fn each_kind_of_value() {
    let variants = [
        Variants::Unit,
        Variants::Newtype(u64::MAX),
        Variants::Tuple(i64::MIN, true),
        Variants::Struct {
            a: 0.1,
            b: vec![Variants::Unit, Variants::Struct { a: 1.0, b: vec![] }],
        },
    ];
    check(&variants);
    check(&Fields {
        text: "a\"\u{1}\u{e9}",
        none: None,
        some: Some(-1),
        absent: None,
        rest: [("x", variants[3].clone()), ("y", variants[0].clone())].into(),
        unit: (),
        nothing: Nothing,
    });
    check(&(
        Pair(1, '\u{1f600}'),
        Newtype(1e300),
        Newtype(f64::NAN),
        Shown,
        Bytes,
        ((), [0_u8; 0]),
    ));
    check(&[Adjacent::Unit, Adjacent::Struct { a: i128::MIN, b: u128::MAX }]);
    check(&RawValue::from_string("{\"a\" : [1.50]}".into()).unwrap());
}

#[test]
fn each_kind_of_key() {
    check(&HashMap::from([(1_u32, 2)]));
    check(&HashMap::from([(-1_i8, 2)]));
    check(&HashMap::from([(true, 2)]));
    check(&HashMap::from([('"', 2)]));
    check(&HashMap::from([("\n", 2)]));
    check(&HashMap::from([(Some("a"), 2)]));
    check(&HashMap::from([((), 2)]));
    check(&HashMap::from([((1, 2), 2)]));
    check(&HashMap::from([(None::<u8>, 2)]));
}

#[test]
fn what_refuses_to_be_written_says_why() {
    struct Refuses;
    impl Serialize for Refuses {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no"))
        }
    }
    check(&[Refuses]);
}

#[test]
fn what_is_long_is_written_in_pieces() {
    let check_sizes = |value: &Value| {
        check(value);
        let (sizes, _) = in_pieces(value).unwrap();
        let (last, pieces) = sizes.split_last().unwrap();
        let expected = PIECE_BYTES..2 * PIECE_BYTES;
        assert!(!pieces.is_empty() && *last < expected.end, "{sizes:?}");
        assert!(pieces.iter().all(|size| expected.contains(size)), "{sizes:?}");
    };
    // Pieces end in the middle of a character, too.
    for text in ["x", "é", "\u{1f600}", "\n"] {
        check_sizes(&json!({"a": text.repeat(PIECE_BYTES), text: [text]}));
    }
    check_sizes(&json!(vec!["short"; PIECE_BYTES]));
    // A key is looked at again, and stays whole.
    let key = "k".repeat(2 * PIECE_BYTES);
    assert_eq!(in_pieces(&json!({key: 1})).unwrap().0.len(), 1);
}

#[test]
fn who_takes_the_pieces_ends_the_writing() {
    let text = "x".repeat(10 * PIECE_BYTES);
    let (mut out, mut n_taken) = (Vec::new(), 0);
    let result = write_in_pieces(&mut out, &[&text, &text], &mut |piece| {
        n_taken += 1;
        piece.clear();
        if n_taken == 3 { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    });
    assert_eq!(result.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    assert_eq!(n_taken, 3);
}

fn depth_of(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth_of).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth_of).max().unwrap_or(0),
        _ => 0,
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<Option<bool>>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_is_what_serde_json_writes_and_as_deep_as_it_is(value in value()) {
        check(&value);
        prop_assert_eq!(write(&mut Vec::new(), &value).unwrap(), depth_of(&value));
    }
}
