//! What is remembered of files, as it stands in a session's document.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::domain::{Mark, Marks, Origin, Reach};

/// One mark, in short words: there may be hundreds.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    path: std::borrow::Cow<'a, str>,
    reach: std::borrow::Cow<'a, str>,
    is: std::borrow::Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<std::borrow::Cow<'a, str>>,
}

const REACHES: [(Reach, &str); 3] = [(Reach::File, "file"), (Reach::Tree, "tree"), (Reach::Names, "names")];

/// The origins without a host.
const ORIGINS: [(Origin, &str); 4] = [
    (Origin::Written, "written"),
    (Origin::Environment, "environment"),
    (Origin::Settings, "settings"),
    (Origin::Secret, "secret"),
];

const FETCHED: &str = "fetched";

pub(super) fn serialize<S: Serializer>(marks: &Marks, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(marks.iter().map(|mark| {
        let (is, from) = match &mark.origin {
            Origin::Fetched(host) => (FETCHED, Some(host.as_str().into())),
            origin => (ORIGINS.iter().find(|(known, _)| known == origin).map_or("", |(_, name)| *name), None),
        };
        let reach = REACHES.iter().find(|(reach, _)| *reach == mark.reach).map_or("", |(_, name)| *name);
        Line { path: mark.path.as_str().into(), reach: reach.into(), is: is.into(), from }
    }))
}

/// A word that is not known makes the document a damaged one.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Marks, D::Error> {
    let mut marks = Marks::default();
    for line in Vec::<Line<'_>>::deserialize(deserializer)? {
        let reach = REACHES.iter().find(|(_, name)| *name == line.reach).map(|(reach, _)| *reach);
        let origin = match line.from {
            Some(host) if line.is == FETCHED => Some(Origin::Fetched(host.into_owned())),
            Some(_) => None,
            None => ORIGINS.iter().find(|(_, name)| *name == line.is).map(|(origin, _)| origin.clone()),
        };
        let (Some(reach), Some(origin)) = (reach, origin) else {
            return Err(D::Error::custom(format!("a mark of {} that is not known", line.is)));
        };
        marks.add(Mark { path: line.path.into_owned(), reach, origin });
    }
    Ok(marks)
}
