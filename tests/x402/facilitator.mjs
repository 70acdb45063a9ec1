// An x402 facilitator over HTTP for the local chains: the schemes of the real
// packages, which verify against the chains and settle on them. Judges nothing
// itself and knows no merchant.
import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { ExactSvmScheme } from '@x402/svm/exact/facilitator';
import express from 'express';
import { createWalletClient, defineChain, http, publicActions } from 'viem';
import { listen } from './listen.mjs';
import { evmAccount, solanaSigner } from './parties.mjs';

// One at a time: two payments settled at once must not race for a nonce.
function oneByOne(work) {
  let last = Promise.resolve();
  return (...args) => {
    const next = () => work(...args);
    last = last.then(next, next);
    return last;
  };
}

// The account is named, not held: the node signs for it.
function evmSigner(network, { rpc }) {
  const id = Number(network.split(':')[1]);
  const chain = defineChain({
    id,
    name: network,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpc] } },
  });
  const { address } = evmAccount('facilitator');
  const client = createWalletClient({ account: address, chain, transport: http(rpc), pollingInterval: 20 })
    .extend(publicActions);
  return toFacilitatorEvmSigner({ ...client, writeContract: oneByOne(client.writeContract), address });
}

async function facilitatorOf(networks) {
  const facilitator = new x402Facilitator();
  for (const [network, facts] of Object.entries(networks)) {
    const scheme = network.startsWith('eip155:')
      ? new ExactEvmScheme(evmSigner(network, facts))
      : new ExactSvmScheme(toFacilitatorSvmSigner(await solanaSigner('feePayer'), { defaultRpcUrl: facts.rpc }));
    facilitator.register(network, scheme);
  }
  return facilitator;
}

// `networks` as the localnet prints them. `onSettled` hears of every settlement.
export async function startFacilitator(networks, { onSettled = () => {} } = {}) {
  const facilitator = await facilitatorOf(networks);
  const app = express().use(express.json({ limit: '256kb' }));
  app.get('/supported', (_, response) => response.json(facilitator.getSupported()));
  app.post('/verify', async ({ body }, response) => {
    response.json(await facilitator.verify(body.paymentPayload, body.paymentRequirements));
  });
  app.post('/settle', async ({ body }, response) => {
    const settled = await facilitator.settle(body.paymentPayload, body.paymentRequirements);
    onSettled(settled);
    response.json(settled);
  });
  return listen(app);
}
