//! CAIP-19, the name of one token on one network. EVM tokens are in lower case, so that one token has one id.

use std::sync::Arc;

use crate::chain::{ChainFamily, ChainId};

pub(super) fn asset_id(chain: &ChainId, address: &str) -> Arc<str> {
    let kind = if chain.family() == ChainFamily::Svm { "token" } else { "erc20" };
    caip19(chain, &format!("{kind}:{address}")).into()
}

/// The canonical text of a CAIP-19 id, whose network may go by any of its names. A symbol is returned as it is.
pub(super) fn canonical(name: &str) -> String {
    match name.split_once('/').map(|(network, asset)| (ChainId::known(network), asset)) {
        Some((Some(chain), asset)) => caip19(&chain, asset),
        _ => name.to_owned(),
    }
}

fn caip19(chain: &ChainId, asset: &str) -> String {
    let mut id = format!("{chain}/{asset}");
    if chain.family() == ChainFamily::Evm {
        id.make_ascii_lowercase();
    }
    id
}
