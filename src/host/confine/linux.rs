//! Landlock, through its crate.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::{Confinement, Held};

/// What each version of the interface is the first to hold to: a kernel with an older one lacks it.
const SINCE: [(i32, &str); 3] = [
    (2, "files cannot be moved from one directory to another at all (Linux 5.19 can tell)"),
    (3, "files elsewhere can be emptied (stopped from Linux 6.2 on)"),
    (6, "processes outside can be sent signals (stopped from Linux 6.12 on)"),
];

/// A set of rules that no thread is held to yet.
#[derive(Debug)]
pub(super) struct Rules(RulesetCreated);

impl Rules {
    pub fn of(confinement: &Confinement) -> io::Result<Rules> {
        // The crate's own words would bring tens of kilobytes with them.
        create(confinement).map(Rules).map_err(|error| match &error {
            RulesetError::HandleAccesses(_) | RulesetError::CreateRuleset(_) => {
                unsupported("this kernel has no Landlock, or it is not switched on")
            }
            _ => io::Error::other("the kernel refused a rule of it"),
        })
    }

    pub fn enter(self) -> io::Result<Held> {
        let status =
            self.0.restrict_self().map_err(|_| io::Error::other("the kernel refused to enforce it"))?;
        let abi = match status.landlock {
            LandlockStatus::Available { effective_abi, kernel_abi } => {
                kernel_abi.unwrap_or(effective_abi as i32)
            }
            LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
        };
        if abi == 0 || status.ruleset == RulesetStatus::NotEnforced {
            return Err(unsupported("the kernel did not enforce it"));
        }
        let lacks = SINCE.iter().filter(|(since, _)| abi < *since).map(|(_, lack)| *lack);
        Ok(Held { abi, lacks: lacks.collect() })
    }
}

fn unsupported(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why)
}

fn create(confinement: &Confinement) -> Result<RulesetCreated, RulesetError> {
    let all = written() | AccessFs::ReadFile;
    let handled = if confinement.unreadable.is_empty() { written() } else { all };
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(ABI::V1))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled)?
        .scope(Scope::from_all(ABI::V6))?
        .create()?
        .set_compatibility(CompatLevel::BestEffort);
    for path in &confinement.writable {
        rules = allow(rules, path, written())?;
    }
    if !confinement.unreadable.is_empty() {
        let rest = all_but(&confinement.unreadable);
        for path in rest.iter().chain(&confinement.readable) {
            rules = allow(rules, path, AccessFs::ReadFile.into())?;
        }
    }
    Ok(rules)
}

/// All that changes a file or makes one, but not what a device is told beyond its bytes: terminals need that.
fn written() -> BitFlags<AccessFs> {
    AccessFs::from_write(ABI::V3)
}

/// One place more where this may be done; one that cannot be opened is none.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(place) = PathFd::new(path) else { return Ok(rules) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(ABI::V3) };
    rules.add_rule(PathBeneath::new(place, access))
}

/// Everything there is but these places: Landlock knows no exceptions from what it allows, so what lies beside them is named. A link
/// is left out; what it leads to is named where it lies. What appears later beside one of them cannot be read.
fn all_but(places: &[PathBuf]) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = places.iter().filter_map(|place| place.canonicalize().ok()).collect();
    // What lies in another one has no directories of its own above it that are to be listed.
    let all = places.clone();
    places.retain(|place| !all.iter().any(|other| other != place && place.starts_with(other)));
    let mut above: Vec<&Path> = Vec::new();
    for dir in places.iter().flat_map(|place| place.ancestors().skip(1)) {
        if !above.contains(&dir) {
            above.push(dir);
        }
    }
    let mut rest = Vec::new();
    for dir in &above {
        // One that cannot be listed has nothing that we could name; and nothing that is read by guessing a name.
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if !is_link && !above.contains(&path.as_path()) && !places.contains(&path) {
                rest.push(path);
            }
        }
    }
    if places.is_empty() { vec![PathBuf::from("/")] } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beside_the_places_is_named_and_they_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for sub in ["a/keys/deep", "a/more", "b"] {
            std::fs::create_dir_all(top.join(sub)).unwrap();
        }
        std::os::unix::fs::symlink("a/keys", top.join("way")).unwrap();
        let named = all_but(&[top.join("a/keys/deep"), top.join("way"), top.join("none")]);
        let ours: Vec<&Path> = named.iter().filter_map(|path| path.strip_prefix(&top).ok()).collect();
        assert!(
            ours.len() == 2 && ours.contains(&Path::new("b")) && ours.contains(&Path::new("a/more")),
            "{ours:?}"
        );
        assert!(named.contains(&PathBuf::from("/usr")) && !named.contains(&PathBuf::from("/")));
        assert_eq!(all_but(&[top.join("none")]), [PathBuf::from("/")]);
    }
}
