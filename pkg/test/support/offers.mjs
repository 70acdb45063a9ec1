// Offers and configurations of the usual shape.

export const BASE = "eip155:8453";
export const BASE_SEPOLIA = "eip155:84532";
export const SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
export const USDC = {
  [BASE]: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  [BASE_SEPOLIA]: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  [SOLANA]: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
};
export const OWNER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
export const MERCHANT = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

export function evmOffer(network = BASE, amount = "50000", payTo = MERCHANT) {
  const extra = { name: network === BASE ? "USD Coin" : "USDC", version: "2" };
  return { scheme: "exact", network, amount, asset: USDC[network], payTo, maxTimeoutSeconds: 60, extra };
}

export function solanaOffer(net, amount = "50000") {
  return {
    scheme: "exact",
    network: SOLANA,
    amount,
    asset: USDC[SOLANA],
    payTo: net.merchant.solana,
    maxTimeoutSeconds: 60,
    extra: { feePayer: net.feePayer.solana },
  };
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
