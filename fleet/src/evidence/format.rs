//! The schema that the body of a record is in: the log's own, or one that collectors know.

use std::borrow::Cow;

use lazaret::cli::audit::ecs;
use lazaret::host::audit::Line;
use serde::Deserialize;

use super::Origin;
use super::ocsf;

/// What an event is sent as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Format {
    /// As it stands in the log.
    #[default]
    Lazaret,
    /// The Elastic Common Schema, as `lazaret audit export --format ecs` makes it.
    Ecs,
    /// The Open Cybersecurity Schema Framework.
    Ocsf,
}

impl TryFrom<String> for Format {
    type Error = String;

    fn try_from(name: String) -> Result<Format, String> {
        match name.as_str() {
            "lazaret" => Ok(Format::Lazaret),
            "ecs" => Ok(Format::Ecs),
            "ocsf" => Ok(Format::Ocsf),
            _ => Err(format!("evidence.format: there is no `{name}`; it is lazaret, ecs or ocsf")),
        }
    }
}

impl Format {
    /// The event as one JSON object.
    pub fn text<'l>(self, line: &'l Line, origin: &Origin) -> Cow<'l, str> {
        let mapped = match self {
            Format::Lazaret => return Cow::Borrowed(&line.text),
            Format::Ecs => ecs::event(&line.marked()),
            Format::Ocsf => ocsf::event(line, origin),
        };
        mapped.map_or(Cow::Borrowed(&*line.text), |mapped| mapped.to_string().into())
    }
}
