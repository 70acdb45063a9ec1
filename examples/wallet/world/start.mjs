// Everything that the page needs, behind one port: the local chains, endpoints that can be broken, a
// merchant with a facilitator, the buyer's purse, and the page itself. Ends with the process.

import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { createServer as createVite } from "vite";
import { startBacking } from "./backing.mjs";
import { MODE_NAMES, forward, startEndpoint } from "./endpoints.mjs";
import { setBalance } from "./funds.mjs";

const PAGE = fileURLToPath(new URL("..", import.meta.url));
const BASE = "eip155:8453";
const SEPOLIA = "eip155:84532";
const OTHER_GENESIS = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";
/** What the buyer starts with, in atomic units of USDC: enough everywhere. */
const PURSE = 250_000n;

export async function startWorld({ port = 0 } = {}) {
  const { net, stop } = await startBacking();
  const networks = Object.keys(net.networks);
  const endpoints = await Promise.all(networks.flatMap((network) => ["A", "B"].map((name) => endpointOf(net, network, name))));
  for (const network of networks) await setBalance(net, { network, asset: net.networks[network].assets.USDC, amount: PURSE });
  const routes = {
    "GET /world.json": () => describe(net, endpoints),
    "POST /world/mode": ({ url, mode }) => switchMode(endpoints, url, mode),
    "POST /world/purse": ({ network, amount }) => setBalance(net, { network, asset: net.networks[network].assets.USDC, amount: BigInt(amount) }),
    "POST /world/wallet": ({ network, body }) => forward(net.networks[network].rpc, body).then(({ text }) => JSON.parse(text)),
  };
  const server = createServer((request, response) => {
    const route = routes[`${request.method} ${request.url}`];
    if (route !== undefined) return void answer(route, request, response);
    return vite.middlewares(request, response);
  });
  // Vite's WebSocket shares the server: a port of its own would be a fixed one, which another Vite may have taken.
  const vite = await createVite({ root: PAGE, appType: "spa", server: { middlewareMode: true, ws: { server } } });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    server.close();
    server.closeAllConnections();
    for (const endpoint of endpoints) endpoint.close();
    await vite.close();
    stop();
  };
  return { origin: `http://127.0.0.1:${server.address().port}`, net, endpoints, close };
}

function endpointOf(net, network, name) {
  const upstream = net.networks[network].rpc;
  const elsewhere = network.startsWith("eip155:")
    ? (body) => forward(net.networks[network === BASE ? SEPOLIA : BASE].rpc, body)
    : async (body) => {
        const { text, ...rest } = await forward(upstream, body);
        return { ...rest, text: text.replace(/"result":"[1-9A-HJ-NP-Za-km-z]{43,44}"/, `"result":"${OTHER_GENESIS}"`) };
      };
  return startEndpoint({ network, name, upstream, elsewhere });
}

function describe(net, endpoints) {
  const { networks, buyer, article } = net;
  return {
    article,
    networks: Object.fromEntries(Object.entries(networks).map(([network, { assets }]) => [network, { assets }])),
    buyer,
    modes: MODE_NAMES,
    endpoints: endpoints.map(({ network, name, url, mode }) => ({ network, name, url, mode })),
  };
}

function switchMode(endpoints, url, mode) {
  const endpoint = endpoints.find((one) => one.url === url);
  if (endpoint === undefined || !MODE_NAMES.includes(mode)) throw new Error(`url and mode: accepted are a listed endpoint and ${MODE_NAMES.join(", ")}`);
  endpoint.mode = mode;
}

async function answer(route, request, response) {
  let body = "";
  for await (const chunk of request) body += chunk;
  try {
    const said = (await route(body === "" ? {} : JSON.parse(body))) ?? { ok: true };
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" }).end(JSON.stringify(said));
  } catch (error) {
    response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error: error.message }));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const world = await startWorld({ port: Number(process.env.PORT ?? 4020) });
  console.log(`open ${world.origin} (Ctrl-C ends everything)`);
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => world.close().then(() => process.exit(0)));
}
