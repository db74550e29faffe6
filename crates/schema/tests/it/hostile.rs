//! Schemas and values that are made to hurt: each is refused, or done with soon.

use std::fmt::Write as _;

use heeler_schema::Schema;
use serde_json::{Map, Value, json};

/// Schemas by number, each of the next ones.
fn chain(count: usize, link: impl Fn(Value) -> Value, end: Value) -> Value {
    let mut defs = Map::new();
    for index in 0..count {
        let next = json!({"$ref": format!("#/$defs/{}", index + 1)});
        defs.insert(index.to_string(), link(next));
    }
    defs.insert(count.to_string(), end);
    json!({"$defs": defs, "$ref": "#/$defs/0"})
}

fn refused(schema: &Value) -> String {
    Schema::new(schema).unwrap_err().to_string()
}

/// What is said of a value whose check was given up.
fn given_up(schema: &Value, value: &Value) {
    let schema = Schema::new(schema).unwrap();
    assert!(!schema.accepts(value));
    let problems = schema.problems(value);
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].to_string().contains("takes too long, or goes too deep"),
        "{}",
        problems[0]
    );
}

#[test]
fn references_lead_nowhere_else() {
    for reference in [
        "http://127.0.0.1:9/schema.json",
        "https://json-schema.org/draft/2020-12/schema",
        "file:///etc/hostname",
        "../../etc/hostname",
        "other.json#/a",
        "#/$defs/a/b/c",
        "#nowhere",
        "#/%ff",
        "http://[",
    ] {
        let schema = json!({"properties": {"a": {"$ref": reference}}, "$defs": {"a": {}}});
        let error = refused(&schema);
        assert!(error.starts_with("at `/properties/a/$ref`: the reference "), "{error}");
    }
}

#[test]
fn a_schema_that_only_leads_back_is_refused() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#"}}}}),
        json!({"$dynamicAnchor": "a", "anyOf": [{"type": "null"}, {"$dynamicRef": "#a"}]}),
        json!({"if": {"type": "null"}, "else": {"$ref": "#"}}),
        json!({"dependentSchemas": {"a": {"$ref": "#"}}}),
        chain(100_000, |next| next, json!({"$ref": "#/$defs/0"})),
    ] {
        let error = refused(&schema);
        assert!(error.ends_with("the schema refers to itself without end"), "{error}");
    }
    // One that goes into the value ends with it.
    let tree = json!({"anyOf": [{"type": "null"}, {"items": {"$ref": "#"}, "type": "array"}]});
    assert!(Schema::new(&tree).unwrap().accepts(&json!([null, [[null]]])));
    // So does one that nothing leads to.
    Schema::new(&json!({"$defs": {"a": {"$ref": "#/$defs/a"}}})).unwrap();
}

#[test]
fn long_ways_and_many_ways_are_given_up() {
    given_up(&chain(100_000, |next| next, json!({})), &json!(1));
    let both = |next: Value| json!({"allOf": [next, next]});
    given_up(&chain(60, both, json!({"type": "integer"})), &json!(1));
    let either = |next: Value| json!({"anyOf": [next, next]});
    given_up(&chain(60, either, json!({"type": "integer"})), &json!("a"));
    // A reference that another schema takes over leads back only while a value is checked.
    let taken_over = json!({"$id": "https://example.com/a", "$ref": "b", "$dynamicAnchor": "x", "$defs": {
        "b": {"$id": "b", "$dynamicRef": "#x", "$defs": {"c": {"$dynamicAnchor": "x"}}}}});
    given_up(&taken_over, &json!(1));
}

#[test]
fn a_check_is_soon_given_up_with_its_second_look() {
    // Many times the two looks at a value that the steps allow, and far less than ten million steps
    // would take, however slow the machine is.
    let either = |next: Value| json!({"anyOf": [next, next]});
    let ways = chain(40, either, json!({"type": "string"}));
    let answer = json!({"a": 1});
    let ways = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/0"}}, "$defs": ways["$defs"]});
    let around = json!({"properties": {"a": {"type": "string", "pattern": r"^(?=(a+)+$)(?!b)\1"}}});
    let text = json!({"a": "a".repeat(40) + "!"});
    for (schema, value) in [(ways, answer), (around, text)] {
        let started = std::time::Instant::now();
        given_up(&schema, &value);
        assert!(started.elapsed().as_secs() < 3, "{:?}", started.elapsed());
    }
}

#[test]
fn what_is_wrong_is_told_though_not_all_of_it_can_be_looked_at() {
    let either = |next: Value| json!({"anyOf": [next, next]});
    let slow = chain(40, either, json!({"type": "string"}));
    let schema = json!({"required": ["b"], "properties": {"a": {"$ref": "#/$defs/0"}},
        "$defs": slow["$defs"]});
    let schema = Schema::new(&schema).unwrap();
    let value = json!({"a": 1});
    let problems = schema.problems(&value);
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].to_string(), r#""b" is a required property"#);
}

#[test]
fn large_documents_of_the_published_schemas_are_checked() {
    let published = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/");
        let text = std::fs::read_to_string(format!("{folder}{name}.schema.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let settings = Schema::new(&published("settings")).unwrap();
    let rules: Vec<String> = (0..5_000).map(|rule| format!("Bash(make target-{rule} *)")).collect();
    let hook = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh"}]});
    let value = json!({
        "permissions": {"allow": rules, "deny": rules},
        "hooks": {"PreToolUse": vec![hook; 1_000]},
    });
    assert_eq!(told(&settings, &value), "");
    let value = json!({"permissions": {"allow": rules, "deny": [1]}});
    assert_ne!(told(&settings, &value), "");
    // An event that holds a list of things, each one of several kinds, and one of a long text.
    let events = Schema::new(&published("events")).unwrap();
    let text = json!({"text": {"text": "a few words ".repeat(10)}});
    let message = |blocks: Value| {
        json!({"v": 1, "type": "message", "seq": 1,
        "message": {"role": "assistant", "blocks": blocks}})
    };
    assert_eq!(told(&events, &message(json!(vec![text; 1_000]))), "");
    let long = json!([{"text": {"text": "words ".repeat(1_000_000)}}]);
    assert_eq!(told(&events, &message(long)), "");
}

/// What is wrong with a value, of which nothing is said to take too long.
fn told(schema: &Schema, value: &Value) -> String {
    let problems = schema.problems(value);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(!told.iter().any(|it| it.contains("takes too long")), "{told:?}");
    assert_eq!(schema.accepts(value), told.is_empty());
    told.join("; ")
}

#[test]
fn as_deep_as_values_may_be_is_checked_on_a_small_stack() {
    // Three schemas for each list within a list.
    let schema = json!({"anyOf": [{"type": "null"}, {"allOf": [{"items": {"$ref": "#"}, "type": "array"}]}]});
    let value = (0..95).fold(json!([]), |inner, _| json!([inner]));
    let wrong = (0..95).fold(json!(1), |inner, _| json!([inner]));
    let check = move || {
        let schema = Schema::new(&schema).unwrap();
        assert!(schema.accepts(&value));
        assert!(!schema.accepts(&wrong) && !schema.problems(&wrong).is_empty());
        let endless = chain(1_000, |next| json!({"allOf": [next]}), json!({}));
        given_up(&endless, &json!(1));
    };
    // What a worker of tokio has.
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(check);
    thread.unwrap().join().unwrap();
}

#[test]
fn patterns_take_bounded_memory_and_time() {
    let error = refused(&json!({"pattern": r"(\p{L}{1000}){1000}"}));
    assert!(error.starts_with("at `/pattern`: the pattern "), "{error}");
    let many: Map<_, _> =
        (0..900).map(|index| (format!(r"^{index}\p{{L}}{{60}}"), json!(true))).collect();
    assert!(refused(&json!({"patternProperties": many})).starts_with("at `/patternProperties/"));
    let many: Map<_, _> = (0..2_000).map(|index| (index.to_string(), json!(true))).collect();
    let error = refused(&json!({"patternProperties": many}));
    assert!(error.ends_with("there are more than 1000 patterns"), "{error}");
    // Without a limit, two to the power of 40 ways; and `not` makes no match of one that is given up.
    let slow = json!({"pattern": r"^(?=a)(a|aa)+\1$(?<!b)"});
    let text = json!("a".repeat(60) + "b");
    given_up(&slow, &text);
    given_up(&json!({"not": slow}), &text);
    // Each match is soon done, and there are too many of them.
    let looks = json!({"items": {"pattern": "^(?!b)a"}});
    given_up(&looks, &json!(vec!["a"; 100_000]));
    assert!(Schema::new(&looks).unwrap().accepts(&json!(vec!["a"; 1_000])));
    let error = refused(&json!({"pattern": "{1".repeat(500_000)}));
    assert!(error.ends_with(" is longer than 100000 bytes"), "{error}");
    let error = refused(&json!({"pattern": "(".repeat(99_999)}));
    assert!(error.ends_with(" has more than 64 groups within each other"), "{error}");
    // Each set in brackets is joined with all that stands there.
    let letters: String = ('\u{4e00}'..'\u{9fff}').step_by(2).collect();
    let error = refused(&json!({"pattern": format!("[{letters}]")}));
    assert!(error.ends_with(" has too much in brackets"), "{error}");
    let same = Schema::new(&json!({"pattern": format!("^[{}]$", r"\d".repeat(4_000))})).unwrap();
    assert!(same.accepts(&json!("7")) && !same.accepts(&json!("a")));
    let properties = |of: usize| json!({"pattern": format!(r"[\p{{L}}{of}]").repeat(5_000)});
    let many: Vec<Value> = (0..10).map(properties).collect();
    let error = refused(&json!({"anyOf": many}));
    assert!(error.ends_with(" is too large, with those before it"), "{error}");
    // Nothing may be repeated, too.
    for pattern in ["(?:(?=a)()){4000000000}", r"(?<!(?:\p{L}{1,1000}){1,1000})b"] {
        let error = refused(&json!({"pattern": pattern}));
        assert!(error.contains("is too large for one that looks around or back"), "{error}");
    }
}

#[test]
fn a_match_costs_what_its_pattern_is_large() {
    let large = Schema::new(&json!({"pattern": "a[ab]{20000}c"})).unwrap();
    assert!(!large.accepts(&json!("ab")));
    let ab = "abaabbab".repeat(2_000);
    given_up(&json!({"pattern": "a[ab]{20000}c"}), &json!(ab));
    given_up(&json!({"patternProperties": {"a(?:[ab]{100}){200}c": {}}}), &json!({ab.as_str(): 1}));
    given_up(
        &json!({"pattern": r"a(?:\p{L}{20}|[^c]{20}|\S{20}|.{20}){6}1"}),
        &json!(ab.repeat(30)),
    );
    // What is everyday is cheap.
    let uuid = "^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$";
    let schema = Schema::new(&json!({"items": {"pattern": uuid}})).unwrap();
    assert!(schema.accepts(&json!(vec!["5c0f62cb-9e51-4b6e-8f7c-3a0d3a0e6f11"; 5_000])));
    let email = r"^[^\s@]+@[^\s@]+\.[^\s@]+$";
    let schema = Schema::new(&json!({"items": {"pattern": email}})).unwrap();
    assert!(schema.accepts(&json!(vec!["somebody@mail.example.com"; 5_000])));
    let base64 = Schema::new(&json!({"pattern": "^[A-Za-z0-9+/]*={0,2}$"})).unwrap();
    assert!(base64.accepts(&json!("abcd".repeat(250_000))));
    // One that looks around may go through the whole text from each place in it.
    let around = Schema::new(&json!({"pattern": "^(?!.*secret)[a-z ]+$"})).unwrap();
    assert!(around.accepts(&json!("a few words ".repeat(100))));
    given_up(&json!({"pattern": "^(?!.*secret)[a-z ]+$"}), &json!("words ".repeat(40_000)));
    given_up(&json!({"pattern": r"\bword\b"}), &json!("words ".repeat(200_000)));
}

#[test]
fn what_looks_far_again_and_again_is_given_up() {
    let ab = |times: usize| json!("ab".repeat(times));
    let far = json!({"pattern": "^(?:(?=[ab]*)[ab])*$"});
    assert!(Schema::new(&far).unwrap().accepts(&ab(500)));
    given_up(&far, &ab(60_000));
    // Groups that keep what they find are slower by far.
    let kept = json!({"pattern": r"^(?:(?=([ab]*)[ab]*)(?:[ab]|\1c))*$"});
    assert!(Schema::new(&kept).unwrap().accepts(&ab(100)));
    given_up(&kept, &ab(5_000));
}

#[test]
fn a_long_text_has_more_steps_back() {
    let word = Schema::new(&json!({"pattern": r"\bfoo\b"})).unwrap();
    assert!(word.accepts(&json!("a few words ".repeat(200) + "foo")));
    assert!(!word.accepts(&json!("a few words ".repeat(200) + "food")));
    let near = Schema::new(&json!({"pattern": r"^((?!\.\.).)*$"})).unwrap();
    assert!(near.accepts(&json!("a few words. ".repeat(150))));
    assert!(!near.accepts(&json!("a few words. ".repeat(150) + "..")));
}

#[test]
fn what_matching_builds_up_is_kept_for_some_patterns() {
    // More than what is kept for, of both kinds: the others match all the same, and cost more.
    let patterns = |count: usize, start: &str| -> Map<String, Value> {
        (0..count).map(|index| (format!("{start}[a-z]+{index}$"), json!(false))).collect()
    };
    let value: Map<_, _> = (0..1).map(|index| (format!("a_{index}"), json!(1))).collect();
    for (start, count) in [("^", 900), ("^(?!b)", 90)] {
        let schema = json!({"patternProperties": patterns(count, start)});
        let schema = Schema::new(&schema).unwrap();
        assert!(schema.accepts(&Value::Object(value.clone())));
        assert!(!schema.accepts(&json!({format!("a{}", count - 1): 1})));
    }
    let many: Map<_, _> = (0..4_000).map(|index| (format!("a_{index}"), json!(1))).collect();
    given_up(&json!({"patternProperties": patterns(900, "^")}), &Value::Object(many.clone()));
    given_up(&json!({"patternProperties": patterns(90, "^(?!b)")}), &Value::Object(many));
    // The parts of one are all there at once.
    let parts: String = (0..100).map(|part| format!("|[ab]*a[ab]{{9}}{part}")).collect();
    let error = refused(&json!({"pattern": format!("(?=a){parts}")}));
    assert!(error.contains("looks around or back, and has too many parts"), "{error}");
}

#[test]
fn problems_and_places_take_bounded_memory() {
    let schema = Schema::new(&json!({"items": {"type": "integer"}})).unwrap();
    assert_eq!(schema.problems(&json!(vec!["a"; 100_000])).len(), 64);
    // Each schema's place has all names on the way to it.
    let inner: Map<_, _> = (0..1_000).map(|index| (index.to_string(), json!({}))).collect();
    let long = json!({"properties": {"n".repeat(1_000_000): {"properties": inner}}});
    assert_eq!(refused(&long), "the schema is too large");
    let name = "n".repeat(1_000_000);
    let ids: Map<_, _> =
        (0..1_000).map(|index| (index.to_string(), json!({"$id": index.to_string()}))).collect();
    let long = json!({"$id": format!("https://example.com/{name}/"), "$defs": ids});
    assert_eq!(refused(&long), "the schema is too large");
    // Each problem has its path, and each way to fit its problem.
    let ways: Vec<Value> = (0..1_000).map(|way| json!({"items": {"const": way}})).collect();
    let schema = Schema::new(&json!({"additionalProperties": {"anyOf": ways}})).unwrap();
    let value = json!({name.as_str(): ["a", "b", "c"]});
    assert_eq!(schema.problems(&value).len(), 1);
    // A value is told in full by who shows it, and shortened within a reason.
    let told = Schema::new(&json!({"enum": [name], "const": name, "not": {"const": 1}})).unwrap();
    assert!(told.problems(&json!(2)).iter().all(|problem| problem.to_string().len() < 1_000));
    // Names that nothing else looked at, a million times over.
    let fields: Map<_, _> = (0..10_000).map(|index| (index.to_string(), json!(1))).collect();
    let all: Vec<Value> = (0..10_000).map(|_| json!({"properties": {"a": true}})).collect();
    given_up(&json!({"allOf": all, "unevaluatedProperties": {}}), &Value::Object(fields));
    let values: Vec<Value> = (0..30_000).map(|index| json!([index, "a"])).collect();
    let unique = Schema::new(&json!({"uniqueItems": true})).unwrap();
    assert!(unique.accepts(&json!(values)));
}

#[test]
fn long_names_are_counted() {
    let all: Vec<Value> = (0..1_000).map(|_| json!({"properties": {"a": true}})).collect();
    given_up(&json!({"allOf": all}), &json!({"n".repeat(1_000_000): 1}));
    let name = "n".repeat(1_000_000);
    given_up(
        &json!({"items": {"dependentRequired": {name: ["a"]}}}),
        &json!(vec![json!({}); 1_000]),
    );
    // Within values that are compared, too.
    let name = "n".repeat(1_000_000);
    let both = |next: Value| json!({"allOf": [next, next]});
    let items = json!([{name.as_str(): 0}, {name.as_str(): 1}]);
    given_up(&chain(18, both, json!({"uniqueItems": true})), &items);
    // And none is told in full, as often as it is wrong.
    let ways: Vec<Value> = (0..32).map(|way| json!({"const": way, "enum": [0]})).collect();
    let schema = json!({"propertyNames": {"allOf": [{"anyOf": ways}, {"maxLength": 1}]}});
    let schema = Schema::new(&schema).unwrap();
    let value = json!({&name[..100_000]: 1});
    let problems = schema.problems(&value);
    let told = problems.iter().flat_map(|problem| problem.alternatives().chain([problem]));
    let told: Vec<String> = told.map(|problem| problem.value().to_string()).collect();
    assert!(told.len() > 32 && told.iter().all(|value| value.len() < 500));
}

#[test]
fn schemas_are_not_kept_once_more_for_their_words() {
    let schema = (0..60).fold(json!({"const": "n".repeat(100_000)}), |it, _| json!({"not": it}));
    let schema = Schema::new(&schema).unwrap();
    assert!(format!("{schema:?}").len() < 300_000);
}

#[test]
fn why_other_ways_do_not_fit_is_no_reason_to_give_up() {
    let names = |way: usize| (0..16).map(|name| format!("{way}.{name}")).collect::<Vec<_>>();
    let mut ways: Vec<Value> = (0..32).map(|way| json!({"required": names(way)})).collect();
    ways.push(json!({"maxProperties": 0}));
    let schema = Schema::new(&json!({"items": {"anyOf": ways}})).unwrap();
    let value = json!(vec![json!({}); 300]);
    assert!(schema.accepts(&value) && schema.problems(&value).is_empty());
}

#[test]
fn any_text_is_read_or_refused() {
    let mut text = String::new();
    for part in ["[", "]", "^", "-", "\\", "u", "{", "}", "(", "?", "<", "d", "é", "&", "c", "p"] {
        for other in ["", "\\", "[", "-", "{", "^]", "\\u", "\\p{", "(?<", "é"] {
            text.clear();
            write!(text, "{other}{part}{other}").unwrap();
            let _ = Schema::new(&json!({"pattern": text, "$anchor": text}));
            let _ = Schema::new(&json!({"pattern": text, "patternProperties": {&text: {}}}));
            let _ = Schema::new(&json!({"$ref": format!("#{text}"), "$defs": {}}));
            let _ = Schema::new(&json!({"$id": text, "$schema": text}));
            let _ = Schema::new(&json!({"$id": text, "items": {"$id": text, "$ref": text}}));
        }
    }
}
