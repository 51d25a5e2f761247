//! The loader of configuration files and of the rules in them, on any bytes, as a person's file and as a project's.
#![no_main]

use lazaret::cli::CHECKS;
use lazaret::host::config::problems;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for project in [None, Some("/home/u/proj")] {
        for problem in problems(data, project, CHECKS) {
            let shown = format!("{problem:?}");
            assert!(shown.len() < 20_000);
        }
        let again = || problems(data, project, CHECKS);
        assert_eq!(again(), again());
    }
});
