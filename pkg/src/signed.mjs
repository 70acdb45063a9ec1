// @ts-check
// Which offer an x402 client signed for, judging by its payment.

/** @typedef {import("./routed.mjs").Offer} Offer */

/**
 * The offer that a payment is for. A payment of version 2 carries the offer, or what a policy or a hook of the client
 * made of it: a copy counts if it pays the same sum to the same account and does not live longer. A payment of version 1
 * names only scheme and network; for EVM, the signed authorization tells which of several offers it is for, or none.
 * @param {any} payload
 * @param {readonly Offer[]} offers the first of several that fit is taken
 */
export function findOffer(payload, offers) {
  const { accepted } = payload ?? {};
  if (accepted === undefined) return findVersion1Offer(payload, offers);
  const text = jsonText(accepted);
  return (
    offers.find(({ requirement }) => requirement === accepted) ??
    offers.find(({ requirement }) => text !== undefined && text === jsonText(requirement)) ??
    offers.find((offer) => accepted && isSameBalance(accepted, offer) && isSamePayment(accepted, offer))
  );
}

/**
 * For a payment that is for none of the offers: the offer to hold in its place. It takes at least as much of the same
 * balance, or as much as there is. One of the same scheme comes first, because schemes differ in how a payment shows on
 * the chain; a deposit takes the place of deposits only. None if no offer fits.
 * @param {any} payload
 * @param {readonly Offer[]} offers best first; their order decides between equal sums
 */
export function nearestOffer(payload, offers) {
  const made = statedOffer(payload);
  const near = offers.filter((offer) => made && isSameBalance(made, offer));
  const alike = near.filter(({ requirement }) => requirement.scheme === made.scheme);
  const standing = alike.length > 0 ? alike : near.filter(({ candidate }) => candidate.deposit === undefined);
  const price = statedPrice(made);
  const covering = /^[0-9]{1,78}$/.test(price) ? standing.filter((offer) => heldSum(offer) >= BigInt(price)) : [];
  return covering.sort((one, other) => Number(heldSum(one) - heldSum(other)))[0] ?? standing.sort((one, other) => Number(heldSum(other) - heldSum(one)))[0];
}

/**
 * @param {any} payload
 * @param {readonly Offer[]} offers
 */
function findVersion1Offer(payload, offers) {
  const stated = statedOffer(payload);
  const named = offers.filter(({ requirement }) => stated.scheme === requirement.scheme && stated.network === requirement.network);
  // Solana transactions are not read; the first offer of that scheme and network is taken.
  return payload?.payload?.authorization ? named.find((offer) => isSamePayment(stated, offer)) : named[0];
}

/**
 * The offer that a payment itself states. In version 1 that has no asset.
 * @param {any} payload
 */
function statedOffer(payload) {
  const { accepted, scheme, network, payload: signed } = payload ?? {};
  if (accepted !== undefined) return accepted;
  const { to, value } = signed?.authorization ?? {};
  return { scheme, network, payTo: to, amount: value };
}

/**
 * Whether an offer is paid from the balance that another one names; if that names no asset, whether it may be.
 * @param {any} other
 * @param {Offer} offer
 */
function isSameBalance({ network, asset }, { candidate, requirement }) {
  const isThere = network === requirement.network || network === candidate.network;
  return isThere && (asset === undefined || plain(asset) === plain(requirement.asset));
}

/**
 * Whether an offer asks for the same payment as another one. A payment that lives longer than the merchant asks is a
 * different one: its hold would end too early.
 * @param {any} other
 * @param {Offer} offer
 */
function isSamePayment(other, { requirement }) {
  const isSame = other.scheme === requirement.scheme && plain(other.payTo) === plain(requirement.payTo) && statedPrice(other) === statedPrice(requirement);
  return isSame && !(other.maxTimeoutSeconds > requirement.maxTimeoutSeconds);
}

/** @param {any} requirement */
function statedPrice(requirement) {
  return String(requirement?.amount ?? requirement?.maxAmountRequired);
}

/**
 * The amount that a hold of an offer takes.
 * @param {Offer} offer
 */
function heldSum({ candidate }) {
  return BigInt(candidate.deposit ?? candidate.amount ?? 0);
}

/**
 * EVM addresses are compared without case, because a client may change it.
 * @param {unknown} value
 */
function plain(value) {
  return typeof value === "string" && value.startsWith("0x") ? value.toLowerCase() : value;
}

/**
 * JSON text, or `undefined` for what JSON cannot hold: the merchant did not write that.
 * @param {unknown} value
 */
function jsonText(value) {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
