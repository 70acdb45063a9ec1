// The whole local world in one call: chains, facilitator, merchant. Ends as one.
import { startLocalnet } from '../../pkg/test/support/localnet.mjs';
import { startFacilitator } from './facilitator.mjs';
import { startShop } from './shop.mjs';

export const BASE = 'eip155:8453';
export const BASE_SEPOLIA = 'eip155:84532';
export const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
export const PRICE = '$0.05';

export async function startWorld({ port, prices = {} } = {}) {
  const net = await startLocalnet();
  const settlements = [];
  const payee = (network) => net.merchant[network.split(':')[0]];
  const offers = [BASE, BASE_SEPOLIA, SOLANA].map((network) =>
    ({ network, price: prices[network] ?? PRICE, payTo: payee(network) }));
  const facilitator = await startFacilitator(net.networks, { onSettled: (settled) => settlements.push(settled) });
  const shop = await startShop(facilitator.url, offers, { port });
  return {
    net,
    settlements,
    article: `${shop.url}/article`,
    facilitator: facilitator.url,
    async stop() {
      shop.close();
      facilitator.close();
      await net.stop();
    },
  };
}
