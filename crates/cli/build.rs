//! Links the binary statically on Linux, as far as the system has what that takes:
//! it then runs on machines with another C library, starts sooner (nothing is loaded
//! and bound at run time) and takes less memory.
//!
//! `-C target-feature=+crt-static` would do it, but Cargo passes that to procedural
//! macros too, which cannot be static. So the linker is given static libraries under
//! the names by which it looks for shared ones.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// What Rust's own library asks for, and what that is made of here.
const LIBRARIES: [(&str, &[&str]); 3] =
    [("c", &["libc.a"]), ("m", &["libm.a"]), ("gcc_s", &["libgcc_eh.a", "libgcc.a"])];
/// Where a static program begins that may be loaded anywhere.
const START: &str = "rcrt1.o";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|is| is == value);
    let is_native = env::var("HOST").ok() == env::var("TARGET").ok();
    // Others know better, or do so anyway.
    let is_common = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if !is_native || !is_common || env::var_os("RUSTC_LINKER").is_some() {
        return Ok(());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets it"));
    if find(START).is_some() && write_libraries(&out)? {
        // For the binary alone: tests of this crate are linked as ever.
        println!("cargo::rustc-link-arg-bins=-L{}", out.display());
        println!("cargo::rustc-link-arg-bins=-static-pie");
    }
    Ok(())
}

/// False if one is missing.
fn write_libraries(out: &Path) -> io::Result<bool> {
    for (name, parts) in LIBRARIES {
        let Some(parts) = parts.iter().map(|part| find(part)).collect::<Option<Vec<_>>>() else {
            return Ok(false);
        };
        let parts: Vec<String> =
            parts.iter().map(|part| format!("\"{}\"", part.display())).collect();
        fs::write(out.join(format!("lib{name}.a")), format!("GROUP({})\n", parts.join(" ")))?;
    }
    Ok(true)
}

/// Where the C compiler, by which Rust links, has a file of this name.
fn find(name: &str) -> Option<PathBuf> {
    let answer = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(answer.stdout).ok()?.trim());
    path.is_absolute().then_some(path)
}
