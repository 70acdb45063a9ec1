// @ts-check
// Which offers the clients of @x402 2.27.0 can sign for, by how they are written. Knows no balance and no client.

/** `ExactSvmScheme` knows these, in both versions alike, and throws for any other while a client chooses. */
const CLUSTERS = new Set([
  "solana",
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  "solana-devnet",
  "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
  "solana-testnet",
  "solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z",
]);

/** `ExactEvmSchemeV1` knows these. */
const EVM_NAMES = new Set(
  (
    "ethereum sepolia abstract abstract-testnet base-sepolia base avalanche-fuji avalanche iotex sei sei-testnet polygon " +
    "polygon-amoy peaq story educhain skale-base-sepolia megaeth monad stable stable-testnet celo flare"
  ).split(" "),
);

/**
 * Whether an offer has its price in the version's field and names its network as the version's clients do. While
 * they choose, they look into every offer that they are handed; one of these keeps them from any other.
 * @param {any} requirement an offer that can be paid
 * @param {unknown} version
 */
export function isLegible({ network, amount, maxAmountRequired }, version) {
  const isOld = version === 1;
  // `null` is as good as nothing.
  if ((isOld ? maxAmountRequired : amount) == null) return false;
  return CLUSTERS.has(network) || (isOld ? EVM_NAMES.has(network) : isChain(network));
}

/**
 * An EVM chain's id as version 2 writes it, and as a number keeps it.
 * @param {string} network
 */
function isChain(network) {
  return network.startsWith("eip155:") && Number.isSafeInteger(Number(network.slice("eip155:".length)));
}
