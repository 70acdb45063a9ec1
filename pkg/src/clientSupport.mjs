// @ts-check
// Which offers the clients of @x402 2.27.0 can sign for, by how the offer is written.

/** `ExactSvmScheme` knows these in both versions. For any other it throws while the client still chooses. */
const CLUSTERS = new Set([
  "solana",
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  "solana-devnet",
  "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
  "solana-testnet",
  "solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z",
]);

/** The names that `ExactEvmSchemeV1` knows. */
const EVM_NAMES = new Set(
  (
    "ethereum sepolia abstract abstract-testnet base-sepolia base avalanche-fuji avalanche iotex sei sei-testnet polygon " +
    "polygon-amoy peaq story educhain skale-base-sepolia megaeth monad stable stable-testnet celo flare"
  ).split(" "),
);

/**
 * Whether an offer has its price in the version's field and names its network as the version's clients do. Clients
 * look into every offer before they choose; one that they cannot read makes them throw, whichever they would choose.
 * @param {any} requirement an offer that can be paid
 * @param {unknown} version
 */
export function canClientSign({ network, amount, maxAmountRequired }, version) {
  const isOld = version === 1;
  if ((isOld ? maxAmountRequired : amount) == null) return false;
  return CLUSTERS.has(network) || (isOld ? EVM_NAMES.has(network) : isEvmChain(network));
}

/**
 * Whether a name is an EVM chain's CAIP-2 id, with a number that JavaScript keeps exactly.
 * @param {string} network
 */
function isEvmChain(network) {
  return network.startsWith("eip155:") && Number.isSafeInteger(Number(network.slice("eip155:".length)));
}
