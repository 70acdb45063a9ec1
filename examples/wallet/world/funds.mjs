// The buyer's purse: moves tokens between the treasury and the buyer, so that the page can be short
// of money and be topped up.

import { control } from "./backing.mjs";

function family(network) {
  return network.split(":")[0];
}

export async function balanceOf(net, { network, asset }) {
  const { balance } = await control(net, { op: "balance", network, asset, owner: net.buyer[family(network)] });
  return BigInt(balance);
}

/** Makes the buyer hold exactly `amount`. */
export async function setBalance(net, { network, asset, amount }) {
  const held = await balanceOf(net, { network, asset });
  const [buyer, treasury] = [net.buyer[family(network)], net.treasury[family(network)]];
  const move = (from, to, by) => control(net, { op: "transfer", network, asset, from, to, amount: String(by) });
  if (held < amount) await move(treasury, buyer, amount - held);
  if (held > amount) await move(buyer, treasury, held - amount);
}
