// Offers and configurations of the usual shape.

import { FAMILIES } from "../../../tests/faults/chain.mjs";

const { evm, svm } = FAMILIES;

export const BASE = evm.network;
export const BASE_SEPOLIA = "eip155:84532";
export const SOLANA = svm.network;
export const USDC = {
  [BASE]: evm.offer.asset,
  [BASE_SEPOLIA]: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  [SOLANA]: svm.offer.asset,
};
export const OWNER = evm.owners.eip155;
export const MERCHANT = evm.offer.payTo;

export function evmOffer(network = BASE, amount = "50000", payTo = MERCHANT) {
  const extra = { ...evm.offer.extra, name: network === BASE ? "USD Coin" : "USDC" };
  return { ...evm.offer, network, amount, asset: USDC[network], payTo, extra };
}

export function solanaOffer(net, amount = "50000") {
  return { ...svm.offer, amount, payTo: net.merchant.solana, extra: { feePayer: net.feePayer.solana } };
}

export function v2(...accepts) {
  return { x402Version: 2, error: "payment required", resource: { url: "https://shop.example/a" }, accepts };
}

/** A buyer on Base alone, asking `endpoints`. */
export function onBase(...endpoints) {
  return { owners: { eip155: OWNER }, networks: { [BASE]: { rpc: endpoints } } };
}

export function headerValue(document) {
  return Buffer.from(JSON.stringify(document)).toString("base64");
}
