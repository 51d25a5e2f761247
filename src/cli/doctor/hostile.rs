//! A project made to switch the gate off by its environment: variables that name its own directories, with a configuration there
//! that turns the reviewer off. What is registered must judge in it as anywhere, and put nothing there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::host::environment::PLACES;

/// Where each of [`PLACES`], set to `.x` below the project, would make lazaret look for its configuration.
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
        let places = PLACES.iter().filter(|place| place.matters);
        let all: Vec<_> = places.map(|place| (place.variable, self.0.join(".x"))).collect();
        let mut each: Vec<Vec<_>> = all.iter().map(|one| vec![one.clone()]).collect();
        each.push(all);
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
