//! How the binary is linked. What an ordinary hook call runs lies together (`layout.ld`, written by `examples/layout.rs`), because a
//! process that lives half a millisecond spends much of it on bringing pages of code in; and it is loaded at a fixed address,
//! because the loader would otherwise relocate every pointer in the rules' tables at each start. The released binary has no tables for unwinding
//! (`tables.ld`): a panic ends it at once.

fn main() {
    println!("cargo::rerun-if-changed=layout.ld");
    println!("cargo::rerun-if-changed=tables.ld");
    let of_target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    // Linkers of other systems do not read such scripts; the binary only starts a little slower without.
    if of_target("OS") == "linux" {
        println!("cargo::rustc-link-arg-bin=lazaret=-Wl,-T,{here}/layout.ld");
        // Debug builds unwind: their tests show where a panic came from.
        if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
            println!("cargo::rustc-link-arg-bin=lazaret=-Wl,-T,{here}/tables.ld");
        }
        // The static build says so by its relocation model (.cargo/config.toml).
        if of_target("ENV") == "gnu" {
            println!("cargo::rustc-link-arg-bin=lazaret=-no-pie");
        }
    }
}
