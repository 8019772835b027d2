//! `supertrace show`.

use crate::args::ShowArgs;
use crate::{exit, load, print};
use anyhow::Result;

pub fn run(args: &ShowArgs) -> Result<u8> {
    let trace = load::trace(&args.trace)?;
    let color = args.color.on();
    if let Some(path) = &args.msc {
        load::write(path, &report::trace::msc_svg(&trace))?;
        if !args.columns {
            return Ok(exit::NO_VIOLATION);
        }
    }
    if args.columns {
        print(&report::trace::columns(&trace, args.width.unwrap_or_else(terminal_width), color));
    } else {
        print(&report::trace::steps(&trace, args.full, color));
    }
    Ok(exit::NO_VIOLATION)
}

/// The shell's idea of the width, or a common one.
fn terminal_width() -> usize {
    std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).filter(|c| *c >= 20).unwrap_or(100)
}
