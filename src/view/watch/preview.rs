//! What a rollback would put back, as `lazaret rollback --dry-run --json` says it.

use serde_json::Value;

use super::order::Order;
use super::popup::Popup;
use super::shown::Shown;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The checkpoint.
    id: String,
    /// What would be restored or removed, a path a line.
    steps: Vec<Shown>,
    /// What would stay as it is although it is not as it was.
    stays: Vec<Shown>,
}

/// Reads what the command printed; none = it is no such object, or names no checkpoint.
pub fn read(text: &str) -> Option<Preview> {
    let said: Value = serde_json::from_str(text).ok()?;
    let id = said.get("checkpoints")?.get(0)?.as_str()?.to_owned();
    let list = |key: &str| said.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let paths = |key: &str, verb: &str| {
        let path = |path: &Value| Some(Shown::whole(&format!("{verb} {}", path.as_str()?)));
        list(key).iter().filter_map(path).collect::<Vec<_>>()
    };
    let refusals = |key: &str, verb: &str| {
        let line = |refusal: &Value| {
            let (path, why) = (refusal.get("path")?.as_str()?, refusal.get("why")?.as_str()?);
            Some(Shown::whole(&format!("{verb} {path}: {why}")))
        };
        list(key).iter().filter_map(line).collect::<Vec<_>>()
    };
    let steps = [paths("restored", "would restore"), paths("removed", "would remove")].concat();
    let stays = [
        refusals("conflicts", "would leave alone"),
        refusals("unsaved", "was not saved"),
        refusals("omitted", "is not in the checkpoint"),
        paths("left", "would stay as the call made it"),
    ];
    Some(Preview { id, steps, stays: stays.concat() })
}

impl Preview {
    /// The question; `made` says before which call a checkpoint was made.
    pub fn popup(self, made: impl Fn(&str) -> Option<String>) -> Popup {
        let Preview { id, steps, stays } = self;
        let call = made(&id).unwrap_or_default();
        let head = vec![Shown::whole(&format!("checkpoint {id}, made before {call}"))];
        if steps.is_empty() {
            let nothing = vec![Shown::of("nothing to put back")];
            return Popup::read("rollback", [head, nothing, stays].concat());
        }
        Popup::ask("put this back?", [head, steps, stays].concat(), Order::Rollback { id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(_: &str) -> Option<String> {
        Some("Bash: rm -rf \u{1b}[2Jsrc".to_owned())
    }

    #[test]
    fn what_would_be_put_back_is_asked_about_and_what_would_not_is_said() {
        let text = r#"{"checkpoints": ["id-1"], "restored": ["/w/a\n", "/w/b"], "removed": ["/w/c"], "unchanged": 2,
            "conflicts": [{"path": "/w/d", "why": "changed since"}], "unsaved": [], "left": ["/w/e"]}"#;
        let popup = read(text).unwrap().popup(made);
        assert_eq!(popup.then, Some(Order::Rollback { id: "id-1".to_owned() }));
        let lines: Vec<&str> = popup.text.iter().map(Shown::as_str).collect();
        assert_eq!(
            lines,
            [
                "checkpoint id-1, made before Bash: rm -rf \\u{1b}[2Jsrc",
                "would restore /w/a\\n",
                "would restore /w/b",
                "would remove /w/c",
                "would leave alone /w/d: changed since",
                "would stay as the call made it /w/e",
            ]
        );
    }

    #[test]
    fn where_nothing_would_be_put_back_nothing_is_asked() {
        let text = r#"{"checkpoints": ["id-1"], "restored": [], "removed": [], "conflicts": []}"#;
        assert_eq!(read(text).unwrap().popup(made).then, None);
        for no in ["", "no such thing", "[]", r#"{"checkpoints": []}"#] {
            assert_eq!(read(no), None, "{no}");
        }
    }
}
