//! The parser of answers and docs/response.schema.json accept the same: whatever the schema allows, to its very bounds,
//! and nothing else. The validator here is a second, independent reading of the schema.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use lazaret::review::response::{MAX_BYTES, SCHEMA, parse};
use proptest::prelude::*;
use serde_json::{Value, json};

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// The keywords of JSON Schema 2020-12 that the file uses; an unknown one fails the test rather than being skipped.
fn valid(schema: &Value, value: &Value) -> bool {
    schema.as_object().unwrap().iter().all(|(keyword, wanted)| match keyword.as_str() {
        "$schema" | "title" | "description" => true,
        "type" => match wanted {
            Value::Array(kinds) => kinds.iter().any(|kind| is(kind.as_str().unwrap(), value)),
            kind => is(kind.as_str().unwrap(), value),
        },
        "enum" => wanted.as_array().unwrap().contains(value),
        "minLength" => {
            value.as_str().is_none_or(|text| text.chars().count() as u64 >= wanted.as_u64().unwrap())
        }
        "maxLength" => {
            value.as_str().is_none_or(|text| text.chars().count() as u64 <= wanted.as_u64().unwrap())
        }
        "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= wanted.as_f64().unwrap()),
        "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= wanted.as_u64().unwrap()),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| valid(wanted, item))),
        "properties" => value.as_object().is_none_or(|fields| {
            fields.iter().all(|(name, value)| wanted.get(name).is_none_or(|schema| valid(schema, value)))
        }),
        "required" => value.as_object().is_none_or(|fields| {
            wanted.as_array().unwrap().iter().all(|name| fields.contains_key(name.as_str().unwrap()))
        }),
        "additionalProperties" => {
            assert_eq!(wanted, &json!(false));
            value
                .as_object()
                .is_none_or(|fields| fields.keys().all(|name| schema["properties"].get(name).is_some()))
        }
        other => panic!("the validator does not know `{other}`"),
    })
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "null" => value.is_null(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        other => panic!("the validator does not know the type `{other}`"),
    }
}

/// Small numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % sides as u64).unwrap()
    }
}

/// Something that the schema allows.
fn allowed(schema: &Value, dice: &mut Dice) -> Value {
    if let Some(words) = schema.get("enum") {
        let words = words.as_array().unwrap();
        return words[dice.roll(words.len())].clone();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds[dice.roll(kinds.len())].as_str().unwrap(),
        kind => kind.as_str().unwrap(),
    };
    match kind {
        "null" => Value::Null,
        "integer" => [json!(1), json!(3.0), json!(4_294_967_295_u64), json!(17)][dice.roll(4)].clone(),
        "string" => {
            let least = schema.get("minLength").map_or(0, |least| least.as_u64().unwrap());
            let length = least + dice.roll(4) as u64;
            let letters = ["a", "é", "😀", "\"", "\\", "\n", "<", "\u{202e}"];
            json!((0..length).map(|_| letters[dice.roll(letters.len())]).collect::<String>())
        }
        "array" => {
            let count = dice.roll(4);
            Value::Array((0..count).map(|_| allowed(&schema["items"], dice)).collect())
        }
        "object" => {
            let required = schema["required"].as_array().unwrap();
            let mut fields = serde_json::Map::new();
            for (name, schema) in schema["properties"].as_object().unwrap() {
                if required.contains(&json!(name)) || dice.roll(2) == 0 {
                    fields.insert(name.clone(), allowed(schema, dice));
                }
            }
            Value::Object(fields)
        }
        other => panic!("{other}"),
    }
}

/// One change somewhere in a value, which may or may not break the schema.
fn change(value: &mut Value, dice: &mut Dice) {
    let deeper = dice.roll(4) > 0;
    match value {
        Value::Object(fields) if deeper && !fields.is_empty() => {
            let at = dice.roll(fields.len());
            let name = fields.keys().nth(at).unwrap().clone();
            match dice.roll(6) {
                0 => drop(fields.remove(&name)),
                1 => {
                    let names =
                        ["extra", "line", "file", "unread", "location", "a b\n", "endLine", "Summary"];
                    fields.insert(names[dice.roll(names.len())].to_owned(), odd(dice));
                }
                _ => change(&mut fields[&name], dice),
            }
        }
        Value::Array(items) if deeper && !items.is_empty() => {
            let at = dice.roll(items.len());
            change(&mut items[at], dice);
        }
        other => *other = odd(dice),
    }
}

fn odd(dice: &mut Dice) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(1.0),
        json!(1.5),
        json!(-1),
        json!(-0.0),
        json!(4_294_967_295_u64),
        json!(4_294_967_296_u64),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("x"),
        json!("none"),
        json!("info"),
        json!("high"),
        json!("High"),
        json!("security"),
        json!("1"),
        json!([]),
        json!(["a"]),
        json!([""]),
        json!([null]),
        json!({}),
        json!({"file": "a"}),
        json!({"file": "a", "why": ""}),
        json!({"file": "a", "line": 1}),
        json!([{}]),
        json!("a".repeat(201)),
        json!("é".repeat(200)),
        json!("a".repeat(2001)),
        json!("a".repeat(4000)),
        json!("a".repeat(4001)),
        json!("a".repeat(13_001)),
    ];
    values[dice.roll(values.len())].clone()
}

fn agree(value: &Value) -> Result<(), String> {
    let text = value.to_string();
    let (expected, found) = (valid(&schema(), value) && text.len() <= MAX_BYTES, parse(&text));
    match found {
        Ok(_) if !expected => Err(format!("the parser accepts what the schema refuses: {text}")),
        Err(errors) if expected => {
            Err(format!("the parser refuses what the schema allows: {errors:?}: {text}"))
        }
        Err(errors) if errors.is_empty() => Err(format!("refused without a reason: {text}")),
        Ok(_) | Err(_) => Ok(()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_the_schema_allows_is_accepted(seed in any::<u64>()) {
        let value = allowed(&schema(), &mut Dice(seed));
        prop_assert!(valid(&schema(), &value), "{value}");
        prop_assert_eq!(agree(&value), Ok(()));
    }

    #[test]
    fn what_was_changed_is_judged_alike(seed in any::<u64>(), changes in 1..4) {
        let mut dice = Dice(seed);
        let mut value = allowed(&schema(), &mut dice);
        for _ in 0..changes {
            change(&mut value, &mut dice);
        }
        prop_assert_eq!(agree(&value), Ok(()));
    }
}

fn minimal() -> Value {
    json!({ "summary": "s", "riskLevel": "none", "findings": [], "filesReviewed": [] })
}

fn finding() -> Value {
    json!({ "type": "security", "severity": "low", "title": "t", "description": "d" })
}

/// Every bound that the schema states, met and passed by one.
#[test]
fn the_bounds_are_the_same() {
    let finding_schema = schema()["properties"]["findings"]["items"]["properties"].clone();
    let mut bounds = 0;
    let mut check = |value: &Value, expected: bool| {
        assert_eq!(valid(&schema(), value), expected);
        assert_eq!(agree(value), Ok(()));
        bounds += 1;
    };
    for (name, schema) in schema()["properties"].as_object().unwrap() {
        for (length, expected) in lengths(schema) {
            let mut value = minimal();
            value[name] = json!("é".repeat(length));
            check(&value, expected);
        }
        if let Some(most) = schema.get("maxItems") {
            let most = usize::try_from(most.as_u64().unwrap()).unwrap();
            let item = match name.as_str() {
                "findings" => finding(),
                "unread" => json!({ "file": "f", "why": "" }),
                _ => json!("f"),
            };
            for (count, expected) in [(most, true), (most + 1, false)] {
                let mut value = minimal();
                value[name] = Value::Array(vec![item.clone(); count]);
                check(&value, expected);
            }
        }
    }
    for (name, schema) in finding_schema.as_object().unwrap() {
        for (length, expected) in lengths(schema) {
            let mut finding = finding();
            finding[name] = json!("é".repeat(length));
            let mut value = minimal();
            value["findings"] = json!([finding]);
            check(&value, expected);
        }
    }
    for file in ["/findings", "/filesReviewed", "/unread"] {
        for (length, expected) in [(0, false), (1, true), (13_000, true), (13_001, false)] {
            let name = "é".repeat(length);
            let mut value = minimal();
            match file {
                "/findings" => {
                    let mut finding = finding();
                    finding["location"] = json!({ "file": name });
                    value["findings"] = json!([finding]);
                }
                "/unread" => value["unread"] = json!([{ "file": name, "why": "" }]),
                _ => value["filesReviewed"] = json!([name]),
            }
            check(&value, expected);
        }
    }
    assert!(bounds > 30, "only {bounds} bounds checked");
}

/// The lengths around the bounds of a text, and whether they are allowed.
fn lengths(schema: &Value) -> Vec<(usize, bool)> {
    let Some(most) = schema.get("maxLength") else { return Vec::new() };
    let most = usize::try_from(most.as_u64().unwrap()).unwrap();
    let empty = schema.get("minLength").is_none();
    vec![(0, empty), (1, true), (most, true), (most + 1, false)]
}
