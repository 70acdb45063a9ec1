//! The payment schemes that can be judged: a closed set, one file each, one line in [`SCHEMES`].
//!
//! A scheme says whether an offer states what a payment takes, and how its token would move. Refuses
//! to know what the buyer allows and holds; a scheme or a way of moving tokens that is not known here
//! is refused, never taken for another.

mod exact;

use crate::config::{Asset, NetworkConfig};
use crate::payment::Terms;
use crate::text::shown;
use crate::verdict::{Reason, Rejection};

/// Every scheme, by its name in offers.
const SCHEMES: &[(&str, Judge)] = &[("exact", exact::problem)];

/// Says why an offer of the scheme cannot be paid as it is stated.
type Judge = fn(&Offer<'_>) -> Option<Rejection>;

/// An offer as a scheme sees it.
pub(crate) struct Offer<'a> {
    pub(crate) terms: &'a Terms,
    pub(crate) network: &'a NetworkConfig,
    /// What is known of the asset; `None` where nothing is.
    pub(crate) asset: Option<&'a Asset>,
}

/// Why no payment by this offer can be made, whatever the buyer holds.
pub(crate) fn problem(offer: &Offer<'_>) -> Option<Rejection> {
    let scheme = &*offer.terms.scheme;
    match SCHEMES.iter().find(|(name, _)| *name == scheme) {
        Some((_, judge)) => judge(offer),
        None => refuse(Reason::SchemeUnsupported, format!("`{}`", shown(scheme))),
    }
}

fn refuse(reason: Reason, detail: impl Into<String>) -> Option<Rejection> {
    Some(Rejection { reason, detail: detail.into() })
}
