//! Figures of the papers, to compare with.

/// What Melatti, Palmer and Gopalakrishnan measured with precision on demand:
/// means of three Murphi protocols of 10^6 to 10^7 states (*Precision On Demand:
/// An Improvement in Probabilistic Hashing*, UUCS-07-002, Tables 1 to 6).
pub struct PodRow {
    pub filter: Filter,
    /// Bits of a signature, or of the Bloom filter for each entry.
    pub bits: u32,
    /// Entries for each state.
    pub entries: f64,
    /// The share of states seen with precision 0 to 4.
    pub seen: [f64; 5],
    /// Time with precision 1, relative to that with 0.
    pub time: f64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Filter {
    Compact,
    Bloom,
}

use Filter::{Bloom, Compact};

const fn row(filter: Filter, bits: u32, entries: f64, seen: [f64; 5], time: f64) -> PodRow {
    PodRow { filter, bits, entries, seen, time }
}

pub const POD: [PodRow; 48] = [
    row(Compact, 2, 1.0, [0.703292, 0.783104, 0.795138, 0.797432, 0.797992], 2.01),
    row(Compact, 2, 1.5, [0.806334, 0.864817, 0.869918, 0.870596, 0.870705], 1.93),
    row(Compact, 2, 2.0, [0.858276, 0.903199, 0.905869, 0.906184, 0.906217], 1.88),
    row(Compact, 2, 3.0, [0.910214, 0.939126, 0.94032, 0.940369, 0.940382], 1.83),
    row(Compact, 3, 1.0, [0.804049, 0.86048, 0.866496, 0.867462, 0.867565], 1.91),
    row(Compact, 3, 1.5, [0.887094, 0.922467, 0.924359, 0.924551, 0.924574], 1.83),
    row(Compact, 3, 2.0, [0.921071, 0.946671, 0.947682, 0.947736, 0.947739], 1.84),
    row(Compact, 3, 3.0, [0.952533, 0.968001, 0.968358, 0.968382, 0.968382], 1.81),
    row(Compact, 4, 1.0, [0.878763, 0.915374, 0.918074, 0.918363, 0.918394], 2.00),
    row(Compact, 4, 1.5, [0.937941, 0.957874, 0.958505, 0.958541, 0.958543], 2.14),
    row(Compact, 4, 2.0, [0.958399, 0.971977, 0.972252, 0.972256, 0.972257], 1.94),
    row(Compact, 4, 3.0, [0.975472, 0.983644, 0.983737, 0.983739, 0.98374], 1.99),
    row(Compact, 5, 1.0, [0.930181, 0.952361, 0.953395, 0.953464, 0.953467], 1.81),
    row(Compact, 5, 1.5, [0.967121, 0.978088, 0.978253, 0.978261, 0.978261], 1.78),
    row(Compact, 5, 2.0, [0.978649, 0.985602, 0.985691, 0.985692, 0.985692], 1.78),
    row(Compact, 5, 3.0, [0.987439, 0.991592, 0.991616, 0.991611, 0.991611], 1.67),
    row(Compact, 10, 1.0, [0.997188, 0.998153, 0.998156, 0.998156, 0.998156], 1.74),
    row(Compact, 10, 1.5, [0.998934, 0.99929, 0.99929, 0.99929, 0.99929], 1.76),
    row(Compact, 10, 2.0, [0.999291, 0.999532, 0.999532, 0.999532, 0.999532], 1.74),
    row(Compact, 10, 3.0, [0.999608, 0.99972, 0.99972, 0.99972, 0.99972], 1.95),
    row(Compact, 20, 1.0, [0.999998, 0.999998, 0.999998, 0.999998, 0.999998], 1.87),
    row(Compact, 20, 1.5, [1.0, 1.0, 1.0, 1.0, 1.0], 1.98),
    row(Compact, 20, 2.0, [0.999999, 1.0, 1.0, 1.0, 1.0], 2.00),
    row(Compact, 20, 3.0, [1.0, 1.0, 1.0, 1.0, 1.0], 1.90),
    row(Bloom, 2, 1.0, [0.438143, 0.53334, 0.562415, 0.572801, 0.577416], 2.21),
    row(Bloom, 2, 1.5, [0.572188, 0.667714, 0.688856, 0.695005, 0.697137], 2.19),
    row(Bloom, 2, 2.0, [0.668632, 0.753685, 0.768075, 0.771276, 0.772206], 2.01),
    row(Bloom, 2, 3.0, [0.790984, 0.851715, 0.858164, 0.859052, 0.859216], 1.90),
    row(Bloom, 3, 1.0, [0.754046, 0.818918, 0.827769, 0.829371, 0.829694], 1.92),
    row(Bloom, 3, 1.5, [0.879117, 0.915896, 0.91843, 0.918667, 0.918703], 1.77),
    row(Bloom, 3, 2.0, [0.931837, 0.953438, 0.954383, 0.954424, 0.954428], 1.76),
    row(Bloom, 3, 3.0, [0.972073, 0.981652, 0.981816, 0.981819, 0.981819], 1.77),
    row(Bloom, 4, 1.0, [0.858871, 0.900472, 0.904401, 0.904917, 0.904972], 1.87),
    row(Bloom, 4, 1.5, [0.943548, 0.962353, 0.963308, 0.963395, 0.9634], 1.87),
    row(Bloom, 4, 2.0, [0.972027, 0.980363, 0.98054, 0.980544, 0.980544], 1.78),
    row(Bloom, 4, 3.0, [0.992619, 0.995274, 0.995293, 0.995293, 0.995293], 1.78),
    row(Bloom, 5, 1.0, [0.925045, 0.946483, 0.947405, 0.947456, 0.947459], 1.80),
    row(Bloom, 5, 1.5, [0.981854, 0.988303, 0.988382, 0.988384, 0.988384], 1.90),
    row(Bloom, 5, 2.0, [0.991065, 0.993656, 0.993665, 0.993665, 0.993665], 1.76),
    row(Bloom, 5, 3.0, [0.99808, 0.998645, 0.998646, 0.998646, 0.998646], 1.77),
    row(Bloom, 10, 1.0, [0.993524, 0.995631, 0.995647, 0.995647, 0.995647], 1.74),
    row(Bloom, 10, 1.5, [0.999611, 0.999769, 0.999769, 0.999769, 0.999769], 1.75),
    row(Bloom, 10, 2.0, [0.999939, 0.999958, 0.999958, 0.999958, 0.999958], 1.72),
    row(Bloom, 10, 3.0, [0.999996, 0.999997, 0.999997, 0.999997, 0.999997], 1.76),
    row(Bloom, 20, 1.0, [0.999974, 0.999982, 0.999982, 0.999982, 0.999982], 1.79),
    row(Bloom, 20, 1.5, [1.0, 1.0, 1.0, 1.0, 1.0], 1.74),
    row(Bloom, 20, 2.0, [1.0, 1.0, 1.0, 1.0, 1.0], 1.72),
    row(Bloom, 20, 3.0, [1.0, 1.0, 1.0, 1.0, 1.0], 1.74),
];

pub fn pod(filter: Filter, bits: u32, entries: f64) -> Option<&'static PodRow> {
    POD.iter().find(|r| r.filter == filter && r.bits == bits && r.entries == entries)
}

/// Ikeda, Jibiki and Kuno, *Coverage Estimation in Model Checking with Bitstate
/// Hashing*, Table 3: the median error in percentage points with one, two and
/// three hash functions, and how often there was no estimate, of 120 each.
pub const ESTIMATES: [(&str, [f64; 3], [u32; 3]); 4] = [
    ("fit", [4.33, 5.48, 8.54], [3, 12, 14]),
    ("simple", [5.63, 8.82, 14.94], [0, 0, 0]),
    ("stern", [12.69, 25.08, 31.14], [8, 0, 0]),
    ("dillinger", [14.12, 20.06, 24.11], [0, 0, 0]),
];

/// Holzmann, *An Analysis of Bitstate Hashing*, Table II: states of the data
/// transfer protocol that were found, by the logarithm of the bits of memory;
/// bitstate with two hash functions, and hash compaction with 64 bits.
pub const DTP: [(u32, u64, u64); 6] = [
    (28, 427_446, 427_567),
    (25, 427_459, 427_567),
    (24, 427_097, 262_144),
    (23, 425_576, 131_072),
    (22, 420_961, 65_536),
    (21, 366_438, 32_768),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_sees_more_in_every_row() {
        for r in &POD {
            assert!(r.seen[0] <= r.seen[1] && r.seen[1] <= r.seen[4], "{} {}", r.bits, r.entries);
            assert!((1.6..2.3).contains(&r.time));
        }
        assert_eq!(pod(Bloom, 5, 2.0).map(|r| r.seen[0]), Some(0.991065));
        assert!(pod(Compact, 6, 2.0).is_none());
    }
}
