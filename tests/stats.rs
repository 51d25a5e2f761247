//! `lazaret stats` and `lazaret feedback` as a person runs them, over calls that the real hook decided on. Counters and the histogram's
//! last bound: seed 002.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use common::World;
use serde_json::{Value, json};

/// Three harmless calls, a question, and three that are blocked.
fn lived() -> World {
    let world = World::new();
    for command in ["ls", "git status", "cat README.md"] {
        assert!(world.bash(command).is_pass(), "{command}");
    }
    assert!(!world.bash("git branch -D topic").is_pass());
    for command in ["git push --force origin main", "rm -rf /", "git -C / reset --hard"] {
        assert!(world.bash(command).is_block(), "{command}");
    }
    world
}

fn stats(world: &World, args: &[&str]) -> Value {
    let (code, out, err) = world.run(&[&["stats", "--json"], args].concat());
    assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
    serde_json::from_str(&out).unwrap()
}

fn id_of(world: &World, action: &str) -> String {
    let events = world.audit();
    let event = events.iter().find(|event| event["action"] == action).unwrap();
    event["id"].as_str().unwrap().to_owned()
}

#[test]
fn the_seeds_eight_counters_are_what_the_log_holds() {
    let world = lived();
    let all = stats(&world, &[]);
    let counters = all["counters"].as_object().unwrap();
    let names: Vec<_> = counters.keys().map(String::as_str).collect();
    let mut seed = vec![
        "total_reviews",
        "allowed_actions",
        "warned_actions",
        "modified_actions",
        "blocked_actions",
        "avg_review_time",
        "cache_hit_rate",
        "false_positive_rate",
    ];
    let in_order = names == seed;
    seed.sort_unstable();
    assert!(in_order || names == seed, "{names:?}");
    assert_eq!(counters["total_reviews"], 7);
    assert_eq!(counters["allowed_actions"], 3);
    assert_eq!(counters["blocked_actions"], 3);
    assert_eq!(counters["modified_actions"], 1);
    assert_eq!(counters["warned_actions"], 0);
    assert!(counters["avg_review_time"].as_f64().unwrap() > 0.0);
    assert!(counters["cache_hit_rate"].is_null() && counters["false_positive_rate"].is_null());
    // Every call is in one of the histogram's ranges, and in its tool's row.
    let durations = all["review_duration"].as_array().unwrap();
    assert_eq!(durations.iter().map(|range| range["count"].as_u64().unwrap()).sum::<u64>(), 7);
    assert_eq!(durations[8]["le_us"], 100_000, "max_review_time_ms of seed 002");
    assert!(durations[9]["le_us"].is_null());
    assert_eq!(
        all["tools"],
        json!([{
            "name": "Bash", "all": 7, "allowed": 3, "warned": 0, "modified": 1,
            "asked": all["asked_actions"], "blocked": 3, "mean_us": all["tools"][0]["mean_us"], "fp": 0, "ok": 0,
        }])
    );
    assert_eq!(all["sessions"], 1);
    let rule = all["rules"].as_array().unwrap().iter().find(|row| row["name"] == "git.reset-hard").unwrap();
    assert_eq!((&rule["all"], &rule["blocked"]), (&json!(1), &json!(1)));
}

#[test]
fn what_people_think_is_counted_and_the_last_word_counts() {
    let world = lived();
    let (reset, root) = (id_of(&world, "git -C / reset --hard"), id_of(&world, "rm -rf /"));
    let said = |args: &[&str]| {
        let (code, out, err) = world.run(&[&["feedback"], args].concat());
        assert_eq!(code, 0, "{args:?}: {err}");
        out
    };
    assert!(said(&[&reset, "ok"]).contains("git -C / reset --hard"));
    said(&[&reset, "fp", "--note", "a scratch repository"]);
    said(&[&root, "ok"]);
    let all = stats(&world, &[]);
    assert_eq!(all["feedback"], json!({"ok": 1, "fp": 1}));
    assert_eq!(all["counters"]["false_positive_rate"], 0.5);
    let rule = all["rules"].as_array().unwrap().iter().find(|row| row["name"] == "git.reset-hard").unwrap();
    assert_eq!((&rule["fp"], &rule["ok"]), (&json!(1), &json!(0)));
    // Feedback is no decision, stands in the chain, and the newest stopped call can be named without its id.
    assert_eq!(all["counters"]["total_reviews"], 7);
    assert!(said(&["last", "ok"]).starts_with(&reset));
    assert_eq!(stats(&world, &[])["counters"]["false_positive_rate"], 0.0);
    assert_eq!(world.run(&["audit", "verify"]).0, 0);
    let (_, shown, _) = world.run(&["audit", "show", "--ids"]);
    assert!(
        shown.lines().any(|line| line.starts_with(&reset) && line.contains("git -C / reset --hard")),
        "{shown}"
    );
}

#[test]
fn an_opinion_on_nothing_is_refused_and_writes_nothing() {
    let world = lived();
    let before = world.audit().len();
    for (args, why) in [
        (["01", "fp"], "at least 4 digits"),
        (["ffffffff", "fp"], "no decision of that id"),
        (["0", "ok"], "at least 4 digits"),
        ([id_of(&world, "ls").get(..4).unwrap(), "ok"], "events begin so"),
        (["last", "perhaps"], "possible values: fp, ok"),
    ] {
        let (code, out, err) = world.run(&[&["feedback"], &args[..]].concat());
        assert_eq!((code, out.as_str()), (1, ""), "{args:?}: {err}");
        assert!(err.contains(why), "{args:?}: {err}");
    }
    assert_eq!(world.audit().len(), before);
    let fresh = World::new();
    let (code, _, err) = fresh.run(&["feedback", "last", "fp"]);
    assert!(code == 1 && err.contains("holds no call"), "{err}");
}

#[test]
fn an_agent_cannot_give_its_opinion() {
    let world = lived();
    assert!(world.bash("lazaret feedback last fp").is_block());
    assert!(world.bash("lazaret stats --json").is_pass());
}

#[test]
fn filters_are_those_of_the_log() {
    let world = lived();
    assert_eq!(stats(&world, &["--verdict", "block"])["counters"]["total_reviews"], 3);
    assert_eq!(stats(&world, &["--rule", "git.reset-hard"])["counters"]["total_reviews"], 1);
    assert_eq!(stats(&world, &["--tool", "Read"])["counters"]["total_reviews"], 0);
    assert_eq!(stats(&world, &["--since", "1h"])["counters"]["total_reviews"], 7);
    assert_eq!(stats(&world, &["--client", "opencode"])["counters"]["total_reviews"], 0);
    assert_eq!(stats(&world, &["--top", "1"])["rules"].as_array().unwrap().len(), 1);
    let (code, _, err) = world.run(&["stats", "--since", "yesterday"]);
    assert!(code == 1 && err.contains("--since yesterday"), "{err}");
}

#[test]
fn for_people() {
    let world = lived();
    let (code, out, _) = world.run(&["stats"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("7 decisions in 1 session, "), "{out}");
    for line in [
        "  allowed               3  42.9 %  ##########\n",
        "git.reset-hard",
        "  blocked               3  42.9 %  ##########\n",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
    assert!(out.contains("false positives: none was judged yet"), "{out}");
    let (code, out, _) = World::new().run(&["stats"]);
    assert_eq!((code, out.as_str()), (0, "no decision in the log, or none that passes the filters\n"));
}

#[test]
fn for_prometheus() {
    let world = lived();
    world.run(&["feedback", "last", "fp"]);
    let (code, out, _) = world.run(&["stats", "--prometheus"]);
    assert_eq!(code, 0);
    let value = |name: &str| {
        let line = out.lines().find(|line| line.rsplit_once(' ').is_some_and(|(key, _)| key == name));
        line.unwrap_or_else(|| panic!("{name}: {out}")).rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()
    };
    assert_eq!(value("lazaret_reviews_total{answer=\"allowed\"}"), 3.0);
    assert_eq!(value("lazaret_reviews_total{answer=\"blocked\"}"), 3.0);
    assert_eq!(value("lazaret_rule_reviews_total{rule=\"git.reset-hard\",verdict=\"block\"}"), 1.0);
    assert_eq!(value("lazaret_tool_reviews_total{tool=\"Bash\",verdict=\"block\"}"), 3.0);
    assert_eq!(value("lazaret_agent_reviews_total{agent=\"main\",verdict=\"block\"}"), 3.0);
    assert_eq!(value("lazaret_feedback_total{opinion=\"fp\"}"), 1.0);
    assert_eq!(value("lazaret_review_duration_seconds_count"), 7.0);
    // The buckets only grow, and the last holds all.
    let buckets: Vec<f64> = out
        .lines()
        .filter(|line| line.starts_with("lazaret_review_duration_seconds_bucket"))
        .map(|line| line.rsplit_once(' ').unwrap().1.parse().unwrap())
        .collect();
    assert!(buckets.len() == 10 && buckets.is_sorted() && buckets[9] == 7.0, "{buckets:?}");
    assert!(value("lazaret_review_duration_seconds_sum") > 0.0);
    // Every metric has its type before its first value.
    for line in out.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        let base = name.trim_end_matches("_bucket").trim_end_matches("_sum").trim_end_matches("_count");
        assert!(out.contains(&format!("# TYPE {base} ")), "{name}");
    }
}

/// Nobody was asked: the client was told no, and that is what counts everywhere.
#[test]
fn a_question_that_nobody_was_asked_is_a_block() {
    let world = World::new();
    let mut message = world.message("Bash", &json!({"command": "git branch -D topic"}));
    message["permission_mode"] = "bypassPermissions".into();
    assert!(world.hook("claude-code", message.to_string().as_bytes()).is_block());
    let counters = stats(&world, &[])["counters"].clone();
    assert_eq!((&counters["blocked_actions"], &counters["modified_actions"]), (&json!(1), &json!(0)));
    let (_, prometheus, _) = world.run(&["stats", "--prometheus"]);
    assert!(prometheus.contains("tool=\"Bash\",verdict=\"block\"} 1"), "{prometheus}");
    let shown = |verdict: &str| world.run(&["audit", "show", "--verdict", verdict]).1;
    assert!(shown("block").contains("block ") && shown("modify").is_empty(), "{}", shown("block"));
    let (code, _, errors) = world.run(&["audit", "show", "--rule", "git.branch-delte"]);
    assert!(code == 2 && errors.contains("did you mean git.branch-"), "{errors}");
    assert_eq!(world.run(&["audit", "show", "--rule", "git.reset-hard"]).0, 0, "it did not speak");
}
