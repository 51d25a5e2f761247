//! What differs between systems by convention: where configuration, state lie.

/// Where one system keeps things.
#[derive(Debug)]
pub(super) struct Platform {
    /// Our configuration below the home directory, where `XDG_CONFIG_HOME` does not say.
    pub config: &'static str,
    /// Our state below the home directory, where `XDG_STATE_HOME` does not say.
    pub state: &'static str,
    /// The values of the two variables that mean just that.
    pub xdg: Option<[&'static str; 2]>,
    /// Our configuration by whoever manages the machine.
    pub managed: &'static str,
}

/// Linux, by the base directory specification.
pub(super) const LINUX: Platform = Platform {
    config: ".config/lazaret",
    state: ".local/state/lazaret",
    xdg: Some([".config", ".local/state"]),
    managed: "/etc/lazaret",
};

/// macOS, by its guidelines for files.
pub(super) const MACOS: Platform = Platform {
    config: "Library/Application Support/lazaret",
    state: "Library/Application Support/lazaret/state",
    xdg: None,
    managed: "/Library/Application Support/lazaret",
};

/// The system that this binary is for.
pub(super) const HERE: Platform = if cfg!(target_os = "macos") { MACOS } else { LINUX };
