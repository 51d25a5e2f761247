//! The register of quarantined agents: who may go on, in which session, until when.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod station;

use std::fs;

use lazaret::domain::{Client, ReviewId, SessionId};
use lazaret::host::clock::{self, Now};
use lazaret::host::quarantine::{
    AgentKey, AgentState, Denied, Entered, MAX_AGENTS, Session, Why, agents, bound, end, enter, key, leave,
    leave_session, load, sent_back, sweep,
};
use station::{Station, after, agent, unknown_id};

struct Case {
    station: Station,
    review: Session,
    now: Now,
}

impl Case {
    fn new() -> Case {
        let station = Station::new();
        station.write("f", "text");
        let review = station.open(&["f"]).unwrap();
        Case { station, review, now: clock::now() }
    }

    fn enter(&self, key: &AgentKey, wanted: Option<&ReviewId>, seconds: u64) -> Result<Entered, Denied> {
        enter(&self.station.dirs, key, wanted, after(self.now, seconds), 5).unwrap()
    }

    /// The agent's first call.
    fn bind(&self, key: &AgentKey, seconds: u64) -> Entered {
        self.enter(key, Some(&self.review.id), seconds).unwrap()
    }

    fn timed_out(&self) -> Denied {
        Denied::TimedOut { review: self.review.id.clone() }
    }

    fn register(&self) -> std::path::PathBuf {
        self.station.room().join("register.json")
    }
}

#[test]
fn the_first_call_binds_and_later_ones_only_look() {
    let case = Case::new();
    let (a, id) = (agent("s", "a"), &case.review.id);
    assert_eq!(case.enter(&a, None, 0), Err(Denied::Unbound));
    assert_eq!(case.enter(&a, Some(&unknown_id()), 0), Err(Denied::NoSuchSession));
    assert_eq!(bound(&case.station.dirs, &a).unwrap(), None);
    assert_eq!(agents(&case.station.dirs, case.now).unwrap(), [], "who is refused is not registered");
    let first = case.bind(&a, 0);
    assert_eq!(
        (first.session, first.since, first.left_ms, first.first),
        (case.review.clone(), case.now, 300_000, true)
    );
    let written = fs::metadata(case.register()).unwrap().modified().unwrap();
    for wanted in [None, Some(id)] {
        let later = case.enter(&a, wanted, 10).unwrap();
        assert_eq!((later.since, later.left_ms, later.first), (case.now, 290_000, false));
    }
    assert_eq!(fs::metadata(case.register()).unwrap().modified().unwrap(), written, "nothing is written");
    assert_eq!(bound(&case.station.dirs, &a).unwrap().as_ref(), Some(id));
    // Another session's reference.
    let other = case.station.open(&["f"]).unwrap();
    assert_eq!(case.enter(&a, Some(&other.id), 11), Err(Denied::OtherSession { bound: id.clone() }));
    assert_eq!(case.enter(&a, Some(&unknown_id()), 11), Err(Denied::OtherSession { bound: id.clone() }));
    assert_eq!(case.enter(&a, None, 12).unwrap().session.id, *id, "it stays bound");
}

#[test]
fn agents_are_told_apart_by_client_session_and_id() {
    let case = Case::new();
    case.bind(&agent("s", "a"), 0);
    let main = AgentKey { agent: None, ..agent("s", "a") };
    let opencode = AgentKey { client: Client::OpenCode, ..agent("s", "a") };
    for other in [agent("s", "b"), agent("t", "a"), agent("sa", "-"), main.clone(), opencode] {
        assert_eq!(case.enter(&other, None, 0), Err(Denied::Unbound), "{other:?}");
    }
    assert!(case.bind(&main, 0).first);
    assert!(!case.bind(&main, 0).first);
    assert_eq!(agents(&case.station.dirs, case.now).unwrap().len(), 2);
}

#[test]
fn refused_answers_are_counted() {
    let case = Case::new();
    let count = |agent: &AgentKey, seconds| {
        let counted = sent_back(&case.station.dirs, agent, after(case.now, seconds)).unwrap();
        counted.map(|counted| (counted.agent, counted.review))
    };
    let (a, b) = (agent("s", "a"), agent("s", "b"));
    assert_eq!(count(&a, 0), None, "it is bound to nothing");
    case.bind(&a, 0);
    case.bind(&b, 0);
    assert_eq!((count(&a, 0), count(&a, 1), count(&b, 1)), (Some((1, 1)), Some((2, 2)), Some((1, 3))));
    leave(&case.station.dirs, &a, case.now).unwrap();
    assert_eq!(count(&a, 2), Some((3, 4)), "a refused answer counts also when the agent has left");
    assert_eq!(count(&a, 301), None, "its time has passed");
    end(&case.station.dirs, &case.review.id, Why::Asked, case.now).unwrap();
    assert_eq!(count(&b, 2), None, "the review has ended");
}

#[test]
fn so_many_work_at_once_and_no_more() {
    let case = Case::new();
    let other = case.station.open(&["f"]).unwrap();
    for number in 0..5 {
        let id = if number % 2 == 0 { &case.review.id } else { &other.id };
        case.enter(&agent("s", &number.to_string()), Some(id), 0).unwrap();
    }
    let sixth = agent("s", "6");
    assert_eq!(case.enter(&sixth, Some(&other.id), 0), Err(Denied::TooMany), "the sessions share the places");
    assert_eq!(bound(&case.station.dirs, &sixth).unwrap(), None);
    // Those who are in go on.
    assert!(case.enter(&agent("s", "4"), None, 1).is_ok());
    // One ends: there is a place, and it does not come back without one.
    assert!(leave(&case.station.dirs, &agent("s", "0"), case.now).is_ok());
    assert!(case.enter(&sixth, Some(&other.id), 1).unwrap().first);
    assert_eq!(case.enter(&agent("s", "0"), None, 1), Err(Denied::TooMany));
    // A limit of none lets nobody in.
    let none = enter(&case.station.dirs, &agent("s", "7"), Some(&other.id), case.now, 0).unwrap();
    assert_eq!(none, Err(Denied::TooMany));
    // Who is past the deadline holds no place any more.
    assert!(case.bind(&agent("s", "8"), 301).first);
}

#[test]
fn who_comes_back_has_the_binding_and_the_deadline_it_had() {
    let case = Case::new();
    let a = agent("s", "a");
    case.bind(&a, 0);
    leave(&case.station.dirs, &a, case.now).unwrap();
    assert_eq!(agents(&case.station.dirs, case.now).unwrap()[0].state, AgentState::Left);
    let other = case.station.open(&["f"]).unwrap();
    let elsewhere = case.enter(&a, Some(&other.id), 10);
    assert_eq!(elsewhere, Err(Denied::OtherSession { bound: case.review.id.clone() }));
    let back = case.enter(&a, None, 100).unwrap();
    assert_eq!((back.left_ms, back.first), (200_000, false));
    assert_eq!(agents(&case.station.dirs, case.now).unwrap()[0].state, AgentState::Working);
    leave(&case.station.dirs, &a, case.now).unwrap();
    for wanted in [None, Some(&case.review.id)] {
        assert_eq!(
            case.enter(&a, wanted, 301),
            Err(Denied::Late),
            "its own time is over, the review's is not"
        );
    }
    assert_eq!(agents(&case.station.dirs, case.now).unwrap()[0].state, AgentState::Left);
    assert!(case.bind(&agent("s", "b"), 302).first, "another one goes on");
    assert!(case.enter(&agent("s", "b"), None, 303).is_ok());
}

#[test]
fn past_its_deadline_an_agent_is_out_for_good() {
    let case = Case::new();
    let (a, b) = (agent("s", "a"), agent("s", "b"));
    case.bind(&a, 0);
    case.bind(&b, 200);
    assert!(case.enter(&a, None, 300).is_ok());
    assert_eq!(case.enter(&a, None, 301), Err(case.timed_out()));
    assert_eq!(case.enter(&a, None, 0), Err(case.timed_out()), "whatever the clock says then");
    // The caller ends the session: the key is gone, and everybody in it gets the same answer.
    assert!(end(&case.station.dirs, &case.review.id, Why::TimedOut, after(case.now, 301)).unwrap());
    assert!(key(&case.station.dirs, &case.review).is_err());
    for seconds in [302, 450] {
        for who in [&a, &b, &agent("s", "c")] {
            assert_eq!(case.enter(who, Some(&case.review.id), seconds), Err(case.timed_out()), "{who:?}");
        }
    }
    let states =
        || -> Vec<_> { agents(&case.station.dirs, case.now).unwrap().iter().map(|row| row.state).collect() };
    assert_eq!(states(), [AgentState::TimedOut, AgentState::Left]);
    assert_eq!(case.enter(&b, None, 501), Err(case.timed_out()), "its own time is over too");
    assert_eq!(states(), [AgentState::TimedOut, AgentState::Left]);
}

#[test]
fn no_clock_set_back_prolongs_a_deadline() {
    let case = Case::new();
    let a = agent("s", "a");
    case.bind(&a, 0);
    let at = |unix: i64, boot: i64| Now {
        unix_ms: case.now.unix_ms.checked_add_signed(unix * 1000).unwrap(),
        boot_ms: case.now.boot_ms.saturating_add_signed(boot * 1000),
    };
    let left = |now| enter(&case.station.dirs, &a, None, now, 5).unwrap().map(|entered| entered.left_ms);
    assert_eq!(left(at(-3600, 100)), Ok(200_000), "civil time was set back");
    assert_eq!(left(at(100, 0)), Ok(200_000), "the machine was stopped for a while");
    assert_eq!(left(at(-3600, 301)), Err(case.timed_out()));
}

#[test]
fn a_session_that_is_over_lets_nobody_in() {
    let case = Case::new();
    let (a, id) = (agent("s", "a"), &case.review.id);
    case.bind(&a, 0);
    let ended = |why| Err(Denied::Ended { review: id.clone(), why });
    // Too old, and not ended yet by anybody.
    let old = case.station.open_with(&["f"], |o| (o.ttl_s, o.timeout_s) = (10, 10)).unwrap();
    let late = case.enter(&agent("s", "b"), Some(&old.id), 11);
    assert_eq!(late, Err(Denied::Ended { review: old.id.clone(), why: Why::Expired }));
    end(&case.station.dirs, id, Why::Asked, case.now).unwrap();
    assert_eq!(case.enter(&a, None, 1), ended(Why::Asked));
    assert_eq!(case.enter(&a, Some(id), 1), ended(Why::Asked));
    assert_eq!(case.enter(&agent("s", "new"), Some(id), 1), ended(Why::Asked));
    assert_eq!(agents(&case.station.dirs, case.now).unwrap()[0].state, AgentState::Left);
}

#[test]
fn the_end_of_a_clients_session_names_the_reviews_to_end() {
    let case = Case::new();
    let other = case.station.open(&["f"]).unwrap();
    case.bind(&agent("s", "a"), 0);
    case.bind(&agent("s", "b"), 0);
    case.enter(&agent("s", "c"), Some(&other.id), 0).unwrap();
    case.enter(&agent("t", "d"), Some(&other.id), 0).unwrap();
    let dirs = &case.station.dirs;
    let ended =
        |name: &str, client| leave_session(dirs, client, &SessionId::new(name).unwrap(), case.now).unwrap();
    assert!(ended("s", Client::OpenCode).is_empty() && ended("none", Client::ClaudeCode).is_empty());
    assert_eq!(
        ended("s", Client::ClaudeCode),
        std::slice::from_ref(&case.review.id),
        "in the other one somebody works"
    );
    assert_eq!(ended("t", Client::ClaudeCode), std::slice::from_ref(&other.id));
    assert!(agents(dirs, case.now).unwrap().iter().all(|row| row.state == AgentState::Left));
    // Naming ends nothing yet.
    assert_eq!(load(dirs, &other.id).unwrap().unwrap().ended, None);
}

#[test]
fn a_damaged_register_refuses_everybody_until_the_sessions_have_ended() {
    for harm in
        ["{", r#"{"version":2,"lost":null,"rows":[]}"#, "", r#"{"version":1,"lost":null,"rows":[{}]}"#]
    {
        let case = Case::new();
        let (a, id, dirs) = (agent("s", "a"), &case.review.id, &case.station.dirs);
        case.bind(&a, 0);
        fs::write(case.register(), harm).unwrap();
        let damaged = agents(dirs, case.now).unwrap_err();
        assert!(damaged.hint.unwrap().contains("lazaret review end"));
        assert_eq!(fs::read_to_string(case.register()).unwrap(), harm, "a look mends nothing");
        for _ in 0..2 {
            for who in [&a, &agent("s", "new")] {
                let fault = enter(dirs, who, Some(id), case.now, 5).unwrap_err();
                assert!(fault.message().contains("no quarantined agent may go on"), "{fault}");
                assert!(fault.hint.unwrap().contains("lazaret review end"));
            }
        }
        let kept = case.station.left().into_iter().find(|name| name.contains("damaged-")).unwrap();
        assert_eq!(fs::read_to_string(case.station.room().join(&kept)).unwrap(), harm);
        assert!(bound(dirs, &a).is_err() && leave(dirs, &a, case.now).is_err());
        // A sweep changes nothing of that while a session is open.
        sweep(dirs, case.now).unwrap();
        assert!(enter(dirs, &a, Some(id), case.now, 5).is_err());
        // A person ends it, and a new one works.
        assert!(end(dirs, id, Why::Asked, case.now).unwrap());
        let new = case.station.open(&["f"]).unwrap();
        assert!(case.enter(&a, Some(&new.id), 0).unwrap().first);
    }
}

#[test]
fn a_register_that_was_removed_is_as_bad_as_a_damaged_one() {
    let case = Case::new();
    let (a, id, dirs) = (agent("s", "a"), &case.review.id, &case.station.dirs);
    case.bind(&a, 0);
    fs::remove_file(case.register()).unwrap();
    assert!(bound(dirs, &a).is_err() && agents(dirs, case.now).is_err());
    for who in [&a, &agent("s", "new"), &a] {
        let fault = enter(dirs, who, Some(id), case.now, 5).unwrap_err();
        assert!(fault.message().contains("it is gone; no quarantined agent may go on"), "{fault}");
    }
    // Another session does not bring it back, the end of all does.
    let other = case.station.open(&["f"]).unwrap();
    assert!(enter(dirs, &a, Some(&other.id), case.now, 5).is_err());
    for id in [id, &other.id] {
        assert!(end(dirs, id, Why::Asked, case.now).unwrap());
    }
    assert_eq!(bound(dirs, &a).unwrap(), None);
    let new = case.station.open(&["f"]).unwrap();
    assert!(case.enter(&a, Some(&new.id), 0).unwrap().first);
}

#[test]
fn a_register_of_others_is_a_fault() {
    use std::os::unix::fs::PermissionsExt;
    let case = Case::new();
    case.bind(&agent("s", "a"), 0);
    fs::set_permissions(case.register(), fs::Permissions::from_mode(0o666)).unwrap();
    let fault = enter(&case.station.dirs, &agent("s", "a"), None, case.now, 5).unwrap_err();
    assert!(fault.message().contains("open to others"), "{fault}");
}

#[test]
fn the_register_has_a_bound() {
    let case = Case::new();
    let (dirs, id) = (&case.station.dirs, &case.review.id);
    let let_in = |number: usize, id| {
        enter(dirs, &agent("s", &number.to_string()), Some(id), case.now, u32::MAX).unwrap()
    };
    // As many calls would have written it.
    assert!(let_in(0, id).is_ok());
    let text = fs::read_to_string(case.register()).unwrap();
    let (front, rest) = text.split_at(text.find("[{").unwrap() + 1);
    let (row, back) = rest.split_at(rest.find(']').unwrap());
    let name = r#""agent":"0""#;
    assert!(row.contains(name));
    let rows: Vec<String> =
        (0..MAX_AGENTS).map(|number| row.replace(name, &format!(r#""agent":"{number}""#))).collect();
    fs::write(case.register(), format!("{front}{}{back}", rows.join(","))).unwrap();
    assert!(let_in(MAX_AGENTS - 1, id).is_ok());
    assert_eq!(let_in(MAX_AGENTS, id), Err(Denied::TooMany));
    // Agents of sessions that have ended make room.
    let other = case.station.open(&["f"]).unwrap();
    assert_eq!(let_in(MAX_AGENTS, &other.id), Err(Denied::TooMany));
    end(dirs, id, Why::Asked, case.now).unwrap();
    assert!(let_in(MAX_AGENTS, &other.id).is_ok());
    assert_eq!(agents(dirs, case.now).unwrap().len(), 1);
}
