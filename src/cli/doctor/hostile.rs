//! A project made to switch the gate off by its environment: variables that name its own directories, with a configuration there
//! that turns the reviewer off. What is registered must judge in it as anywhere, and put nothing there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Each variable that a client's project settings may set, and where below the project it points.
const VARIABLES: [(&str, &str); 7] = [
    ("LAZARET_HOME", ".x"),
    ("XDG_CONFIG_HOME", ".x"),
    ("XDG_STATE_HOME", ".x"),
    ("XDG_RUNTIME_DIR", ".x"),
    ("HOME", ".x"),
    ("CLAUDE_CONFIG_DIR", ".x/.claude"),
    ("OPENCODE_CONFIG_DIR", ".x/.config/opencode"),
];
/// Where each of them would make lazaret look for its configuration.
const CONFIGURATIONS: [&str; 4] =
    [".lazaret.toml", ".x/config/config.toml", ".x/lazaret/config.toml", ".x/.config/lazaret/config.toml"];
const OFF: &str = "[reviewer]\nenabled = false\n";

/// The project; it is removed when this goes.
pub struct Project(PathBuf);

impl Project {
    pub fn make() -> io::Result<Project> {
        let project = Project(std::env::temp_dir().join(format!("{}{}", super::PROBE, uuid::Uuid::new_v4())));
        for file in CONFIGURATIONS {
            let file = project.0.join(file);
            fs::create_dir_all(file.parent().unwrap_or(&project.0))?;
            fs::write(file, OFF)?;
        }
        Ok(project)
    }

    pub fn dir(&self) -> &Path {
        &self.0
    }

    /// Environments: each of the variables alone, and all together.
    pub fn environments(&self) -> Vec<Vec<(&'static str, PathBuf)>> {
        let set = |(name, below): (&'static str, &str)| (name, self.0.join(below));
        let mut each: Vec<Vec<_>> = VARIABLES.into_iter().map(|variable| vec![set(variable)]).collect();
        each.push(VARIABLES.into_iter().map(set).collect());
        each
    }

    /// What lies in the project that was not put there by us, or is not as it was.
    pub fn traces(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.0.clone()];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    open.push(path);
                } else if !self.is_ours(&path) {
                    found.push(path);
                }
            }
        }
        found
    }

    fn is_ours(&self, path: &Path) -> bool {
        CONFIGURATIONS.iter().any(|file| self.0.join(file) == path)
            && fs::read_to_string(path).is_ok_and(|text| text == OFF)
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        // A directory in /tmp that cannot be removed harms nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}
