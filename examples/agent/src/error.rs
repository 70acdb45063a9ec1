//! What can go wrong besides the selection, whose own error passes through unchanged.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use payroute::{Candidate, ChainId, Selection};

use crate::payment::Payment;
use crate::redact::redact;

/// Why a 402 was not paid, or a payment not answered. Decide by [`code`](Self::code) or by variant.
///
/// It arrives inside [`reqwest_middleware::Error::Middleware`], as [`payroute::SelectError`] does, and
/// [`payroute::HoldError`] where other payments kept being quicker: ask for any with `downcast_ref`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayError {
    /// `body-not-repeatable`: the request has to be sent again with the payment, and its body cannot be.
    #[error("the request's body is a stream, which cannot be sent a second time with the payment; give it as bytes")]
    BodyNotRepeatable,
    /// `challenge-timeout`: the merchant did not finish the 402.
    #[error("the body of the 402 did not end within {} s", timeout.as_secs())]
    ChallengeTimeout {
        /// How long was waited.
        timeout: Duration,
    },
    /// `unsignable`: the x402 client could sign none of the offers that can be paid.
    #[error("the x402 client can sign none of the payable offers: {}", list(refusals))]
    Unsignable {
        /// The selection that it follows.
        selection: Box<Selection>,
        /// What the client said of each, best offer first.
        refusals: Vec<Refusal>,
    },
    /// `wrong-signer`: the account whose balance was read is not the one that signed. Nothing was sent.
    #[error("offer {requirement_index}: the balance of {owner} was read, but another account signed the payment")]
    WrongSigner {
        /// Position of the offer in the merchant's list, from 0.
        requirement_index: usize,
        /// The owner by the selector's configuration.
        owner: Arc<str>,
    },
    /// `unanswered`: a payment was sent and no answer came. It may have been taken: do not pay again
    /// before that is known.
    #[error("a payment was sent and no answer came: {source}")]
    Unanswered {
        /// What was sent.
        payment: Box<Payment>,
        /// What happened instead of an answer.
        source: reqwest_middleware::Error,
    },
}

impl PayError {
    /// The code: stable, kebab-case.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::BodyNotRepeatable => "body-not-repeatable",
            Self::ChallengeTimeout { .. } => "challenge-timeout",
            Self::Unsignable { .. } => "unsignable",
            Self::WrongSigner { .. } => "wrong-signer",
            Self::Unanswered { .. } => "unanswered",
        }
    }
}

/// An offer that could be paid and that the x402 client could not sign.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// Position of the offer in the merchant's list, from 0.
    pub requirement_index: usize,
    /// The network as CAIP-2 id.
    pub network: Option<ChainId>,
    /// What the client said, without what URLs in it carry besides the host.
    pub problem: String,
}

impl Refusal {
    pub(crate) fn new(candidate: &Candidate, problem: &str) -> Self {
        Self {
            requirement_index: candidate.requirement_index,
            network: candidate.network.clone(),
            problem: redact(problem),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requirement_index, problem, .. } = self;
        match &self.network {
            Some(network) => write!(f, "offer {requirement_index} ({network}): {problem}"),
            None => write!(f, "offer {requirement_index}: {problem}"),
        }
    }
}

fn list(refusals: &[Refusal]) -> String {
    let texts: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    texts.join("; ")
}
