//! The command line as it was given, so that a result can say how to get it
//! again.

/// The command, quoted for a shell.
pub fn given() -> String {
    let args = std::env::args_os().skip(1).map(|arg| quoted(&arg.to_string_lossy()));
    std::iter::once("supertrace".to_string()).chain(args).collect::<Vec<_>>().join(" ")
}

/// One word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+=.,:/@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        for word in ["m.pml", "--arena", "2^18", "N=4", "a/b_c-d"] {
            assert_eq!(quoted(word), word);
        }
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's $x"), "'it'\\''s $x'");
    }
}
