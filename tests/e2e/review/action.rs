//! The script of the GitHub Action (`action.yml`) on the real client, as on a pull request.

use super::whole::script;
use super::*;

#[test]
fn the_action_reviews_what_a_pull_request_changes() {
    let world = world(Client::Claude);
    world.offer_client();
    world.program("/home/dev/review.sh", include_str!("../../../packages/action/review.sh"));
    world.sh("git checkout -q -b topic && git add src/parser.c && git commit -qm Change src/parser.c");
    let run = |name: &str, more: &str| {
        format!("({more}; ../review.sh) > ../{name}.out 2> ../{name}.err; echo $? > ../{name}.code\n")
    };
    let commands = [
        "export BASE=main\n".to_owned(),
        run("bad", "export INSTRUCTIONS='[[bad]]'"),
        run("clean", "export INSTRUCTIONS='[[clean]]'"),
        run("named", "export INSTRUCTIONS='[[clean]]' BASE= FILES=src/parser.c"),
        run("keyless", "unset ANTHROPIC_API_KEY"),
        run("shallow", "BASE=not-fetched"),
        run("pointless", "BASE="),
        run("nothing", "git checkout -q main"),
        "exit 0\n".to_owned(),
    ]
    .concat();
    let session = world.play_script(script(Client::Claude), &commands);
    for (name, code, words) in [
        ("bad", "2", "src/parser.c:2"),
        ("clean", "0", ""),
        ("named", "0", ""),
        ("keyless", "1", "no key"),
        ("shallow", "1", "fetch-depth: 0"),
        ("pointless", "1", "no pull request"),
        ("nothing", "0", "nothing to review"),
    ] {
        let text = |end: &str| world.read(&format!("/home/dev/{name}.{end}"));
        let said = text("out") + &text("err");
        assert!(
            text("code").trim() == code && said.contains(words),
            "{name}: {}\n{said}\n{}",
            text("code"),
            session.story()
        );
    }
    // Of what it does not change nothing was handed over.
    assert!(!session.story().contains("src/edited.txt"), "{}", session.story());
}
