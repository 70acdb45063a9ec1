//! The order of candidates: a pure function of the candidates and the buyer's preferences.
//!
//! Refuses to know time, networks and how anything was measured. Every comparison is between
//! integers.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::chain::{Amount, ChainId, ScaledAmount};
use crate::health::{Circuit, Score};
use crate::ranking::Candidate;

/// Sorts `candidates` best first and fills in `rank` and `decided_by`.
///
/// `prefer` lists networks, most wanted first; a network that is not listed comes after all that
/// are. The result depends on nothing but the arguments: any input order gives the same output, as
/// long as every candidate has its own requirement index.
///
/// ```
/// use payroute::{Candidate, ChainId, DecidingKey, rank};
///
/// let mut candidates = vec![Candidate::new(0), Candidate::new(1)];
/// candidates[0].network = Some(ChainId::resolve("base")?);
/// candidates[1].network = Some(ChainId::resolve("solana")?);
/// rank(&mut candidates, &[ChainId::resolve("solana")?]);
/// assert_eq!(candidates[0].requirement_index, 1);
/// assert_eq!(candidates[1].decided_by, Some(DecidingKey::Preference));
/// # Ok::<(), payroute::NetworkError>(())
/// ```
#[allow(clippy::indexing_slicing, reason = "`order` gives positions of its inputs, one for each candidate")]
pub fn rank(candidates: &mut [Candidate], prefer: &[ChainId]) {
    let inputs: Vec<RankInput<'_>> = candidates.iter().map(RankInput::from_candidate).collect();
    for (rank, (position, decided_by)) in (1..).zip(order(&inputs, prefer)) {
        candidates[position].rank = rank;
        candidates[position].decided_by = decided_by;
    }
    place_by_rank(candidates);
}

/// The order of `inputs`, best first: positions, each with the key that set it apart from the first.
#[doc(hidden)]
#[must_use]
pub fn order(inputs: &[RankInput<'_>], prefer: &[ChainId]) -> Vec<(usize, Option<DecidingKey>)> {
    let keys: Vec<SortKey<'_>> = inputs.iter().map(|input| SortKey::new(input, prefer)).collect();
    // Sorting moves references: a key is tens of bytes. No two are equal.
    let mut order: Vec<(&SortKey<'_>, usize)> = keys.iter().zip(0..).collect();
    order.sort();
    let decided_by = |key: &SortKey<'_>| order.first().and_then(|(winner, _)| key.first_difference(winner));
    order.iter().map(|(key, position)| (*position, decided_by(key))).collect()
}

/// Whether `candidate` would come before `first` if its balance were high enough. An endpoint that reports no balance
/// also reports no allowance; both are assumed mended.
pub(crate) fn would_win_funded(candidate: &Candidate, first: &Candidate, prefer: &[ChainId]) -> bool {
    if !candidate.lacks_only_funds() {
        return false;
    }
    let funded = RankInput { unviable: false, ..RankInput::from_candidate(candidate) };
    SortKey::new(&funded, prefer) < SortKey::new(&RankInput::from_candidate(first), prefer)
}

/// Moves every candidate to its rank by swaps alone: candidates are large and a swap moves two.
fn place_by_rank(candidates: &mut [Candidate]) {
    for position in 0..candidates.len() {
        // Ranks are the positions from 1, each once: every place is one of the list's.
        while let Some(place) = candidates.get(position).and_then(|candidate| candidate.rank.checked_sub(1))
            && place != position
        {
            candidates.swap(position, place);
        }
    }
}

/// What a candidate's place depends on.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct RankInput<'a> {
    pub unviable: bool,
    pub open: bool,
    network: Option<Cow<'a, ChainId>>,
    fee: ScaledAmount,
    pub score: Score,
    pub latency_us: Option<u64>,
    index: usize,
}

impl<'a> RankInput<'a> {
    #[must_use]
    pub fn from_candidate(candidate: &'a Candidate) -> Self {
        Self {
            unviable: !candidate.viable || !candidate.rejections.is_empty(),
            open: candidate.circuit == Circuit::Open,
            network: candidate.network.as_ref().map(Cow::Borrowed),
            fee: candidate.fee.to_value(candidate.decimals.unwrap_or(0)),
            score: candidate.health_score,
            latency_us: candidate.latency_us,
            index: candidate.requirement_index,
        }
    }

    /// The rank inputs of a hypothetical candidate.
    #[must_use]
    pub fn new(index: usize, network: Option<ChainId>, fee: Amount, decimals: u8) -> Self {
        let (network, fee) = (network.map(Cow::Owned), fee.to_value(decimals));
        Self { unviable: false, open: false, network, fee, score: Score::NEW, latency_us: None, index }
    }

    /// An owned copy.
    #[must_use]
    pub fn into_owned(self) -> RankInput<'static> {
        RankInput { network: self.network.map(|network| Cow::Owned(network.into_owned())), ..self }
    }
}

/// The cascade itself: the derived order of these fields, smaller first, is the specification.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct SortKey<'a> {
    unviable: bool,
    open: bool,
    preference: usize,
    // None is no fee, which is most of them: it comes first, and is not compared digit by digit.
    fee: Option<&'a ScaledAmount>,
    score: Reverse<Score>,
    latency: Latency,
    index: usize,
}

/// A measured latency comes before an unmeasured one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Latency {
    Micros(u64),
    Unmeasured,
}

impl<'a> SortKey<'a> {
    fn new(input: &'a RankInput<'_>, prefer: &[ChainId]) -> Self {
        let listed = |network: &ChainId| prefer.iter().position(|preferred| preferred == network);
        Self {
            unviable: input.unviable,
            open: input.open,
            preference: input.network.as_deref().and_then(listed).unwrap_or(prefer.len()),
            fee: Some(&input.fee).filter(|fee| **fee != ScaledAmount::ZERO),
            score: Reverse(input.score),
            latency: input.latency_us.map_or(Latency::Unmeasured, Latency::Micros),
            index: input.index,
        }
    }

    fn first_difference(&self, winner: &Self) -> Option<DecidingKey> {
        Some(match () {
            () if self.unviable != winner.unviable => DecidingKey::Viability,
            () if self.open != winner.open => DecidingKey::Circuit,
            () if self.preference != winner.preference => DecidingKey::Preference,
            () if self.fee != winner.fee => DecidingKey::Fee,
            () if self.score != winner.score => DecidingKey::Score,
            () if self.latency != winner.latency => DecidingKey::Latency,
            () if self.index != winner.index => DecidingKey::Index,
            () => return None,
        })
    }
}

/// A key of the cascade. Listed in the order in which they decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecidingKey {
    /// Routes that can pay come first.
    Viability,
    /// An endpoint that was open when it was asked comes last.
    Circuit,
    /// Position in `routing.preferNetworks`.
    Preference,
    /// What paying costs the buyer besides the price, compared by value across assets.
    Fee,
    /// The endpoint's health score, in ten-thousandths.
    Score,
    /// The endpoint's latency, in microseconds.
    Latency,
    /// The merchant's own order.
    Index,
}

impl DecidingKey {
    /// All of them, in that order.
    #[doc(hidden)]
    pub const ALL: [Self; 7] =
        [Self::Viability, Self::Circuit, Self::Preference, Self::Fee, Self::Score, Self::Latency, Self::Index];

    /// The name as it appears in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Viability => "viability",
            Self::Circuit => "circuit",
            Self::Preference => "preference",
            Self::Fee => "fee",
            Self::Score => "score",
            Self::Latency => "latency",
            Self::Index => "index",
        }
    }
}

impl fmt::Display for DecidingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
