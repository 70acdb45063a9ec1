// The ways to choose that are measured side by side: payroute, viem as a wallet uses it, plain
// requests as the floor of reading, `@x402/core`'s default, which reads nothing, as the floor of all
// choosing. Each is a function that does the whole work once.

import { x402Client } from "@x402/core/client";
import { createSelector } from "payroute";
import { createPublicClient, defineChain, erc20Abi, fallback, http } from "viem";

export const OWNER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
export const MERCHANT = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
export const ASSET = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
/** Milliseconds that one provider gets, for all of them. */
const TIMEOUT = 600;

/** A version 2 document whose offers go round the networks. */
export function paymentRequired(chains, offers) {
  const accepts = Array.from({ length: offers }, (_, index) => ({
    scheme: "exact",
    network: `eip155:${chains[index % chains.length]}`,
    amount: String(50_000 + index),
    asset: ASSET,
    payTo: MERCHANT,
    maxTimeoutSeconds: 60,
    extra: { name: "USD Coin", version: "2" },
  }));
  return { x402Version: 2, error: "payment required", resource: { url: "https://shop.example/a" }, accepts };
}

/** @param {{ chain: number, urls: string[] }[]} networks */
export function configuration(networks) {
  const assets = [{ address: ASSET, symbol: "USDC", decimals: 6, name: "USD Coin", version: "2" }];
  const entries = networks.map(({ chain, urls }) => [`eip155:${chain}`, { rpc: urls, assets }]);
  return { owners: { eip155: OWNER }, networks: Object.fromEntries(entries) };
}

export async function payroute(networks, document) {
  const selector = await createSelector(configuration(networks));
  return () => selector.select(document);
}

/**
 * Chain id and `balanceOf` for every offer, as a wallet written with viem would, then the first offer
 * that can pay. No retries: they would only make it slower.
 */
export function viem(networks, document, { batch }) {
  const clients = new Map(networks.map(({ chain, urls }) => [`eip155:${chain}`, client(chain, urls, batch)]));
  return async () => {
    const read = document.accepts.map(async (offer) => {
      const reader = clients.get(offer.network);
      const args = { address: offer.asset, abi: erc20Abi, functionName: "balanceOf", args: [OWNER] };
      const [chain, balance] = await Promise.all([reader.getChainId(), reader.readContract(args)]);
      return chain === reader.chain.id && balance >= BigInt(offer.amount);
    });
    return document.accepts[(await Promise.all(read)).indexOf(true)];
  };
}

function client(id, urls, batch) {
  const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };
  const chain = defineChain({ id, name: String(id), nativeCurrency, rpcUrls: { default: { http: urls } } });
  const transports = urls.map((url) => http(url, { batch, retryCount: 0, timeout: TIMEOUT }));
  return createPublicClient({ chain, cacheTime: 0, transport: fallback(transports, { retryCount: 0 }) });
}

/** The bodies that a selection sent, by fetch alone, all at once. */
export function floor(nodes, bodies) {
  const headers = { "content-type": "application/json" };
  return () =>
    Promise.all(
      nodes.map(async ({ url }, index) => {
        const response = await fetch(url, { method: "POST", headers, body: bodies[index] });
        await response.arrayBuffer();
      }),
    );
}

/**
 * What `@x402/core` does by default: the first offer that a registered scheme can pay and the client's
 * spend controls let through. They know an asset only by the scheme, so this one knows every asset.
 */
export function unread(document) {
  const client = new x402Client();
  client.register("eip155:*", {
    scheme: "exact",
    findDefaultAsset: (asset) => ({ asset, symbol: "USDC", decimals: 6 }),
    createPaymentPayload: async (x402Version) => ({ x402Version, payload: {} }),
  });
  return async () => (await client.createPaymentPayload(document)).accepted;
}
