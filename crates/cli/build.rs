//! Links the binary statically on Linux, as far as the system has what that takes:
//! it then runs on machines with another C library, starts sooner (nothing is loaded
//! and bound at run time) and takes less memory.
//!
//! `-C target-feature=+crt-static` would do it, but Cargo passes that to procedural
//! macros too, which cannot be static. So the linker is given static libraries under
//! the names by which it looks for shared ones. Whether that works is tried with a
//! small program: linkers, libraries and flags differ.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// What Rust's own library asks for, and what that is made of here. Some linkers look
/// for what is missing only in what comes later, so the C library has all with it.
const LIBRARIES: [(&str, &[&str]); 7] = [
    ("c", &["libc.a", "libgcc_eh.a", "libgcc.a"]),
    ("m", &["libm.a"]),
    ("gcc_s", &["libgcc_eh.a", "libgcc.a"]),
    // All of them in the C library but with old ones.
    ("pthread", &["libpthread.a"]),
    ("rt", &["librt.a"]),
    ("dl", &["libdl.a"]),
    ("util", &["libutil.a"]),
];

/// Has a thread, a panic, a file of the system and a function of the mathematical library.
const TRIAL: &str = r#"
fn main() {
    let text = std::thread::spawn(|| std::fs::read_to_string("/proc/self/stat"));
    let len = text.join().expect("a thread").map_or(0, |text| text.len());
    let caught = std::panic::catch_unwind(|| panic!("{}", (len as f64).ln()));
    assert!(caught.is_err());
}
"#;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|is| is == value);
    let is_native = env::var("HOST").ok() == env::var("TARGET").ok();
    // Others know better, or do so anyway.
    let is_common = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if !is_native || !is_common || env::var_os("RUSTC_LINKER").is_some() {
        return Ok(());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets it")).join("static");
    fs::create_dir_all(&out)?;
    let flags = [format!("-L{}", out.display()), "-static-pie".to_string()];
    if write_libraries(&out)? && works(&flags, &out) {
        // For the binary alone: tests of this crate are linked as ever.
        flags.iter().for_each(|flag| println!("cargo::rustc-link-arg-bins={flag}"));
    }
    Ok(())
}

/// False if one is missing.
fn write_libraries(out: &Path) -> io::Result<bool> {
    for (name, parts) in LIBRARIES {
        let Some(parts) = parts.iter().map(|part| find(part)).collect::<Option<Vec<_>>>() else {
            return Ok(false);
        };
        let quoted: Vec<String> =
            parts.iter().map(|part| format!("\"{}\"", part.display())).collect();
        fs::write(out.join(format!("lib{name}.a")), format!("GROUP({})\n", quoted.join(" ")))?;
        // They may be elsewhere after an upgrade.
        parts.iter().for_each(|part| println!("cargo::rerun-if-changed={}", part.display()));
    }
    Ok(true)
}

/// Where the C compiler, by which Rust links, has a file of this name.
fn find(name: &str) -> Option<PathBuf> {
    let answer = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(answer.stdout).ok()?.trim());
    path.is_absolute().then_some(path)
}

/// Whether a program that is linked so can be made and runs.
fn works(flags: &[String], dir: &Path) -> bool {
    let (source, program) = (dir.join("trial.rs"), dir.join("trial"));
    let mut rustc = Command::new(env::var_os("RUSTC").expect("Cargo sets it"));
    rustc.args(["--edition", "2021", "-o"]).arg(&program).arg(&source);
    let given = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(given.split('\x1f').filter(|flag| !flag.is_empty()));
    rustc.args(flags.iter().map(|flag| format!("-Clink-arg={flag}")));
    let runs = |command: &mut Command| command.output().is_ok_and(|out| out.status.success());
    let is_made = fs::write(&source, TRIAL).is_ok() && runs(&mut rustc);
    let works = is_made && runs(&mut Command::new(&program));
    // It may not be there, and is not needed any more.
    let _ = fs::remove_file(&program);
    works
}
