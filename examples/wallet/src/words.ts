// What a person reads: networks, amounts, reasons. A wallet has its own words for these; the names on
// the left are payroute's and do not change.

import { type Candidate, type DecidingKey, type RejectionReason, formatAmount } from "payroute";

const REASONS: Readonly<Record<RejectionReason, string>> = {
  "no-owner": "You have no account there.",
  "malformed-requirement": "The offer cannot be paid as it is written.",
  "network-unknown": "This wallet does not know the network.",
  "network-not-allowed": "You do not allow this network.",
  "scheme-unsupported": "The way of paying is not supported.",
  "transfer-method-unsupported": "The token moves in a way that is not supported.",
  "asset-unsupported": "This wallet does not know the token.",
  "asset-not-allowed": "You do not allow this token.",
  "amount-over-limit": "The price is over your limit.",
  "insufficient-balance": "Not enough there.",
  "balance-unavailable": "Your balance could not be read. That says nothing about your money.",
  "chain-identity-mismatch": "The endpoint serves another chain.",
  "allowance-required": "The token needs your approval first.",
  "account-frozen": "The token account is frozen.",
  "account-blocked": "The token's issuer blocks the account.",
  "token-paused": "The token is paused.",
  "domain-missing": "The offer does not say what to sign.",
  "domain-mismatch": "The offer asks for a signature that the token would refuse.",
  "fee-payer-missing": "Nobody pays the network's fee.",
  "recipient-account-missing": "The merchant cannot receive there.",
  "asset-not-contract": "There is no such token.",
  "deposit-required": "A deposit is needed first.",
};

const KEYS: Readonly<Record<DecidingKey, string>> = {
  viability: "It cannot be paid.",
  circuit: "Its endpoint was in trouble when it was asked.",
  preference: "You prefer another network.",
  fee: "Paying there costs you more.",
  score: "Its endpoint is less healthy.",
  latency: "Its endpoint is slower.",
  index: "All else is equal, and the merchant lists it later.",
};

/** Why a route is not the one to pay, in sentences; the winner needs none. */
export function why(candidate: Candidate): string[] {
  const { rejectionReasons, rejectionDetails = {}, decidedBy } = candidate;
  if (rejectionReasons.length === 0) return decidedBy === undefined ? [] : [KEYS[decidedBy]];
  return rejectionReasons.map((reason) => {
    const detail = rejectionDetails[reason];
    return detail === undefined ? REASONS[reason] : `${REASONS[reason]} (${detail})`;
  });
}

/** Atomic units as a person writes them. */
export function units(atomic: string | undefined, { symbol, decimals }: { symbol?: string; decimals?: number }): string {
  if (atomic === undefined) return "unknown";
  return decimals === undefined ? `${atomic} units` : `${formatAmount(atomic, decimals)} ${symbol ?? ""}`.trim();
}

export function millis(value: number | undefined): string {
  return value === undefined ? "not measured" : `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`;
}

export function seconds(ms: number): string {
  return `${Math.ceil(ms / 1_000)} s`;
}

export function shortened(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}

const NETWORKS: Readonly<Record<string, string>> = { "eip155:8453": "Base", "eip155:84532": "Base Sepolia" };

export function networkName(network: string): string {
  return NETWORKS[network] ?? (network.startsWith("solana:") ? "Solana" : network);
}
