//! Archives and compressed files: what is packed into them, and what comes out.

use super::outputs::path_of;
use super::{Taint, Trail, files};
use crate::domain::{Origin, Reach, Target, join};
use crate::rules::Invocation;
use crate::rules::matcher::{flag_value, has_flag, runs, target_of};
use crate::shell::Arg;

/// Ends of the names of compressed files.
const ENDINGS: &[&str] = &[".gz", ".bz2", ".xz", ".zst", ".lz4", ".br", ".lzma"];

impl Trail<'_> {
    /// An archiver or a compressor.
    pub(super) fn pack(&mut self, inv: &Invocation, taint: &Taint, came_in: &Taint) {
        match inv.program.as_str() {
            "tar" | "bsdtar" | "gtar" => self.tar(inv, came_in),
            "zip" => {
                if let Some((archive, inputs)) = inv.operands.split_first() {
                    self.packed(inv, archive, inputs);
                }
            }
            "unzip" => {
                if let Some(archive) = inv.operands.first() {
                    self.unpack(inv, Some(archive), flag_value(inv, &["-d"]), came_in);
                }
            }
            "7z" | "7za" | "7zz" => {
                let mut words = inv.operands.iter();
                let verb = words.next().and_then(Arg::known).or(inv.sub.first().map(String::as_str));
                let Some(archive) = words.next() else { return };
                if verb == Some("a") {
                    self.packed(inv, archive, inv.operands.get(2..).unwrap_or_default());
                } else {
                    self.unpack(inv, Some(archive), flag_value(inv, &["-o"]), came_in);
                }
            }
            "ar" => {
                let [mode, archive, members @ ..] = inv.operands.as_slice() else { return };
                if mode.prefix().contains(['r', 'q']) {
                    self.packed(inv, archive, members);
                } else if mode.prefix().contains('x') {
                    self.unpack(inv, Some(archive), flag_value(inv, &["--output"]), came_in);
                }
            }
            "pax" if has_flag(inv, "-r") => self.unpack(inv, flag_value(inv, &["-f"]), None, came_in),
            "pax" => {}
            _ => self.compressed(inv, taint),
        }
    }

    fn tar(&mut self, inv: &Invocation, came_in: &Taint) {
        // `tar czf x.tgz y`: the letters without a dash.
        let old =
            inv.args.first().and_then(Arg::known).filter(|word| !word.starts_with('-') && !word.is_empty());
        let letters = old.unwrap_or_default();
        let has = |letter: char, long: &str| {
            letters.contains(letter) || has_flag(inv, &format!("-{letter}")) || has_flag(inv, long)
        };
        let skip = usize::from(old.is_some() && inv.operands.first().and_then(Arg::known) == old);
        let rest = inv.operands.get(skip..).unwrap_or_default();
        let (file, rest) = match (letters.contains('f'), rest.split_first()) {
            (true, Some((file, rest))) => (Some(file), rest),
            (true, None) | (false, _) => (flag_value(inv, &["-f", "--file"]), rest),
        };
        let file = file.filter(|file| file.known() != Some("-"));
        let members = flag_value(inv, &["-C", "--directory"])
            .and_then(|dir| path_of(&target_of(dir, inv.cwd.as_deref())));
        if has('x', "--extract") || has_flag(inv, "--get") {
            self.unpack(inv, file, flag_value(inv, &["-C", "--directory", "--one-top-level"]), came_in);
        } else if let (Some(file), true) =
            (file, has('c', "--create") || has('r', "--append") || has('u', "--update"))
        {
            self.packed_from(inv, file, (rest, members.as_deref().or(inv.cwd.as_deref())));
        }
    }

    /// An archive takes on what is in its members.
    fn packed(&mut self, inv: &Invocation, archive: &Arg, members: &[Arg]) {
        self.packed_from(inv, archive, (members, inv.cwd.as_deref()));
    }

    /// The same of members in another directory.
    fn packed_from(&mut self, inv: &Invocation, archive: &Arg, (members, from): (&[Arg], Option<&str>)) {
        let cwd = inv.cwd.as_deref();
        let mut taint = Taint::default();
        for member in members {
            if let Target::Path { path, glob, .. } = target_of(member, from) {
                // A home, or the whole machine, has the keys of whoever lives there in it.
                if self.is_whole(&path) {
                    taint.secret = Some(Origin::Secret);
                }
                taint.join(&self.held(&Target::Path { path, glob, recursive: true }));
            }
        }
        if let Some(path) = path_of(&target_of(archive, cwd)) {
            self.put(&path, &taint, false);
        }
    }

    fn is_whole(&self, path: &str) -> bool {
        let path = path.trim_end_matches(['*', '/']);
        matches!(path, "" | "/home" | "/root" | "/Users") || self.facts.places.home.as_deref() == Some(path)
    }

    /// What comes out of an archive that came from elsewhere.
    fn unpack(&mut self, inv: &Invocation, archive: Option<&Arg>, dir: Option<&Arg>, came_in: &Taint) {
        let cwd = inv.cwd.as_deref();
        let taint = match archive {
            Some(archive) => self.held(&target_of(archive, cwd)),
            None => came_in.clone(),
        };
        let place = match dir {
            Some(dir) => path_of(&target_of(dir, cwd)),
            None => cwd.map(str::to_owned),
        };
        let Some(place) = place else { return };
        if let Some(secret) = &taint.secret {
            let stem = archive.map(Arg::text).and_then(|name| files::stem(&name).map(str::to_owned));
            if dir.is_some() {
                self.mark(&place, Reach::Tree, secret.clone());
            } else if let Some(stem) = stem {
                self.mark(&join(&place, &stem), Reach::Names, secret.clone());
            }
        }
        if let Some(program) = &taint.program {
            // Under which name it comes out is not known.
            self.mark(&place, Reach::Tree, Origin::Program(program.clone()));
        }
        let Some(host) = taint.host.filter(|host| super::is_strange(host, self.policy)) else { return };
        self.unpacked(&place, &host);
        let given = archive.map(Arg::to_text).or(taint.name);
        let named = given.as_deref().and_then(|name| files::stem(name).map(str::to_owned));
        match (named, given) {
            (Some(stem), _) => self.mark(&join(&place, &stem), Reach::Names, Origin::Fetched(host)),
            (None, Some(name)) => {
                let stem =
                    name.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
                if !stem.is_empty() {
                    self.mark(&join(&place, stem), Reach::Tree, Origin::Fetched(host));
                }
            }
            (None, None) => {}
        }
    }

    /// `gzip x` makes `x.gz` of it, `gunzip x.gz` the other way.
    fn compressed(&mut self, inv: &Invocation, taint: &Taint) {
        if taint.is_clean() || has_flag(inv, "-c") || has_flag(inv, "--stdout") {
            return;
        }
        let given = flag_value(inv, &["-o"]).and_then(|arg| path_of(&target_of(arg, inv.cwd.as_deref())));
        if let Some(path) = given {
            self.put(&path, taint, false);
            return;
        }
        let unpacks = has_flag(inv, "-d")
            || has_flag(inv, "--decompress")
            || runs(inv, &["gunzip", "unxz", "bunzip2", "unzstd"]);
        for arg in &inv.operands {
            let target = target_of(arg, inv.cwd.as_deref());
            let (own, Some(path)) = (self.held(&target), path_of(&target)) else { continue };
            let bare = ENDINGS.iter().find_map(|ending| path.strip_suffix(ending));
            match (unpacks, bare) {
                (true, Some(bare)) => self.put(bare, &own, false),
                (true, None) => {}
                (false, _) => {
                    for ending in ENDINGS {
                        self.put(&format!("{path}{ending}"), &own, false);
                    }
                }
            }
        }
    }
}
