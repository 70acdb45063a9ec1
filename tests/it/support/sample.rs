//! Candidates that differ by what the cascade looks at.

use payroute::{Amount, Candidate, ChainId, Circuit, RejectionReason, Score};

/// A few values for every key of the cascade.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub viable: bool,
    pub circuit: Circuit,
    pub network: &'static str,
    /// Atomic units, and the asset's decimals.
    pub fee: (u64, u8),
    pub score: u16,
    pub latency_us: Option<u64>,
}

impl Sample {
    pub fn candidate(self, index: usize) -> Candidate {
        let mut candidate = Candidate::new(index);
        if !self.viable {
            candidate.reject(RejectionReason::InsufficientBalance, "");
        }
        candidate.circuit = self.circuit;
        candidate.network = Some(ChainId::resolve(self.network).unwrap());
        candidate.fee = Amount::from(self.fee.0);
        candidate.decimals = Some(self.fee.1);
        candidate.health_score = Score::from_bps(self.score);
        candidate.latency_us = self.latency_us;
        candidate
    }
}
