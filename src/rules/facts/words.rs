//! Verbs and things by which what no row knows is judged. They stand in `verbs.toml`.

include!(concat!(env!("OUT_DIR"), "/words.rs"));
