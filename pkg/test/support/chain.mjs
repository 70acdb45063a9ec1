// The least of an EVM chain that answers for a balance, for tests that are not about chains.

/** Answers a JSON-RPC body: `chainId`, and `balance` for every balanceOf. */
export function answer(body, { chainId = 8453, balance = 60_000n } = {}) {
  const parsed = JSON.parse(body);
  const one = ({ id, method, params }) => {
    if (method === "eth_chainId") return { jsonrpc: "2.0", id, result: `0x${chainId.toString(16)}` };
    if (method === "eth_call" && params[0].to !== undefined && params[0].data?.startsWith("0x70a08231")) {
      return { jsonrpc: "2.0", id, result: `0x${balance.toString(16).padStart(64, "0")}` };
    }
    return { jsonrpc: "2.0", id, error: { code: -32601, message: "method not found" } };
  };
  return JSON.stringify(Array.isArray(parsed) ? parsed.map(one) : one(parsed));
}
