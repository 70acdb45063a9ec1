// The control server: checks an operation, names the field that is wrong, and
// hands a good one to its chain. Knows nothing of how a chain carries it out.
import { listen, readBody, send } from './http.mjs';

const BODY_LIMIT = 64 * 1024;

class BadField extends Error {
  constructor(field, reason) {
    super(`${field}: ${reason}`);
  }
}

function chainOf(chains, { network }) {
  if (!Object.hasOwn(chains, String(network))) throw new BadField('network', 'unknown');
  return chains[network];
}

function assetOf(chain, { asset }) {
  const same = (known) => (asset === known)
    || (known.startsWith('0x') && String(asset).toLowerCase() === known.toLowerCase());
  const found = Object.values(chain.assets).find(same);
  if (!found) throw new BadField('asset', 'not one of the tokens of this network');
  return found;
}

function addressOf(chain, request, field) {
  const value = request[field];
  if (typeof value !== 'string' || !chain.isAddress(value)) {
    throw new BadField(field, 'not an address of this network');
  }
  return value;
}

function amountOf(chain, { amount }) {
  if (typeof amount !== 'string' || !/^\d{1,78}$/.test(amount)) {
    throw new BadField('amount', 'not a string of decimal digits');
  }
  if (BigInt(amount) > chain.maxAmount) throw new BadField('amount', 'too large for this token');
  return BigInt(amount);
}

async function transfer(chains, request) {
  const chain = chainOf(chains, request);
  const asset = assetOf(chain, request);
  const from = addressOf(chain, request, 'from');
  const to = addressOf(chain, request, 'to');
  const amount = amountOf(chain, request);
  try {
    return { ok: true, transaction: await chain.transfer(asset, from, to, amount) };
  } catch (error) {
    // The chain decides; what it holds only tells which field to blame.
    const held = await chain.balance(asset, from);
    if (held < amount) throw new BadField('amount', `from holds only ${held}`);
    throw new BadField('op', `the chain refused the transfer: ${error.message}`);
  }
}

async function balance(chains, request) {
  const chain = chainOf(chains, request);
  const owner = addressOf(chain, request, 'owner');
  return { balance: String(await chain.balance(assetOf(chain, request), owner)) };
}

// What only some networks can do to a token, or to one holder of it.
function supported(chain, { op }) {
  if (!chain[op]) throw new BadField('network', `its tokens cannot be asked to ${op}`);
}

async function ask(op, carryOut) {
  try {
    return { ok: true, transaction: await carryOut() };
  } catch (error) {
    throw new BadField('op', `the chain refused to ${op}: ${error.message}`);
  }
}

async function changeAccount(chains, request) {
  const chain = chainOf(chains, request);
  supported(chain, request);
  const asset = assetOf(chain, request);
  const owner = addressOf(chain, request, 'owner');
  if (!await chain.hasAccount(asset, owner)) throw new BadField('owner', 'has no account for this token');
  return ask(request.op, () => chain[request.op](asset, owner));
}

async function setBlacklisted(chains, request) {
  const chain = chainOf(chains, request);
  supported(chain, request);
  const asset = assetOf(chain, request);
  const owner = addressOf(chain, request, 'owner');
  return ask(request.op, () => chain[request.op](asset, owner));
}

async function setPaused(chains, request) {
  const chain = chainOf(chains, request);
  supported(chain, request);
  const asset = assetOf(chain, request);
  return ask(request.op, () => chain[request.op](asset));
}

async function mint(chains, request) {
  const chain = chainOf(chains, request);
  supported(chain, request);
  const { kind } = request;
  if (!chain.kinds.includes(kind)) throw new BadField('kind', `not one of ${chain.kinds.join(', ')}`);
  return { ok: true, asset: await chain.mint(kind) };
}

const OPERATIONS = {
  transfer,
  mint,
  balance,
  freeze: changeAccount,
  thaw: changeAccount,
  'demand-memo': changeAccount,
  blacklist: setBlacklisted,
  unblacklist: setBlacklisted,
  pause: setPaused,
  unpause: setPaused,
};

function parse(text) {
  try {
    const request = JSON.parse(text);
    if (typeof request === 'object' && request !== null) return request;
  } catch {
    // Told below, together with JSON that is no object.
  }
  throw new BadField('body', 'not a JSON object');
}

export function startControl(chains, onShutdown) {
  return listen(async (request, response) => {
    if (request.method !== 'POST') return send(response, 405, '{"error":"method: only POST"}');
    try {
      const operation = parse(await readBody(request, BODY_LIMIT));
      if (operation.op === 'shutdown') {
        response.on('close', onShutdown);
        return send(response, 200, '{"ok":true}');
      }
      if (!Object.hasOwn(OPERATIONS, String(operation.op))) throw new BadField('op', 'unknown');
      return send(response, 200, JSON.stringify(await OPERATIONS[operation.op](chains, operation)));
    } catch (error) {
      if (!(error instanceof BadField)) throw error;
      return send(response, 400, JSON.stringify({ error: error.message }));
    }
  });
}
