//! A page in a real browser: Debian's Chromium, driven by what npm has (`look.mjs`).
#![allow(dead_code, reason = "shared by several tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

/// The elements of a page of ours.
const ELEMENTS: [&str; 52] = [
    "a",
    "article",
    "body",
    "br",
    "caption",
    "circle",
    "code",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "g",
    "h1",
    "h2",
    "h3",
    "h4",
    "head",
    "header",
    "html",
    "input",
    "label",
    "legend",
    "li",
    "line",
    "main",
    "meta",
    "nav",
    "p",
    "path",
    "pre",
    "rect",
    "section",
    "small",
    "span",
    "strong",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "text",
    "th",
    "thead",
    "time",
    "title",
    "tr",
    "ul",
];

/// Debian's names of Chromium, and others'.
fn browser() -> PathBuf {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let dirs: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect();
    let mut all = names.iter().flat_map(|name| dirs.iter().map(move |dir| dir.join(name)));
    all.find(|path| path.is_file()).expect("no Chromium is here: apt-get install chromium")
}

/// The npm packages, installed once below target/, by whichever test comes first.
fn packages() -> &'static Path {
    static PACKAGES: OnceLock<PathBuf> = OnceLock::new();
    PACKAGES.get_or_init(installed)
}

fn installed() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/package.json");
    let place = target.join("browser");
    fs::create_dir_all(&place).unwrap();
    fs::copy(here, place.join("package.json")).unwrap();
    if !place.join("node_modules/ansi_up/ansi_up.js").is_file() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]).arg(&place);
        let done = npm.stdin(Stdio::null()).output().expect("npm is needed: install Node.js with npm");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    place
}

/// A picture of what a terminal shows, with the escapes that tmux gives of it; kept as those of pages are.
pub fn pictured(screen: &Path, name: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/terminal.mjs");
    let picture = screen.with_extension("png");
    let mut node = Command::new("node");
    node.arg(script)
        .arg(packages())
        .arg(browser())
        .arg(screen)
        .arg(&picture)
        .env("HOME", screen.parent().unwrap());
    let made = node.stdin(Stdio::null()).output().expect("node runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert!(fs::metadata(&picture).unwrap().len() > 10_000, "there is nothing on it");
    if let Some(kept) = std::env::var_os("LAZARET_PICTURES") {
        fs::copy(&picture, Path::new(&kept).join(name)).unwrap();
    }
}

/// What the browser found on a page. `home` is an empty directory of its own. With `LAZARET_PICTURES`, a directory, the pictures are kept there
/// under `name` and the form.
pub fn look(page: &Path, home: &Path, name: &str) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/look.mjs");
    let mut node = Command::new("node");
    node.arg(script).arg(packages()).arg(browser()).arg(page).arg(home).env("HOME", home);
    let looked = node.stdin(Stdio::null()).output().expect("node runs");
    assert!(looked.status.success(), "{}", String::from_utf8_lossy(&looked.stderr));
    let files = fs::read_dir(home).unwrap().map(|entry| entry.unwrap().path());
    let pictures: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "png")).collect();
    assert_eq!(pictures.len(), 8);
    if let Some(kept) = std::env::var_os("LAZARET_PICTURES") {
        for picture in pictures {
            let form = picture.file_name().unwrap().to_str().unwrap();
            fs::copy(&picture, Path::new(&kept).join(format!("{name}-{form}"))).unwrap();
        }
    }
    serde_json::from_slice(&looked.stdout).unwrap()
}

/// Nothing ran, nothing was loaded, the layout holds, and nothing serious keeps anybody from using it.
pub fn assert_fine(found: &Value) {
    for kind in ["ran", "asked", "console"] {
        assert_eq!(found[kind], json!([]), "{kind}");
    }
    for form in found["layout"].as_array().unwrap() {
        assert!(form["wide"].as_i64().unwrap() <= 0 && form["out"] == json!([]), "{form}");
    }
    let serious = found["axe"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["impact"] != "minor" && one["impact"] != "moderate");
    assert_eq!(serious.collect::<Vec<_>>(), Vec::<&Value>::new());
    for element in found["elements"].as_array().unwrap() {
        assert!(ELEMENTS.contains(&element.as_str().unwrap()), "{element}");
    }
}
