//! The command line as it was given, so that a result can say how to get it
//! again.

/// The command, quoted for a shell.
pub fn given() -> String {
    let args = std::env::args_os().skip(1).map(|arg| report::text::quoted(&arg.to_string_lossy()));
    std::iter::once("supertrace".to_string()).chain(args).collect::<Vec<_>>().join(" ")
}
