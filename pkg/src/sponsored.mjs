// @ts-check
// Whether a payment carries the permit or approval that a server takes in place of a Permit2 allowance.

import { UnsponsoredError } from "./errors.mjs";

/** The extension of a payment that carries the further signature, and the field of its `info`. */
const PERMIT = { extension: "eip2612GasSponsoring", field: "signature" };
const APPROVAL = { extension: "erc20ApprovalGasSponsoring", field: "signedTransaction" };

/**
 * By a candidate's note: what the server asks for, and what it takes. It takes an approval for tokens with permits too.
 * @type {{ note: import("../index.d.ts").Note, asks: typeof PERMIT, takes: (typeof PERMIT)[] }[]}
 */
const SPONSORS = [
  { note: "eip2612-sponsored", asks: PERMIT, takes: [PERMIT, APPROVAL] },
  { note: "erc20-approval-sponsored", asks: APPROVAL, takes: [APPROVAL] },
];

/**
 * Whether an offer can be paid only together with a permit or an approval.
 * @param {import("./routed.mjs").Offer} offer
 */
export function isSponsored({ candidate }) {
  return sponsorOf(candidate) !== undefined;
}

/**
 * The error of a payment without the permit or approval that its offer needs; `undefined` if none is missing.
 * @param {any} payload
 * @param {import("../index.d.ts").Candidate | undefined} candidate of the offer that was signed for
 */
export function missingSponsorField(payload, candidate) {
  if (candidate === undefined) return undefined;
  const sponsor = sponsorOf(candidate);
  if (sponsor === undefined || !usesAllowance(payload)) return undefined;
  // A merchant may declare the field with a placeholder, and the client then sends that.
  /** @param {typeof PERMIT} place */
  const isSigned = ({ extension, field }) => /^0x[0-9a-f]+$/i.test(payload.extensions?.[extension]?.info?.[field]);
  const { extension, field } = sponsor.asks;
  return sponsor.takes.some(isSigned) ? undefined : new UnsponsoredError(candidate, `extensions.${extension}.info.${field}`);
}

/** @param {import("../index.d.ts").Candidate} candidate */
function sponsorOf({ notes }) {
  return SPONSORS.find(({ note }) => notes.includes(note));
}

/**
 * A voucher for an open channel uses no allowance, nor does an EIP-3009 authorization.
 * @param {any} payload
 */
function usesAllowance({ payload }) {
  return (payload?.permit2Authorization ?? payload?.deposit?.authorization?.permit2Authorization) !== undefined;
}
