//! What is remembered of files, as it stands in a session's document: one text of lines, which is read much faster than a list of
//! objects would be.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

use crate::domain::{Mark, Marks, Origin, Reach};

const REACHES: [(Reach, char); 3] = [(Reach::File, 'f'), (Reach::Tree, 't'), (Reach::Names, 'n')];

/// The origins without a host.
const ORIGINS: [(Origin, char); 4] =
    [(Origin::Written, 'w'), (Origin::Environment, 'e'), (Origin::Settings, 's'), (Origin::Secret, 'k')];

/// Stands for [`Origin::Fetched`]; the host comes behind it.
const FETCHED: char = 'h';

/// Stands for [`Origin::Program`]; the program's name comes behind it.
const PROGRAM: char = 'p';

/// Ends a line. No path has it in it.
const END: char = '\0';

pub(super) fn serialize<S: Serializer>(marks: &Marks, serializer: S) -> Result<S::Ok, S::Error> {
    let mut text = String::new();
    for mark in marks.iter() {
        text.extend(REACHES.iter().find(|(reach, _)| *reach == mark.reach).map(|(_, sign)| *sign));
        match &mark.origin {
            Origin::Fetched(host) => {
                text.push(FETCHED);
                text.push_str(host);
            }
            Origin::Program(name) => {
                text.push(PROGRAM);
                text.push_str(name);
            }
            origin => text.extend(ORIGINS.iter().find(|(known, _)| known == origin).map(|(_, sign)| *sign)),
        }
        // A host or a name ends where the path begins: it has no slash.
        text.push_str(&mark.path);
        text.push(END);
    }
    serializer.serialize_str(&text)
}

/// A line that is none of ours makes the document a damaged one.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Marks, D::Error> {
    let text = String::deserialize(deserializer)?;
    let mut marks = Marks::default();
    for line in text.split_terminator(END) {
        marks.restore(
            mark(line).ok_or_else(|| D::Error::custom("what is remembered of a file cannot be read"))?,
        );
    }
    Ok(marks)
}

fn mark(line: &str) -> Option<Mark> {
    let (signs, rest) = line.split_at_checked(line.find('/')?)?;
    let mut signs = signs.chars();
    let (reach, origin) = (signs.next()?, signs.next()?);
    let reach = REACHES.iter().find(|(_, sign)| *sign == reach).map(|(reach, _)| *reach)?;
    let origin = match origin {
        FETCHED => Origin::Fetched(signs.as_str().to_owned()),
        PROGRAM => Origin::Program(signs.as_str().to_owned()),
        origin => ORIGINS.iter().find(|(_, sign)| *sign == origin).map(|(origin, _)| origin.clone())?,
    };
    Some(Mark { path: rest.to_owned(), reach, origin })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Paper {
        #[serde(with = "super")]
        marks: Marks,
    }

    #[test]
    fn marks_come_back_as_they_were() {
        let mut marks = Marks::default();
        for (reach, _) in REACHES {
            for origin in ORIGINS.map(|(origin, _)| origin) {
                marks.add(Mark { path: "/p/a b\n\"é".to_owned(), reach, origin });
            }
            for host in ["", "x.example", "host with blank"] {
                marks.add(Mark { path: "/p".to_owned(), reach, origin: Origin::Fetched(host.to_owned()) });
                marks.add(Mark { path: "/p".to_owned(), reach, origin: Origin::Program(host.to_owned()) });
            }
        }
        let paper = Paper { marks };
        let text = serde_json::to_string(&paper).unwrap();
        assert_eq!(serde_json::from_str::<Paper>(&text).unwrap(), paper);
    }

    #[test]
    fn what_is_damaged_is_not_taken_for_less() {
        for text in ["x/p", "fw", "fx/p", "/p", "f/p"] {
            let paper = serde_json::json!({ "marks": format!("{text}\0") }).to_string();
            assert!(serde_json::from_str::<Paper>(&paper).is_err(), "{text}");
        }
    }
}
