//! Which receive took which send.
//!
//! A trace does not say it, but channels are queues: a receive takes the oldest
//! message in flight that has its values. For `?` that is the oldest message of
//! all; for `??` it is the one that the receive finds first; in a channel with
//! sorted sends it is one that cannot be told from the true one.

use ir::trace::{Message, Trace, TraceStep};
use std::collections::HashMap;

/// One message on its way. Steps count from 0.
#[derive(Debug, PartialEq)]
pub struct Delivery<'t> {
    pub message: &'t Message,
    /// The step that sends it; `None` if it was sent before the trace begins.
    pub sent: Option<usize>,
    /// The step that receives it; `None` if it is never received.
    pub received: Option<usize>,
    /// The receive read the message and left it in the channel.
    pub kept: bool,
}

impl Delivery<'_> {
    /// Both ends of a rendezvous: two steps that happen at once.
    pub fn is_handshake(&self) -> bool {
        self.message.rendezvous && self.sent.is_some() && self.received.is_some()
    }
}

/// All deliveries, in the order of their sends (or of receives without one).
pub fn deliveries(trace: &Trace) -> Vec<Delivery<'_>> {
    let mut out: Vec<Delivery> = Vec::new();
    // For each channel, the deliveries that wait for their receive.
    let mut in_flight: HashMap<&str, Vec<usize>> = HashMap::new();
    for (i, step) in trace.steps.iter().enumerate() {
        // Sends first: a d_step may receive what it sends.
        for message in &step.sent {
            in_flight.entry(&message.channel).or_default().push(out.len());
            out.push(Delivery { message, sent: Some(i), received: None, kept: false });
        }
        for message in &step.received {
            let queue = in_flight.entry(&message.channel).or_default();
            let at = queue.iter().position(|d| takes(&out[*d], message, i));
            let sent = at.and_then(|at| out[queue[at]].sent);
            match at {
                Some(at) if !keeps(step) => out[queue.remove(at)].received = Some(i),
                _ => out.push(Delivery { message, sent, received: Some(i), kept: keeps(step) }),
            }
        }
    }
    out
}

/// A receive of `message` in step `i` can take this delivery.
fn takes(delivery: &Delivery, message: &Message, i: usize) -> bool {
    let at_once = message.rendezvous || delivery.message.rendezvous;
    let in_time = !at_once || delivery.sent.map(|sent| sent + 1) == Some(i);
    in_time && delivery.message.values == message.values
}

/// `q?<x>` and `q??<x>` leave the message in the channel. Only the text tells.
fn keeps(step: &TraceStep) -> bool {
    let mut chars = step.statement.chars().filter(|c| !c.is_whitespace());
    let mut last = ' ';
    chars.any(|c| std::mem::replace(&mut last, c) == '?' && c == '<')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::sample::{received, sent, step, trace};

    fn ends(steps: Vec<TraceStep>) -> Vec<(Option<usize>, Option<usize>)> {
        deliveries(&trace(steps)).iter().map(|d| (d.sent, d.received)).collect()
    }

    #[test]
    fn a_queue_is_first_in_first_out() {
        let steps = vec![
            sent(step(0, "a", "q!1"), "q", "1"),
            sent(step(0, "a", "r!1"), "r", "1"),
            sent(step(0, "a", "q!1"), "q", "1"),
            received(step(1, "b", "q?1"), "q", "1"),
            received(step(1, "b", "q?1"), "q", "1"),
        ];
        let expected = [(Some(0), Some(3)), (Some(1), None), (Some(2), Some(4))];
        assert_eq!(ends(steps), expected);
    }

    #[test]
    fn a_random_receive_takes_the_oldest_of_its_values() {
        let steps = vec![
            sent(step(0, "a", "q!1"), "q", "1"),
            sent(step(0, "a", "q!2"), "q", "2"),
            received(step(1, "b", "q??2"), "q", "2"),
            received(step(1, "b", "q?1"), "q", "1"),
        ];
        assert_eq!(ends(steps), [(Some(0), Some(3)), (Some(1), Some(2))]);
    }

    #[test]
    fn a_receive_that_keeps_the_message_leaves_it_for_the_next() {
        let steps = vec![
            sent(step(0, "a", "q!1"), "q", "1"),
            received(step(1, "b", "q ? < x >"), "q", "1"),
            received(step(1, "b", "q?x"), "q", "1"),
        ];
        assert_eq!(ends(steps), [(Some(0), Some(2)), (Some(0), Some(1))]);
    }

    #[test]
    fn a_receive_without_a_send_stands_alone() {
        assert_eq!(ends(vec![received(step(1, "b", "q?x"), "q", "1")]), [(None, Some(0))]);
    }

    #[test]
    fn a_rendezvous_takes_the_send_of_the_step_before() {
        let mut late = sent(step(0, "a", "q!1"), "q", "1");
        late.sent[0].rendezvous = true;
        let mut next = received(step(1, "b", "q?1"), "q", "1");
        next.received[0].rendezvous = true;
        let steps = vec![late.clone(), late, next];
        assert_eq!(ends(steps), [(Some(0), None), (Some(1), Some(2))]);
    }
}
