// A buyer as an application would have one: the stock client with its real schemes
// and real keys, a selector over the local endpoints, and the two put together.
import { ExactEvmScheme } from '@x402/evm';
import { x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm';
import { createSelector } from 'payroute';
import { evmAccount, solanaSigner } from './parties.mjs';
import { SOLANA } from './world.mjs';

// Chains on two shared cores may be slow; the tests are not about time.
const PATIENCE_MS = 10_000;

export async function stockClient({ networks }, chooser) {
  const evm = Object.keys(networks).filter((network) => network.startsWith('eip155:'));
  const byChain = Object.fromEntries(evm.map((network) => [network.split(':')[1], { rpcUrl: networks[network].rpc }]));
  return new x402Client(chooser)
    .register('eip155:*', new ExactEvmScheme(evmAccount('buyer'), byChain))
    .register('solana:*', new ExactSvmScheme(await solanaSigner('buyer'), { rpcUrl: networks[SOLANA].rpc }));
}

// `rpc` replaces endpoints by network.
export function selectorOf({ networks, buyer }, { preferNetworks = [], rpc = {} } = {}) {
  const endpoints = Object.entries(networks).map(([network, facts]) => [network, { rpc: [rpc[network] ?? facts.rpc] }]);
  return createSelector({
    owners: buyer,
    networks: Object.fromEntries(endpoints),
    routing: { preferNetworks, probeTimeoutMs: PATIENCE_MS },
  });
}
