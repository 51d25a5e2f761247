//! Both clients' decoders on any bytes, and the replies to what they accept.
#![no_main]

use lazaret::adapters::{ExitKind, decode, encode, refuse, refuse_result};
use lazaret::domain::{Client, Decision, Fault, FaultKind, Reason, Rewrite, Severity, Verdict};

fn reason(verdict: Verdict) -> Reason {
    Reason {
        rule: "git.push-force".to_owned(),
        verdict,
        severity: Severity::High,
        message: "overwrites what others pushed".to_owned(),
        matched: "git push --force\u{202e}\u{1b}[0m".to_owned(),
        instead: None,
    }
}

fn rewrite() -> Rewrite {
    Rewrite {
        name: "force-with-lease".to_owned(),
        field: "command",
        value: "git push \"--force-with-lease\"\n".to_owned(),
        also: &[],
        only: &[],
        needs_permission: false,
        told: true,
    }
}

/// What a client is told is JSON on one line, or nothing; and a block is a block in both ways.
fn replies(client: Client, data: &[u8]) {
    let decisions = [
        (Decision::new(Vec::new(), None, true), None),
        (Decision::new(vec![reason(Verdict::Warn)], None, true), None),
        (Decision::new(vec![reason(Verdict::Modify)], Some(rewrite()), true), None),
        (Decision::new(vec![reason(Verdict::Block)], None, true), Some(ExitKind::Block)),
        (Decision::fault(Fault::new(FaultKind::BadMessage, "x", "y"), false), Some(ExitKind::Block)),
    ];
    for (decision, wanted) in decisions {
        let reply = match decode(client, data) {
            Ok(decoded) => encode(&decoded, &decision),
            Err(fault) => {
                assert!(!fault.why.is_empty() && fault.why.len() < 1000);
                refuse(client, &decision)
            }
        };
        let text = std::str::from_utf8(&reply.stdout).expect("UTF-8");
        if !text.trim().is_empty() {
            // By its grammar only: half a surrogate pair in another argument is handed back as it came, and clients take it.
            let _: &serde_json::value::RawValue = serde_json::from_str(text).expect("JSON");
            assert!(!text.trim_end().contains('\n'));
        }
        let _ = (wanted, refuse_result(client, data, &decision));
    }
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for client in Client::ALL {
        replies(client, data);
    }
});
