// @ts-check
// Whether a payment carries what stands in for Permit2's allowance. Knows no client and holds nothing.

import { UnsponsoredError } from "./errors.mjs";

/** Which extension of a payment carries what the client signs besides, and where in its `info`. */
const PERMIT = { extension: "eip2612GasSponsoring", field: "signature" };
const APPROVAL = { extension: "erc20ApprovalGasSponsoring", field: "signedTransaction" };

/**
 * By a candidate's note: what is asked for, and what will do. An approval does for a token with permits too.
 * @type {{ note: import("../index.d.ts").Note, asks: typeof PERMIT, takes: (typeof PERMIT)[] }[]}
 */
const SPONSORS = [
  { note: "eip2612-sponsored", asks: PERMIT, takes: [PERMIT, APPROVAL] },
  { note: "erc20-approval-sponsored", asks: APPROVAL, takes: [APPROVAL] },
];

/**
 * Whether an offer can be paid only because a server takes a permit or an approval along.
 * @param {import("./routed.mjs").Offer} offer
 */
export function isSponsored({ candidate }) {
  return sponsorOf(candidate) !== undefined;
}

/**
 * The error of a payment that lacks what its sponsor takes; none where it lacks nothing.
 * @param {any} payload
 * @param {import("../index.d.ts").Candidate | undefined} candidate of the offer that was signed for
 */
export function lackOf(payload, candidate) {
  if (candidate === undefined) return undefined;
  const sponsor = sponsorOf(candidate);
  if (sponsor === undefined || !drawsOnAllowance(payload)) return undefined;
  // A merchant may declare the field with a placeholder, and what a merchant declares wins in the client.
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
 * A voucher for a channel that is open already draws on no allowance, nor does an EIP-3009 authorization.
 * @param {any} payload
 */
function drawsOnAllowance({ payload }) {
  return (payload?.permit2Authorization ?? payload?.deposit?.authorization?.permit2Authorization) !== undefined;
}
