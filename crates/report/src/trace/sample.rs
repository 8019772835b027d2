//! Traces for tests.

use ir::fault::FaultKind;
use ir::source::Position;
use ir::trace::{Change, Message, Trace, TraceStep, Violation};

pub fn step(process: u8, name: &str, statement: &str) -> TraceStep {
    TraceStep {
        process,
        name: name.into(),
        location: Position { file: "m.pml".into(), line: 1, column: 1 },
        statement: statement.into(),
        action: 0,
        continues: false,
        changes: Vec::new(),
        sent: Vec::new(),
        received: Vec::new(),
        printed: String::new(),
    }
}

fn message(channel: &str, values: &str) -> Message {
    let values = values.split(',').map(String::from).collect();
    Message { channel: channel.into(), values, rendezvous: false }
}

pub fn sent(mut step: TraceStep, channel: &str, values: &str) -> TraceStep {
    step.sent.push(message(channel, values));
    step
}

pub fn received(mut step: TraceStep, channel: &str, values: &str) -> TraceStep {
    step.received.push(message(channel, values));
    step
}

pub fn changed(mut step: TraceStep, name: &str, from: &str, to: &str) -> TraceStep {
    step.changes.push(Change { name: name.into(), from: from.into(), to: to.into() });
    step
}

/// A trace without a violation.
pub fn trace(steps: Vec<TraceStep>) -> Trace {
    Trace {
        model: "m.pml".into(),
        language: "promela".into(),
        define: Vec::new(),
        violation: None,
        steps,
    }
}

/// Two processes that take part in one rendezvous, as two steps.
pub fn handshake(from: (u8, &str), to: (u8, &str), channel: &str, values: &str) -> [TraceStep; 2] {
    let mut first = sent(step(from.0, from.1, &format!("{channel} ! v")), channel, values);
    let mut second = received(step(to.0, to.1, &format!("{channel} ? w")), channel, values);
    first.continues = true;
    first.sent[0].rendezvous = true;
    second.received[0].rendezvous = true;
    [first, second]
}

/// Three processes with everything a trace can hold: a buffered message that is
/// received, one that is not, a rendezvous at the end of an atomic sequence,
/// output, and a failed assertion.
pub fn relay() -> Trace {
    let taken = received(step(1, "relay", "q ? v, ack"), "q", "1,ack");
    let taken = changed(changed(taken, "relay(1):v", "0", "1"), "b(2):ready", "", "true");
    let mut guard = step(1, "relay", "v == 1");
    guard.continues = true;
    let [offer, mut accept] = handshake((1, "relay"), (2, "b"), "r", "1");
    accept.printed = "got 1\ndone\n".into();
    let mut steps = vec![
        changed(step(0, "a", "x = 1"), "x", "0", "1"),
        sent(step(0, "a", "q ! x, ack"), "q", "1,ack"),
        taken,
        guard,
        offer,
        accept,
        sent(step(2, "b", "q ! 2, nack"), "q", "2,nack"),
        step(2, "b", "assert(x == 2)"),
    ];
    let mut line = 0;
    for step in &mut steps {
        line += 1;
        step.location = Position { file: "models/relay.pml".into(), line, column: 5 };
    }
    let violation = Violation {
        kind: FaultKind::Assertion,
        message: "assertion does not hold: assert(x == 2)".into(),
        location: Position { file: "models/relay.pml".into(), line, column: 5 },
    };
    let model = "models/relay.pml".into();
    Trace {
        model,
        language: "promela".into(),
        define: Vec::new(),
        violation: Some(violation),
        steps,
    }
}

/// Names that try to break out of the text, numbers at their limits, messages
/// without values, and loose ends.
pub fn weird() -> Trace {
    let nasty = "<&\"'>\u{0}\u{1b}[31m\u{202e}äöü漢字🦀]]>";
    let mut steps = vec![
        step(255, "", ""),
        changed(changed(step(7, nasty, nasty), nasty, nasty, nasty), "", "", ""),
        sent(received(step(7, nasty, "d_step { }"), nasty, nasty), nasty, nasty),
        sent(step(7, "other", "q!1"), "", ""),
    ];
    steps.extend(handshake((1, "p"), (1, "p"), "self", "1"));
    steps[0].sent.push(Message { channel: "q".into(), values: Vec::new(), rendezvous: true });
    for step in &mut steps {
        step.continues = true;
        step.printed = format!("{nasty}\n\n{nasty}");
        step.location.file = nasty.into();
    }
    let mut out = trace(steps);
    out.model = nasty.into();
    out.violation = Some(Violation {
        kind: FaultKind::Deadlock,
        message: nasty.repeat(20),
        location: Position { file: String::new(), line: 0, column: 0 },
    });
    out
}
