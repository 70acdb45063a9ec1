// @ts-check
// Which offer an x402 client signed for, by what is in its payment. Knows no client and holds nothing.

/** @typedef {import("./routed.mjs").Offer} Offer */

/**
 * The offer that a payment is for. Version 2 carries the offer, or what a policy or a hook of the client
 * made of it: a copy is as good, as long as it pays the same sum to the same account and not for longer.
 * Version 1 names scheme and network alone; what an EVM wallet authorized says which of several it is, or
 * that it is none.
 * @param {any} payload
 * @param {readonly Offer[]} offers of those that fit alike the first is taken
 */
export function offerOf(payload, offers) {
  const { accepted } = payload ?? {};
  if (accepted === undefined) return ofVersion1(payload, offers);
  const text = textOf(accepted);
  return (
    offers.find(({ requirement }) => requirement === accepted) ??
    offers.find(({ requirement }) => text !== undefined && text === textOf(requirement)) ??
    offers.find((offer) => accepted && isOn(accepted, offer) && isToBePaid(accepted, offer))
  );
}

/**
 * Of a payment that is for none of the offers, the one that takes as much of the same balance, or nearest to
 * it: it stands for what nobody else counts. One of the same scheme where there is any, for what shows that a
 * payment was made differs by scheme; a deposit stands for nothing else. None where no offer is left.
 * @param {any} payload
 * @param {readonly Offer[]} offers best first, as of equal sums they stand
 */
export function nearestTo(payload, offers) {
  const made = statedBy(payload);
  const near = offers.filter((offer) => made && isOn(made, offer));
  const alike = near.filter(({ requirement }) => requirement.scheme === made.scheme);
  const standing = alike.length > 0 ? alike : near.filter(({ candidate }) => candidate.deposit === undefined);
  const price = priceOf(made);
  const covering = /^[0-9]{1,78}$/.test(price) ? standing.filter((offer) => sumOf(offer) >= BigInt(price)) : [];
  return covering.sort((one, other) => Number(sumOf(one) - sumOf(other)))[0] ?? standing.sort((one, other) => Number(sumOf(other) - sumOf(one)))[0];
}

/**
 * @param {any} payload
 * @param {readonly Offer[]} offers
 */
function ofVersion1(payload, offers) {
  const stated = statedBy(payload);
  const named = offers.filter(({ requirement }) => stated.scheme === requirement.scheme && stated.network === requirement.network);
  // A transaction of Solana's is not read: what has the names is it.
  return payload?.payload?.authorization ? named.find((offer) => isToBePaid(stated, offer)) : named[0];
}

/**
 * What a payment says of itself, as an offer. Of version 1 that names no asset.
 * @param {any} payload
 */
function statedBy(payload) {
  const { accepted, scheme, network, payload: signed } = payload ?? {};
  if (accepted !== undefined) return accepted;
  const { to, value } = signed?.authorization ?? {};
  return { scheme, network, payTo: to, amount: value };
}

/**
 * Whether an offer is paid from the balance that another one names, or may be where it names no asset.
 * @param {any} other
 * @param {Offer} offer
 */
function isOn({ network, asset }, { candidate, requirement }) {
  const isThere = network === requirement.network || network === candidate.network;
  return isThere && (asset === undefined || plain(asset) === plain(requirement.asset));
}

/**
 * Whether an offer asks for the same payment as another one does. What may be cashed for longer than the
 * merchant asks is another: it would be held for too short a time.
 * @param {any} other
 * @param {Offer} offer
 */
function isToBePaid(other, { requirement }) {
  const isSame = other.scheme === requirement.scheme && plain(other.payTo) === plain(requirement.payTo) && priceOf(other) === priceOf(requirement);
  return isSame && !(other.maxTimeoutSeconds > requirement.maxTimeoutSeconds);
}

/** @param {any} requirement */
function priceOf(requirement) {
  return String(requirement?.amount ?? requirement?.maxAmountRequired);
}

/**
 * What a hold of an offer takes.
 * @param {Offer} offer
 */
function sumOf({ candidate }) {
  return BigInt(candidate.deposit ?? candidate.amount ?? 0);
}

/**
 * EVM addresses are the same in any case of letters, and a client may write them in its own.
 * @param {unknown} value
 */
function plain(value) {
  return typeof value === "string" && value.startsWith("0x") ? value.toLowerCase() : value;
}

/**
 * What JSON cannot hold is not what the merchant wrote.
 * @param {unknown} value
 */
function textOf(value) {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
