// @ts-check
// Which offer an x402 client signed for, by what is in its payment. Knows no client and holds nothing.

/** @typedef {import("./routed.mjs").Offer} Offer */

/**
 * The offer that a payment is for. Version 2 carries the offer, or what a policy or a hook of the client
 * made of it: a copy is as good, as long as it pays the same sum to the same account. Version 1 names scheme
 * and network alone; where several offers have both, what an EVM wallet authorized tells them apart.
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
 * it: it stands for what nobody else counts. None where no offer is paid from that balance.
 * @param {any} payload
 * @param {readonly Offer[]} offers
 */
export function nearestTo(payload, offers) {
  const { accepted } = payload ?? {};
  const dearestFirst = offers.filter((offer) => accepted && isOn(accepted, offer)).sort((one, other) => Number(sumOf(other) - sumOf(one)));
  const price = priceOf(accepted);
  const covering = /^[0-9]{1,78}$/.test(price) ? dearestFirst.filter((offer) => sumOf(offer) >= BigInt(price)) : [];
  return covering.at(-1) ?? dearestFirst[0];
}

/**
 * @param {any} payload
 * @param {readonly Offer[]} offers
 */
function ofVersion1(payload, offers) {
  const named = offers.filter(({ requirement }) => payload?.scheme === requirement.scheme && payload?.network === requirement.network);
  const { to, value } = payload?.payload?.authorization ?? {};
  return named.find(({ requirement }) => plain(to) === plain(requirement.payTo) && String(value) === priceOf(requirement)) ?? named[0];
}

/**
 * Whether an offer is paid from the balance that another one names.
 * @param {any} other
 * @param {Offer} offer
 */
function isOn({ network, asset }, { candidate, requirement }) {
  return (network === requirement.network || network === candidate.network) && plain(asset) === plain(requirement.asset);
}

/**
 * Whether an offer asks for the same payment as another one does.
 * @param {any} other
 * @param {Offer} offer
 */
function isToBePaid(other, { requirement }) {
  return other.scheme === requirement.scheme && plain(other.payTo) === plain(requirement.payTo) && priceOf(other) === priceOf(requirement);
}

/** @param {any} requirement */
function priceOf(requirement) {
  return String(requirement?.amount ?? requirement?.maxAmountRequired);
}

/** @param {Offer} offer */
function sumOf({ candidate }) {
  return BigInt(candidate.amount ?? 0);
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
