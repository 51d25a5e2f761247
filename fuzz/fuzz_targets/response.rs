//! The parser of answers and the cleaning, on any bytes.
#![no_main]

use lazaret::domain::{ReviewId, is_hidden};
use lazaret::review::response::{
    CleanReport, Danger, Finding, Kind, Location, Metadata, Report, ReviewedFile, Unread, clean, parse,
};

const FILES: [ReviewedFile<'static>; 2] = [
    ReviewedFile { original: "/p/src/a.rs", sealed: "/run/u/copies/src/a.rs", lines: 10 },
    ReviewedFile { original: "/p/b.rs", sealed: "/run/u/copies/b.rs", lines: 0 },
];

fn cleaned(report: Report) -> CleanReport {
    let session = ReviewId::parse("3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b").expect("a canonical id");
    let meta = Metadata {
        session: &session,
        root: "/p",
        sealed_root: "/run/u/copies",
        started_s: 1,
        finished_s: 2,
        calls: 3,
        read: None,
    };
    clean(report, &FILES, &meta)
}

/// The text as an answer: refused with reasons that are safe to show, or cleaned.
fn answered(text: &str) {
    match parse(text) {
        Ok(report) => check(&cleaned(report)),
        Err(errors) => {
            assert!(!errors.is_empty() && errors.len() <= 20);
            for error in errors {
                let shown = error.to_string();
                assert!(
                    shown.len() < 300 && shown.is_ascii() && !shown.contains(|c: char| c.is_control()),
                    "{shown:?}"
                );
            }
        }
    }
}

/// The text in every place of an accepted answer.
fn reported(text: &str) {
    let own = || text.to_owned();
    check(&cleaned(Report {
        summary: own(),
        risk_level: Danger::None,
        findings: vec![Finding {
            kind: Kind::Other,
            severity: Danger::High,
            title: own(),
            description: own(),
            location: Some(Location { file: own(), line: Some(1), end_line: None }),
            recommendation: Some(own()),
            snippet: Some(own()),
        }],
        files_reviewed: vec![own()],
        unread: vec![Unread { file: "b.rs".to_owned(), why: own() }],
    }));
}

fn check(report: &CleanReport) {
    harmless(&report.summary);
    for finding in &report.findings {
        for text in [&finding.title, &finding.description]
            .into_iter()
            .chain(&finding.recommendation)
            .chain(&finding.snippet)
        {
            harmless(text);
        }
        assert!(!finding.title.contains('\n'));
        if let Some(place) = &finding.location {
            let file = FILES.iter().find(|file| file.original == place.file).expect("a file of the session");
            assert!(place.line.unwrap_or(0) <= file.lines && place.end_line.unwrap_or(0) <= file.lines);
        }
    }
    assert!(report.files_reviewed.iter().all(|name| FILES.iter().any(|file| file.original == name)));
    report.unread.iter().for_each(|unread| harmless(&unread.why));
    let json = report.to_json();
    let read: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(read["riskLevel"], report.risk_level.name());
    assert!(!json.contains('\n'));
}

fn harmless(text: &str) {
    for c in text.chars() {
        assert!(c == '\n' || c == '\t' || !(c.is_control() || is_hidden(c)), "{c:?} in {text:?}");
    }
    let lower = text.to_lowercase();
    for gone in ["://", "```", "~~~", "](", "![", "[inst]", "<system", "</", "<|", "<<s"] {
        assert!(!lower.contains(gone), "{gone} in {text:?}");
    }
    assert!(!text.contains("/run/u/copies/"), "{text:?}");
    assert!(!text.lines().any(|line| line.starts_with("Human:")), "{text:?}");
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        answered(text);
        reported(text);
    }
});
