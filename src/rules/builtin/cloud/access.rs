//! Who may do what in a cloud, and what protects it.

use super::IN_CODE;
use super::requests::{self, Request};
use crate::rules::Invocation;
use crate::rules::builtin::clusters::KUBECTL;
use crate::rules::builtin::libraries::Told;
use crate::rules::builtin::secrets::stores::only_keys;
use crate::rules::builtin::{clusters, libraries, operations, standing};
use crate::rules::matcher::Scene;
use crate::rules::matcher::{has_sub, input_of, is_rehearsal};
use crate::shell::Arg;

words!("builtin/cloud/access");

/// A template that is given on the spot lets somebody in who was not.
fn granted_by_template(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let grants = |text: &str| GRANTING.iter().any(|word| text.contains(word));
    let told = operations::known_words(inv).iter().any(|word| DEPLOYING.contains(word));
    told && !is_rehearsal(inv)
        && (input_of(inv, scene).iter().any(|text| grants(text))
            || scene.within(inv).any(|other| grants(&other.text)))
}

fn cluster_admin_bound(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let binds = |text: &String| text.contains("ClusterRoleBinding") && text.contains("cluster-admin");
    let told = operations::known_words(inv).iter().any(|w| matches!(*w, "apply" | "create" | "replace"));
    told && !is_rehearsal(inv) && !clusters::is_local(inv, scene) && input_of(inv, scene).iter().any(binds)
}

fn variables_of_a_vault_printed(inv: &Invocation) -> bool {
    const VAULTS: &[&str] = &["aws-vault", "chamber", "doppler", "infisical", "op", "sops"];
    inv.operands.is_empty() && inv.wrappers.iter().any(|name| VAULTS.contains(&name.as_str()))
}

/// What a store prints goes into a file that is for it, or only the names of it are shown.
fn shows_no_value(inv: &Invocation, scene: &Scene<'_>) -> bool {
    // `neonctl connection-string dev`: of a branch of one's own.
    pulls_for_development(inv)
        || only_keys(inv, scene)
        || inv.program.starts_with("neon") && standing::chooses_own(inv)
}

/// `vercel env pull .env.local`: the variables for development go into the file of the project that is there for them.
pub(in crate::rules::builtin) fn pulls_for_development(inv: &Invocation) -> bool {
    const WORDS: &[&str] =
        &["env", "pull", "development", "-y", "--yes", "--environment", "--environment=development"];
    const FILES: &[&str] = &[".env", ".env.local", ".env.development", ".env.development.local"];
    let stays = |path: &str| {
        let file = path.rsplit('/').next().is_some_and(|name| FILES.contains(&name));
        file && !path.starts_with(['/', '~']) && !path.contains("..")
    };
    let plain = |arg: &Arg| arg.known().is_some_and(|word| WORDS.contains(&word) || stays(word));
    matches!(inv.program.as_str(), "vercel" | "now") && has_sub(inv, "env pull") && inv.args.iter().all(plain)
}
