//! Who holds what of which token on which chain: the truth that all nodes of the quickstart tell.

use std::collections::BTreeMap;

/// Atomic units by owner.
type Holders = BTreeMap<String, u64>;

#[derive(Default)]
pub(super) struct Ledger(BTreeMap<(String, String), Holders>);

impl Ledger {
    pub(super) fn set(&mut self, chain: &str, token: &str, owner: &str, units: u64) {
        let token = (chain.to_owned(), token.to_owned());
        self.0.entry(token).or_default().insert(owner.to_owned(), units);
    }

    /// `None` where there is no such token on the chain. Addresses are compared as they are written.
    pub(super) fn holders(&self, chain: &str, token: &str) -> Option<&Holders> {
        self.0.get(&(chain.to_owned(), token.to_owned()))
    }

    /// All (token, owner, units) of a chain.
    pub(super) fn on(&self, chain: &str) -> impl Iterator<Item = (&str, &str, u64)> {
        let tokens = self.0.iter().filter(move |((on, _), _)| on == chain);
        tokens.flat_map(|((_, token), holders)| {
            holders.iter().map(move |(owner, units)| (token.as_str(), owner.as_str(), *units))
        })
    }
}
