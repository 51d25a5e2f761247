//! Puts the functions that an ordinary hook call runs next to each other in the binary: a process that lives half a
//! millisecond spends much of it on bringing pages of code in. Which functions: `layout.ld`, written by `examples/layout.rs`.

fn main() {
    println!("cargo::rerun-if-changed=layout.ld");
    let target = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    // Linkers of other systems do not read such scripts; the binary only starts a little slower without.
    if target == "linux" {
        println!("cargo::rustc-link-arg-bin=lazaret=-Wl,-T,{here}/layout.ld");
    }
}
