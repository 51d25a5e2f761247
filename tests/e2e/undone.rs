//! What an agent throws away with the clients, and a person puts back: every byte, mode and file that git does not know.

use crate::clients::Client;
use crate::model::{Script, Step};
use crate::world::World;

/// Everything that lies in the project, and how, but what OpenCode writes for itself when it starts.
const LOOK: &str =
    "find . \\( -name .git -o -name .opencode \\) -prune -o -type f -print0 | sort -z | xargs -0 sha256sum
    find . \\( -name .git -o -name .opencode \\) -prune -o ! -path . -printf '%m %y %p %l\\n' | sort
    git status --short -- . ':!.opencode'; git stash list";

#[test]
fn what_claude_code_discards_comes_back() {
    comes_back(Client::Claude);
}

#[test]
fn what_opencode_discards_comes_back() {
    comes_back(Client::OpenCode);
}

fn comes_back(client: Client) {
    let world = World::new(client);
    world.register();
    world.sh("mkdir -p src/deep && echo one > src/one && echo two > src/deep/two && chmod 755 src/deep/two
        git add -A && git commit -qm 'Add sources' && git push -q
        echo 'not committed' >> src/one && echo staged > staged && git add staged
        head -c 100000 /dev/urandom > src/noise && chmod 600 src/noise && ln -s one src/link");
    let before = world.sh(LOOK);
    let shell = |label: &str, command: &str| Step::call([client.shell(label, command)]);
    let session = world.play(Script::main([
        shell("reset", "git reset --hard && echo is reset"),
        shell("remove", "rm -rf src && echo is removed"),
        Step::say("It is clean now."),
    ]));
    for (label, said) in [("reset", "is reset"), ("remove", "is removed")] {
        assert!(session.told(label).text.contains(said), "{}", session.story());
    }
    assert!(
        session.heard(crate::model::MAIN).contains("lazaret rollback"),
        "it is not told\n{}",
        session.story()
    );
    assert!(
        !world.exists("/home/dev/proj/src") && !world.exists("/home/dev/proj/staged"),
        "{}",
        session.story()
    );
    let told = world.sh("lazaret rollback --last; lazaret rollback --last");
    assert_eq!(world.sh(LOOK), before, "{told}\n{}", session.story());
}
