// Chains that answer JSON-RPC from memory, the least of them: every holder of every token holds the
// same. For tests that are not about chains; knows nothing of HTTP and of faults.

/** Who pays and what is offered, by family. */
export const FAMILIES = {
  evm: {
    network: "eip155:8453",
    owners: { eip155: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" },
    offer: {
      scheme: "exact",
      network: "eip155:8453",
      amount: "50000",
      asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      payTo: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
      maxTimeoutSeconds: 60,
      extra: { name: "USD Coin", version: "2" },
    },
  },
  svm: {
    network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    owners: { solana: "BXatMgU1vy2nTfZ3pfjE5AGg6rFmvP5rRCXDhmDq66Jn" },
    offer: {
      scheme: "exact",
      network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
      amount: "50000",
      asset: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
      payTo: "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM",
      maxTimeoutSeconds: 60,
      extra: { feePayer: "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4" },
    },
  },
};

/** What every holder has, if nothing else is said. */
export const BALANCE = 60_000n;

/**
 * The JSON-RPC answer to a parsed body, a call or a batch of them. `chain` says what is out of the
 * ordinary: `chainId`, `genesis`, `balance` (EVM), `seconds` (the chain's own time) or how many it lies `behind`,
 * `programs` (what a node runs of "create" and "override"), `reverts`, `nonce` (echoed instead of the
 * one asked under), `word` (what a contract returns, or what a token account's data is cut to).
 */
export function answer(family, body, chain = {}) {
  const method = family === "svm" ? svm(chain) : evm(chain);
  const one = ({ id, method: name, params }) => {
    try {
      return { jsonrpc: "2.0", id, result: method(name, params) };
    } catch (error) {
      if (error.code === undefined) throw error;
      return { jsonrpc: "2.0", id, error: { code: error.code, message: error.message } };
    }
  };
  return Array.isArray(body) ? body.map(one) : one(body);
}

function refuse(code, message) {
  throw Object.assign(new Error(message), { code });
}

function evm(chain) {
  const { chainId = 8453, balance = BALANCE, word, programs = ["create", "override"] } = chain;
  return (method, [call, , accounts] = []) => {
    if (method === "eth_chainId") return `0x${chainId.toString(16)}`;
    if (method === "eth_getCode") return "0x";
    if (method !== "eth_call") return refuse(-32601, "method not found");
    if (word !== undefined) return word;
    if (call.to === undefined) {
      return programs.includes("create") ? run(call.data, chain) : refuse(-32602, "missing field `to`");
    }
    if (accounts !== undefined) {
      return programs.includes("override") ? run(accounts[call.to].code, chain) : refuse(-32602, "Expected between 1 and 2 arguments and got 3");
    }
    return tells(call.data.slice(2), chain) ? `0x${hex(balance, 32)}` : refuse(3, "execution reverted");
  };
}

/** Whether a token answers: of its functions it has `balanceOf` alone. */
function tells(calldata, { reverts = false }) {
  return calldata.startsWith("70a08231") && !reverts;
}

/** What the program of `src/probe/evm/multicall.rs` answers: its source lays out question and answer. */
function run(code, chain) {
  const { chainId = 8453, balance = BALANCE, nonce } = chain;
  const PROGRAM_DIGITS = 2 * 171;
  const question = code.slice(2 + PROGRAM_DIGITS);
  let told = "";
  for (let rest = question.slice(32); rest !== ""; ) {
    const length = 2 * Number.parseInt(rest.slice(40, 42), 16);
    const calldata = rest.slice(42, 42 + length);
    rest = rest.slice(42 + length);
    // There is no code at the owner's address.
    const status = calldata === "" ? 1 : tells(calldata, chain) ? 5 : 3;
    told += hex(status, 1) + hex(status === 5 ? balance : 0, 32);
  }
  return `0x01${nonce ?? question.slice(0, 32)}${hex(chainId, 32)}${hex(1, 8)}${hex(timeOf(chain), 8)}${told}`;
}

const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const SYSVARS = "Sysvar1111111111111111111111111111111111111";
const CLOCK = "SysvarC1ock11111111111111111111111111111111";
/** The associated token accounts of buyer and merchant. */
const HOLDINGS = {
  "4NMZurdUWAxzmV1BJenzo4XbMeYbqQ8maGi8ZaLsZo9s": FAMILIES.svm.owners.solana,
  FGETo8T8wMcN2wCjav8VK6eh3dLk63evNDPxzLSJra8B: FAMILIES.svm.offer.payTo,
};

function svm({ genesis = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d", word, ...time }) {
  const account = (key) => {
    if (key === CLOCK) return shown(SYSVARS, clock(timeOf(time)));
    if (key === FAMILIES.svm.offer.asset) return shown(TOKEN_PROGRAM, mint());
    const owner = HOLDINGS[key];
    return owner === undefined ? null : shown(TOKEN_PROGRAM, holding(owner).subarray(0, word ?? 165));
  };
  return (method, [keys] = []) => {
    if (method === "getGenesisHash") return genesis;
    if (method !== "getMultipleAccounts") return refuse(-32601, "Method not found");
    return { context: { slot: 1 }, value: keys.map(account) };
  };
}

function shown(owner, data) {
  return { owner, data: [data.toString("base64"), "base64"], lamports: 1, executable: false, rentEpoch: 0, space: data.length };
}

function clock(seconds) {
  const data = Buffer.alloc(40);
  data.writeBigInt64LE(BigInt(seconds), 32);
  return data;
}

function mint() {
  const data = Buffer.alloc(82);
  data[44] = 6;
  data[45] = 1;
  return data;
}

function holding(owner) {
  const data = Buffer.alloc(165);
  base58(FAMILIES.svm.offer.asset).copy(data, 0);
  base58(owner).copy(data, 32);
  data.writeBigUInt64LE(BALANCE, 64);
  data[108] = 1;
  return data;
}

/** The 32 bytes of an address. */
function base58(text) {
  const DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  const number = [...text].reduce((sum, digit) => sum * 58n + BigInt(DIGITS.indexOf(digit)), 0n);
  return Buffer.from(hex(number, 32), "hex");
}

function hex(number, bytes) {
  return BigInt(number).toString(16).padStart(2 * bytes, "0");
}

function timeOf({ seconds, behind = 0 }) {
  return seconds ?? Math.floor(Date.now() / 1_000) - behind;
}
