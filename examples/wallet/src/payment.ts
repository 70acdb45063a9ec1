// From a 402 to a payment, by the x402 packages: they read the challenge and sign, payroute chooses in
// between. The buyer's keys stay where they are: with the wallet's provider, and for Solana with a
// signer of the wallet's own.

import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit";
import { x402Client, x402HTTPClient } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import type { Eip1193Provider } from "payroute";
import { type Address, createWalletClient, custom } from "viem";

export type Challenge = ReturnType<x402HTTPClient["getPaymentRequiredResponse"]>;
export type Requirement = Challenge["accepts"][number];

export interface Receipt {
  readonly network: string;
  readonly transaction: string;
  /** What the merchant sold. */
  readonly title: string;
}

/** The buyer's signatures, for every network that the wallet has an account on. */
export async function buyerOf(account: string, provider: Eip1193Provider, solanaRpc: string): Promise<x402Client> {
  const address = account as Address;
  const wallet = createWalletClient({ account: address, transport: custom(provider) });
  const signer = {
    address,
    signTypedData: (message: Parameters<typeof wallet.signTypedData>[0]) => wallet.signTypedData({ ...message, account: address }),
  };
  const solana = await createKeyPairSignerFromPrivateKeyBytes(await demoSeed());
  return new x402Client()
    .register("eip155:*", new ExactEvmScheme(signer as ConstructorParameters<typeof ExactEvmScheme>[0]))
    .register("solana:*", new ExactSvmScheme(solana, { rpcUrl: solanaRpc }));
}

/** The local buyer's key, which is no secret: a wallet has a signer here instead. */
async function demoSeed(): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("payroute localnet buyer")));
}

/** Asks for something that costs money. */
export async function ask(url: string): Promise<Challenge> {
  const response = await fetch(url);
  if (response.status !== 402) throw new Error(`the merchant answered ${response.status} instead of 402`);
  return new x402HTTPClient(new x402Client()).getPaymentRequiredResponse((name) => response.headers.get(name), await response.json().catch(() => undefined));
}

/** Pays one offer, and no other. `onSent` hears when the signature is about to leave. */
export async function pay(
  url: string,
  client: x402Client,
  challenge: Challenge,
  requirement: Requirement,
  onSent: () => void,
): Promise<Receipt> {
  const http = new x402HTTPClient(client);
  const payload = await client.createPaymentPayload({ ...challenge, accepts: [requirement] });
  onSent();
  const response = await fetch(url, { headers: http.encodePaymentSignatureHeader(payload) });
  if (!response.ok) throw new Error(`the merchant answered ${response.status}`);
  const { title } = await response.json();
  const { network, transaction } = http.getPaymentSettleResponse((name) => response.headers.get(name));
  return { network, transaction, title };
}
