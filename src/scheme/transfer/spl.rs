//! Solana's token programs: an instruction that moves tokens between two accounts. Some mints of Token-2022 keep a
//! part of each transfer for the token's issuer.

use crate::chain::Amount;
use crate::ranking::{Candidate, Note};
use crate::scheme::facts::AccountState;

/// What a mint keeps of every transfer, as its extension states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TransferFee {
    pub(crate) basis_points: u16,
    /// In atomic units.
    pub(crate) maximum: u64,
}

/// Notes what the recipient does not get of `due`.
pub(super) fn apply_transfer_fee(candidate: &mut Candidate, due: Amount, state: &AccountState) {
    let fee = state.transfer_fee.zip(due.to_u64()).map_or(0, |(fee, due)| fee.on(due));
    if fee > 0 {
        candidate.transfer_fee = Some(Amount::from_u64(fee));
        candidate.note(Note::TransferFee);
    }
}

impl TransferFee {
    /// The fee on one transfer, rounded up as the program does.
    fn on(self, amount: u64) -> u64 {
        let points = u64::from(self.basis_points);
        // Whole parts and the rest apart: their product would not fit.
        let of_rest = (amount % 10_000).saturating_mul(points).div_ceil(10_000);
        (amount / 10_000).saturating_mul(points).saturating_add(of_rest).min(self.maximum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fee_is_rounded_up_and_bounded() {
        for (basis_points, maximum, amount, fee) in [
            (0, 1_000, 60_000, 0),
            (250, 0, 60_000, 0),
            (250, 1_000, 60_000, 1_000),
            (250, 10_000, 60_000, 1_500),
            (1, 10_000, 1, 1),
            (1, 10_000, 10_000, 1),
            (1, 10_000, 10_001, 2),
            (10_000, u64::MAX, u64::MAX, u64::MAX),
            (9_999, u64::MAX, u64::MAX, 18_444_899_399_302_180_660),
        ] {
            let fee_of = TransferFee { basis_points, maximum };
            assert_eq!(fee_of.on(amount), fee, "{fee_of:?} of {amount}");
            let exact = (u128::from(amount) * u128::from(basis_points)).div_ceil(10_000).min(u128::from(maximum));
            assert_eq!(u128::from(fee), exact, "{fee_of:?} of {amount}");
        }
    }
}
