// @ts-check
// What the package exports; each entry file loads the module in its own way and exports all of this.

import { ready } from "./boot.mjs";

export { amountToBigInt, formatAmount } from "./amounts.mjs";
export { parsePaymentRequired } from "./decode.mjs";
export {
  BalancesUnavailableError,
  ConfigurationError,
  HeldElsewhereError,
  InsufficientLiquidityError,
  InvalidPaymentRequiredError,
  ModuleUnavailableError,
  NoSupportedRouteError,
  PayrouteError,
  RefusedByPolicyError,
  SnapshotError,
  TooManyHoldsError,
  UnsponsoredError,
  UnsupportedVersionError,
} from "./errors.mjs";
export { HealthIndex } from "./health.mjs";
export { rank } from "./rank.mjs";
export { createSelector } from "./selector.mjs";

/** @param {import("../index.d.ts").InitSource} [source] */
export async function init(source) {
  await ready(source);
}
