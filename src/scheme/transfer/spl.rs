//! Solana's token programs: an instruction that moves tokens between two accounts. Of some mints of
//! Token-2022 a part stays behind in the recipient's account, for the token's issuer.

use crate::chain::Amount;
use crate::ranking::{Candidate, Note};
use crate::scheme::facts::{AccountState, TransferFee};

/// Notes what the recipient does not get of `due`.
pub(super) fn judge(candidate: &mut Candidate, due: Amount, holding: &AccountState) {
    let fee = holding.transfer_fee.zip(due.to_u64()).map_or(0, |(fee, due)| fee.on(due));
    if fee > 0 {
        candidate.transfer_fee = Some(Amount::from_u64(fee));
        candidate.note(Note::TransferFee);
    }
}

impl TransferFee {
    /// Of one transfer, rounded up as the program does.
    fn on(self, amount: u64) -> u64 {
        let points = u64::from(self.basis_points);
        // By whole parts and the rest: the product alone would not fit.
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
            let of = TransferFee { basis_points, maximum };
            assert_eq!(of.on(amount), fee, "{of:?} of {amount}");
            let exact = (u128::from(amount) * u128::from(basis_points)).div_ceil(10_000).min(u128::from(maximum));
            assert_eq!(u128::from(fee), exact, "{of:?} of {amount}");
        }
    }
}
