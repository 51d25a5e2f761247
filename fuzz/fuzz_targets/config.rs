//! The loader of configuration files, on any bytes, as a person's file and as a project's.
#![no_main]

use lazaret::host::config::problems;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for project in [None, Some("/home/u/proj")] {
        for problem in problems(data, project) {
            let shown = format!("{problem:?}");
            assert!(shown.len() < 20_000);
        }
        assert_eq!(problems(data, project), problems(data, project));
    }
});
