// What `world/start.mjs` serves beside the page. A wallet of your own has none of this: its endpoints
// are its providers', its purse is the chain's.

import type { Eip1193Provider } from "payroute";

export type Mode = "answers" | "slow" | "hangs" | "down" | "throttles" | "wrong-chain";

export interface WorldEndpoint {
  readonly network: string;
  readonly name: string;
  readonly url: string;
  mode: Mode;
}

export interface World {
  /** Where the merchant sells. */
  readonly article: string;
  readonly networks: Readonly<Record<string, { readonly assets: Readonly<Record<string, string>> }>>;
  readonly buyer: { readonly eip155: string; readonly solana: string };
  readonly modes: readonly Mode[];
  readonly endpoints: readonly WorldEndpoint[];
}

export async function loadWorld(): Promise<World> {
  return (await fetch("/world.json")).json();
}

async function post(path: string, body: unknown): Promise<unknown> {
  const response = await fetch(path, { method: "POST", body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

export async function switchMode(endpoint: WorldEndpoint, mode: Mode): Promise<void> {
  await post("/world/mode", { url: endpoint.url, mode });
  endpoint.mode = mode;
}

/** Makes the buyer hold exactly this many atomic units of USDC on a network. */
export async function fillPurse(network: string, amount: string): Promise<void> {
  await post("/world/purse", { network, amount });
}

/** A wallet's provider, as a browser extension would inject it: accounts and signatures by EIP-1193. */
export function walletProvider(network: string): Eip1193Provider {
  let id = 0;
  return {
    async request({ method, params = [] }) {
      const call = { jsonrpc: "2.0", id: ++id, method: method === "eth_requestAccounts" ? "eth_accounts" : method, params };
      const answer = (await post("/world/wallet", { network, body: JSON.stringify(call) })) as {
        result?: unknown;
        error?: { code: number; message: string };
      };
      if (answer.error !== undefined) throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
      return answer.result;
    },
  };
}
