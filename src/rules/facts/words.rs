//! Lists of words: verbs and things by which what no row knows is judged (`verbs.toml`), and words that several rooms of the rules
//! share (`words.toml`).

words!("facts/verbs");
words!("facts/words");
