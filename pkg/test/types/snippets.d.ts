// What the examples of the documentation take for granted.

import type { Candidate, Config, PaymentRequired, PaymentRequirement, Selector } from "payroute";
import * as payroute from "payroute";

declare global {
  const account: string;
  const accounts: string[];
  const publicKey: string;
  const selector: Selector;
  const config: Config;
  const otherConfig: Config;
  const candidates: readonly Candidate[];
  const response: Response;
  const paymentRequired: PaymentRequired<PaymentRequirement>;
  const createSelector: typeof payroute.createSelector;
  const formatAmount: typeof payroute.formatAmount;
  /** Whether the merchant took the payment. */
  function payWith(requirement: PaymentRequirement): Promise<boolean>;
  function show(text: string): void;
  interface Window {
    readonly ethereum: payroute.Eip1193Provider;
  }
}
