//! What can go wrong in a model, with a stable name for each.

use crate::source::Span;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    Assertion,
    Deadlock,
    ArrayIndex,
    DivisionByZero,
    UninitialisedChannel,
    MessageFields,
    PollOnRendezvous,
    TooManyProcesses,
    TooManyChannels,
    #[serde(rename = "blocked-d_step")]
    BlockedDstep,
    #[serde(rename = "rendezvous-in-d_step")]
    RendezvousInDstep,
    #[serde(rename = "endless-d_step")]
    EndlessDstep,
    EndlessAtomic,
    NonDeterminism,
    ExclusiveChannel,
    PriorityRange,
    EnabledSelf,
    Invariant,
    UndefinedValue,
    OutOfRange,
    NoReturn,
    EndlessLoop,
    RecursionDepth,
    MultisetFull,
    Cover,
}

impl FaultKind {
    /// Whether the step that has such a fault leads somewhere all the same.
    pub fn goes_on(self) -> bool {
        matches!(self, FaultKind::Assertion | FaultKind::Deadlock | FaultKind::ExclusiveChannel)
    }

    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Assertion => "assertion",
            FaultKind::Deadlock => "deadlock",
            FaultKind::ArrayIndex => "array-index",
            FaultKind::DivisionByZero => "division-by-zero",
            FaultKind::UninitialisedChannel => "uninitialised-channel",
            FaultKind::MessageFields => "message-fields",
            FaultKind::PollOnRendezvous => "poll-on-rendezvous",
            FaultKind::TooManyProcesses => "too-many-processes",
            FaultKind::TooManyChannels => "too-many-channels",
            FaultKind::BlockedDstep => "blocked-d_step",
            FaultKind::RendezvousInDstep => "rendezvous-in-d_step",
            FaultKind::EndlessDstep => "endless-d_step",
            FaultKind::EndlessAtomic => "endless-atomic",
            FaultKind::NonDeterminism => "non-determinism",
            FaultKind::ExclusiveChannel => "exclusive-channel",
            FaultKind::PriorityRange => "priority-range",
            FaultKind::EnabledSelf => "enabled-self",
            FaultKind::Invariant => "invariant",
            FaultKind::UndefinedValue => "undefined-value",
            FaultKind::OutOfRange => "out-of-range",
            FaultKind::NoReturn => "no-return",
            FaultKind::EndlessLoop => "endless-loop",
            FaultKind::RecursionDepth => "recursion-depth",
            FaultKind::MultisetFull => "multiset-full",
            FaultKind::Cover => "cover",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A violation at a place in the model's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub kind: FaultKind,
    pub message: String,
    pub span: Span,
}

impl Fault {
    /// What a model of one's own claims does not hold; it has no text to point at.
    pub fn assertion(message: &str) -> Fault {
        Fault { kind: FaultKind::Assertion, message: message.into(), span: Span::NONE }
    }
}
