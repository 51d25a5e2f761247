//! Path facts on a real tree: links, missing tails, what is no file, branches, and gitignore against git itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use lazaret::domain::{Ask, Facts, PathFact, PathKind, Places};
use lazaret::host::facts::answer;

/// A command of git that sees no configuration but ours.
fn git(repo: &Path, home: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(repo)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "t")
        .env("GIT_AUTHOR_EMAIL", "t@example.org")
        .env("GIT_COMMITTER_NAME", "t")
        .env("GIT_COMMITTER_EMAIL", "t@example.org");
    git
}

fn run(git: &mut Command) {
    let output = git.stderr(Stdio::piped()).stdout(Stdio::null()).output().expect("git runs");
    assert!(output.status.success(), "{git:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A directory with `home` and the repository `repo`, by its real name.
struct Machine {
    _dir: tempfile::TempDir,
    root: String,
}

impl Machine {
    fn new() -> Machine {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().to_str().unwrap().to_owned();
        let machine = Machine { _dir: dir, root };
        fs::create_dir_all(machine.at("home")).unwrap();
        fs::create_dir_all(machine.at("repo")).unwrap();
        run(git(Path::new(&machine.at("repo")), Path::new(&machine.at("home")))
            .args(["init", "-q", "-b", "trunk"]));
        machine
    }

    fn at(&self, path: &str) -> String {
        format!("{}/{path}", self.root)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self) -> Command {
        git(Path::new(&self.at("repo")), Path::new(&self.at("home")))
    }

    fn facts(&self) -> Facts {
        Facts::new(Places { home: Some(self.at("home")), repo: Some(self.at("repo")), ..Places::default() })
    }

    fn path(&self, path: &str) -> PathFact {
        let asked = self.at(path);
        let facts = self.facts();
        answer(&[Ask::Path(asked.clone())], &facts);
        facts.path(&asked).unwrap_or_else(|| panic!("{path} was not answered")).clone()
    }

    /// Which of many paths are ignored, asked as many at a time as one call may ask.
    fn ignored(&self, paths: &[String]) -> Vec<String> {
        let mut ignored = Vec::new();
        for few in paths.chunks(Ask::MAX) {
            let facts = self.facts();
            let asks: Vec<Ask> = few.iter().map(|path| Ask::Path(self.at(path))).collect();
            answer(&asks, &facts);
            ignored.extend(few.iter().filter(|path| facts.path(&self.at(path)).unwrap().ignored).cloned());
        }
        ignored
    }

    fn content(&self, path: &str) -> Option<String> {
        let facts = self.facts();
        answer(&[Ask::Content(path.to_owned())], &facts);
        facts.content(path).expect("answered").map(str::to_owned)
    }
}

/// A small random number generator, so that a failing tree can be made again.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

const NAMES: [&str; 16] = [
    "a",
    "b",
    "build",
    "dist",
    "src",
    "x.o",
    "y.log",
    "keep.log",
    "#hash",
    "!bang",
    "two words",
    "[set]",
    "{a,b}",
    "A",
    "a.b.c",
    "trail ",
];
const PATTERNS: [&str; 56] = [
    "*.o",
    "*.log",
    "!keep.log",
    "build/",
    "/dist",
    "dist/",
    "src/*.o",
    "**/x.o",
    "a/**/b",
    "a/**",
    "**/build/**",
    "/a/b",
    "a/b/",
    "!a/b",
    "b",
    "!b",
    "#comment",
    "\\#hash",
    "\\!bang",
    "two words",
    "two\\ words",
    "*words",
    "[ab]",
    "[!a]",
    "[a-c]*",
    "[[:upper:]]",
    "\\[set\\]",
    "{a,b}",
    "*",
    "!*/",
    "!*.o",
    "?",
    "a?b*",
    "*.b.*",
    "a.b.c   ",
    "trail\\ ",
    "/*",
    "!/src",
    "src/**/",
    "**",
    "**/",
    "***",
    "a**",
    "**a",
    "a/*/b",
    "*/b",
    "[",
    "a[",
    "\\",
    "!",
    "/",
    "//",
    "/build/*",
    "[]-a]",
    "[^[:alpha:]]*",
    "src//a",
];

fn grow(machine: &Machine, random: &mut Random, dir: &str, depth: usize, paths: &mut Vec<String>) {
    for name in NAMES {
        let path = format!("{dir}/{name}");
        if depth < 2 && random.below(5) < 2 {
            fs::create_dir_all(machine.at(&path)).unwrap();
            paths.push(path.clone());
            grow(machine, random, &path, depth + 1, paths);
        } else if random.below(3) < 2 {
            machine.write(&path, "");
            paths.push(path);
        }
    }
    if depth > 0 && random.below(4) == 0 {
        patterns(machine, random, &format!("{dir}/.gitignore"));
    }
}

fn patterns(machine: &Machine, random: &mut Random, file: &str) {
    let mut text = String::from(random.of(&["", "", "\u{feff}"]));
    for _ in 0..1 + random.below(4) {
        let end = random.of(&["\n", "\n", "\n", "\r\n", "  \n"]);
        write!(text, "{}{end}", random.of(&PATTERNS)).unwrap();
    }
    machine.write(file, text.trim_end_matches(|_| random.below(9) == 0));
}

/// The paths that git ignores. A tracked file is none, so nothing is tracked here.
fn ignored_by_git(machine: &Machine, paths: &[String]) -> Vec<String> {
    let list = machine.at("list");
    let names: String = paths.iter().map(|path| format!("{}\0", machine.at(path))).collect();
    fs::write(&list, names).unwrap();
    let output = machine
        .git()
        .args(["check-ignore", "-z", "--stdin"])
        .stdin(fs::File::open(&list).unwrap())
        .output()
        .expect("git runs");
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let prefix = machine.at("");
    text.split('\0').filter_map(|path| path.strip_prefix(&prefix)).map(str::to_owned).collect()
}

#[test]
fn gitignore_agrees_with_git() {
    let (mut asked, mut ignored) = (0, 0);
    for seed in 1..=14 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let machine = Machine::new();
        let mut paths = Vec::new();
        grow(&machine, &mut random, "repo", 0, &mut paths);
        patterns(&machine, &mut random, "repo/.gitignore");
        if seed % 3 == 0 {
            patterns(&machine, &mut random, "repo/.git/info/exclude");
        }
        if seed % 4 == 0 {
            patterns(&machine, &mut random, "home/.config/git/ignore");
        }
        paths.extend(["repo/build/none", "repo/none.o", "repo/a/none"].map(str::to_owned));
        let (ours, theirs) = (machine.ignored(&paths), ignored_by_git(&machine, &paths));
        let rules = fs::read_to_string(machine.at("repo/.gitignore")).unwrap();
        assert_eq!(ours, theirs, "seed {seed}, .gitignore {rules:?}");
        asked += paths.len();
        ignored += ours.len();
    }
    assert!(
        asked >= 2000 && ignored * 5 > asked && ignored * 5 < asked * 4,
        "{ignored} of {asked}: a poor sample"
    );
}

#[test]
fn each_pattern_agrees_with_git() {
    let machine = Machine::new();
    let mut paths = Vec::new();
    let mut random = Random(0x1234_5678_9abc_def1);
    while paths.len() < 300 {
        let dir = format!("repo/{}", paths.len());
        grow(&machine, &mut random, if paths.is_empty() { "repo" } else { &dir }, 0, &mut paths);
    }
    for path in &paths {
        let _ = fs::remove_file(machine.at(&format!("{path}/.gitignore")));
    }
    assert!(paths.len() >= 300, "{}", paths.len());
    for pattern in PATTERNS {
        machine.write("repo/.gitignore", &format!("{pattern}\n"));
        assert_eq!(machine.ignored(&paths), ignored_by_git(&machine, &paths), "pattern {pattern:?}");
    }
}

#[test]
fn what_cannot_be_made_again_is_not_ignored() {
    let machine = Machine::new();
    machine.write("repo/.gitignore", "*\n");
    machine.write("repo/vendor/lib/.git/HEAD", "ref: refs/heads/main\n");
    machine.write("repo/vendor/lib/src/a", "");
    machine.write("outside/data", "");
    machine.write("repo/plain", "");
    symlink(machine.at("outside"), machine.at("repo/build")).unwrap();
    symlink(machine.at("repo/plain"), machine.at("repo/alias")).unwrap();
    assert!(machine.path("repo/plain").ignored && machine.path("repo/alias").ignored);
    assert!(machine.path("repo/vendor").ignored);
    for path in [
        "repo/.git",
        "repo/.git/config",
        "repo/vendor/lib",
        "repo/vendor/lib/src/a",
        "repo/build",
        "repo/build/data",
        "repo",
        "outside/data",
    ] {
        assert!(!machine.path(path).ignored, "{path}");
    }
    machine.write("repo/vendor/lib/.gitignore", "/src\n");
    assert!(machine.path("repo/vendor/lib/src/a").ignored, "by the inner repository's own rules");
}

#[test]
fn a_repository_named_through_a_link_is_the_same() {
    let machine = Machine::new();
    machine.write("repo/.gitignore", "*.o\n");
    machine.write("repo/x.o", "");
    symlink(machine.at("repo"), machine.at("alias")).unwrap();
    let facts = Facts::new(Places { repo: Some(machine.at("alias")), ..Places::default() });
    let asked = machine.at("alias/x.o");
    answer(&[Ask::Path(asked.clone())], &facts);
    let fact = facts.path(&asked).unwrap();
    assert!(fact.ignored && !fact.link);
    assert_eq!(fact.real, machine.at("repo/x.o"));
}

#[test]
fn patterns_beyond_the_bounds_ignore_nothing() {
    let machine = Machine::new();
    machine.write("repo/x.o", "");
    machine.write("repo/.gitignore", &format!("*.o\n{}", "#".repeat(300 * 1024)));
    assert!(!machine.path("repo/x.o").ignored, "too long a file");
    machine.write("repo/.gitignore", &format!("*.o\n{}", "**/*a*a*a*a*b\n".repeat(18_000)));
    machine.write(&format!("repo/{}", "a".repeat(250)), "");
    let facts = machine.facts();
    let asks: Vec<Ask> =
        (0..Ask::MAX).map(|n| Ask::Path(machine.at(&format!("repo/{}{n}.o", "a".repeat(240))))).collect();
    answer(&asks, &facts);
    assert!(
        !facts.path(&machine.at(&format!("repo/{}63.o", "a".repeat(240)))).unwrap().ignored,
        "too much work"
    );
}

#[test]
fn links_are_followed_and_named() {
    let machine = Machine::new();
    machine.write("real/file", "");
    symlink("../real", machine.at("repo/dir")).unwrap();
    symlink(machine.at("real/file"), machine.at("repo/file")).unwrap();
    let file = machine.path("repo/file");
    assert_eq!((file.kind, file.link, file.real), (PathKind::File, true, machine.at("real/file")));
    let below = machine.path("repo/dir/file");
    assert_eq!((below.kind, below.link, below.real), (PathKind::File, false, machine.at("real/file")));
    let missing = machine.path("repo/dir/no/such");
    assert_eq!(
        (missing.kind, missing.link, missing.real),
        (PathKind::Missing, false, machine.at("real/no/such"))
    );
    let through_a_file = machine.path("real/file/x");
    assert_eq!((through_a_file.kind, through_a_file.real), (PathKind::Missing, machine.at("real/file/x")));
    let root = machine.path("repo");
    assert_eq!((root.kind, root.checkout), (PathKind::Directory, false));
}

#[test]
fn a_write_through_a_dangling_link_is_seen_where_it_lands() {
    let machine = Machine::new();
    fs::create_dir_all(machine.at("real")).unwrap();
    symlink("../real/new", machine.at("repo/link")).unwrap();
    symlink("link", machine.at("repo/link2")).unwrap();
    symlink("../gone/dir", machine.at("repo/dir")).unwrap();
    for name in ["repo/link", "repo/link2"] {
        let fact = machine.path(name);
        assert_eq!(
            (fact.kind, fact.link, fact.real),
            (PathKind::Missing, true, machine.at("real/new")),
            "{name}"
        );
    }
    assert_eq!(machine.path("repo/dir/x").real, machine.at("gone/dir/x"));
    symlink("loop", machine.at("repo/loop")).unwrap();
    let round = machine.path("repo/loop");
    assert_eq!((round.kind, round.link), (PathKind::Other, true));
    assert_eq!(round.real, machine.at("repo/loop"));
}

#[test]
fn what_is_no_file_is_neither_opened_nor_waited_for() {
    let machine = Machine::new();
    let made = Command::new("mkfifo").arg(machine.at("fifo")).status().expect("mkfifo runs");
    assert!(made.success());
    assert_eq!(machine.path("fifo").kind, PathKind::Other);
    assert_eq!(machine.content(&machine.at("fifo")), None);
    assert_eq!(machine.content("/dev/zero"), None);
    assert_eq!(machine.content(&machine.root), None);
    assert_eq!(machine.content(&machine.at("none")), None);
}

#[test]
fn content_is_bounded_text() {
    let machine = Machine::new();
    let max = usize::try_from(Ask::MAX_CONTENT).unwrap();
    machine.write("fits", &"x".repeat(max));
    machine.write("long", &"x".repeat(max + 1));
    fs::write(machine.at("binary"), [0xff, 0xfe]).unwrap();
    assert_eq!(machine.content(&machine.at("fits")).unwrap().len(), max);
    assert_eq!(machine.content(&machine.at("long")), None);
    assert_eq!(machine.content(&machine.at("binary")), None);
}

/// Of many files in one directory all but the first are looked at in a shorter way.
#[test]
fn files_beside_each_other_are_what_they_are_alone() {
    let machine = Machine::new();
    for name in ["real/a", "real/b.o", "repo/src/a", "repo/src/b.o"] {
        machine.write(name, "");
    }
    machine.write("repo/.gitignore", "*.o\n");
    fs::create_dir_all(machine.at("repo/src/sub/.git")).unwrap();
    symlink("../../real", machine.at("repo/src/linked")).unwrap();
    symlink("../../real/a", machine.at("repo/src/link")).unwrap();
    symlink("nowhere/else", machine.at("repo/src/dangling")).unwrap();
    let dirs = [
        "repo/src",
        "repo/src/linked",
        "repo/src/sub",
        "repo/none/at/all",
        "repo/src/dangling",
        "repo/src/a",
    ];
    let names =
        ["first", "a", "b.o", "c.o", "sub", "linked", "link", "dangling", ".", "..", "sub/..", "sub/.git"];
    let paths: Vec<String> =
        dirs.iter().flat_map(|dir| names.iter().map(move |name| format!("{dir}/{name}"))).collect();
    let asks: Vec<Ask> = paths.iter().map(|path| Ask::Path(machine.at(path))).collect();
    let facts = machine.facts();
    answer(&asks, &facts);
    for path in &paths {
        assert_eq!(facts.path(&machine.at(path)), Some(&machine.path(path)), "{path}");
    }
}

#[test]
fn questions_are_bounded_and_answered_once() {
    let machine = Machine::new();
    let facts = machine.facts();
    answer(&[Ask::Path("relative".to_owned()), Ask::Content("relative".to_owned())], &facts);
    assert!(facts.path("relative").is_none() && facts.content("relative").is_none());
    let asks: Vec<Ask> = (0..=Ask::MAX).map(|n| Ask::Path(machine.at(&n.to_string()))).collect();
    answer(&asks, &facts);
    assert!(facts.knows(&asks[Ask::MAX - 1]) && !facts.knows(&asks[Ask::MAX]));
    let first = machine.at("0");
    machine.write("0", "");
    answer(&asks, &facts);
    assert_eq!(facts.path(&first).unwrap().kind, PathKind::Missing, "the first answer stays");
}

#[test]
fn the_branch_of_every_kind_of_work_tree() {
    let machine = Machine::new();
    let branch = |repo: &str| {
        let facts = Facts::new(Places { repo: Some(machine.at(repo)), ..Places::default() });
        answer(&[Ask::Branch], &facts);
        facts.branch().expect("answered").map(str::to_owned)
    };
    assert_eq!(branch("repo").as_deref(), Some("trunk"), "before the first commit");
    machine.write("repo/f", "x");
    run(machine.git().args(["add", "f"]));
    run(machine.git().args(["commit", "-q", "-m", "one"]));
    run(machine.git().args(["worktree", "add", "-q", "-b", "feature/x", "../linked"]));
    assert_eq!(branch("linked").as_deref(), Some("feature/x"));
    run(machine.git().args(["checkout", "-q", "--detach"]));
    assert_eq!(branch("repo"), None);
    assert_eq!(branch("home"), None);
    machine.write("repo/.git/info/exclude", "*.tmp\n");
    machine.write("linked/a.tmp", "");
    let facts = Facts::new(Places { repo: Some(machine.at("linked")), ..Places::default() });
    let asked = machine.at("linked/a.tmp");
    answer(&[Ask::Path(asked.clone())], &facts);
    assert!(facts.path(&asked).unwrap().ignored, "the work trees of a repository share info/exclude");
}

/// The index is read as git writes it, in each of its versions.
#[test]
fn what_git_holds() {
    for version in ["2", "3", "4"] {
        let machine = Machine::new();
        let repo = machine.at("repo");
        for name in
            ["a.txt", "dir/b.txt", "dir/c.txt", "staged.txt", "changed.txt", "same-size.txt", "announced.txt"]
        {
            machine.write(&format!("repo/{name}"), "one\n");
        }
        let home = machine.at("home");
        let git = || git(Path::new(&repo), Path::new(&home));
        // Files as old as the index count as changed, for git as for us.
        std::thread::sleep(std::time::Duration::from_millis(20));
        run(git().args(["add", "a.txt", "dir", "changed.txt", "same-size.txt"]));
        run(git().args(["commit", "-q", "-m", "x"]));
        run(git().args(["add", "staged.txt"]));
        run(git().args(["add", "-N", "announced.txt"]));
        run(git().args(["update-index", "--index-version", version]));
        machine.write("repo/changed.txt", "another text\n");
        machine.write("repo/same-size.txt", "two\n");
        machine.write("repo/new.txt", "one\n");
        symlink("a.txt", machine.at("repo/link")).unwrap();
        let facts = Facts::new(Places { repo: Some(repo.clone()), ..Places::default() });
        for (name, held) in [
            ("a.txt", true),
            ("dir/b.txt", true),
            ("dir/c.txt", true),
            ("staged.txt", true),
            ("changed.txt", false),
            ("same-size.txt", false),
            ("announced.txt", false),
            ("new.txt", false),
            ("missing.txt", false),
            ("dir", false),
            ("link", false),
            ("../home", false),
        ] {
            let path = format!("{repo}/{name}");
            answer(&[Ask::Saved(path.clone())], &facts);
            assert_eq!(facts.saved(&path), Some(held), "{name} in version {version}");
        }
    }
}

#[test]
fn a_damaged_index_holds_nothing() {
    let machine = Machine::new();
    machine.write("repo/a.txt", "one\n");
    machine.write("repo/.git/index", "DIRC and no more");
    let facts = Facts::new(Places { repo: Some(machine.at("repo")), ..Places::default() });
    let path = machine.at("repo/a.txt");
    answer(&[Ask::Saved(path.clone())], &facts);
    assert_eq!(facts.saved(&path), Some(false));
}
