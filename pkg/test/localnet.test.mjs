// Selections across real chains: every form of the 402, every form of an endpoint.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { HealthIndex, InsufficientLiquidityError, createSelector } from "payroute";
import { startLocalnet } from "./support/localnet.mjs";
import { BASE, SOLANA, USDC, evmOffer, headerValue, solanaOffer, v2 } from "./support/offers.mjs";

let net;
before(async () => {
  net = await startLocalnet();
});
after(() => net?.stop());

function config(base = net.networks[BASE].rpc, solana = net.networks[SOLANA].rpc) {
  return {
    owners: net.buyer,
    networks: { [BASE]: { rpc: [base] }, [SOLANA]: { rpc: [solana] } },
    // Chains on two shared cores may be slow; these tests are not about time.
    routing: { probeTimeoutMs: 10_000 },
  };
}

function bothOffers() {
  return v2(evmOffer(BASE, "50000", net.merchant.eip155), solanaOffer(net));
}

async function fund(network, amount) {
  const family = network.split(":")[0];
  const [from, to] = [net.treasury[family], net.buyer[family]];
  await net.control({ op: "transfer", network, asset: USDC[network], from, to, amount });
}

test("a buyer who is short everywhere learns how much is missing where", async () => {
  await fund(BASE, "20000");
  const selector = await createSelector(config());
  await assert.rejects(selector.select(bothOffers()), (error) => {
    assert.ok(error instanceof InsufficientLiquidityError);
    assert.deepEqual(
      error.deficits.map(({ text }) => text),
      ["0.03 USDC short on Base (needs 0.05, has 0.02)", "0.05 USDC short on Solana (needs 0.05, has 0)"],
    );
    assert.equal(error.candidates.length, 2);
    assert.match(error.explain(), /^1\. 0\.05 USDC on /);
    return true;
  });
});

test("the requirement is the object that was passed in, whatever else is in it", async () => {
  await fund(SOLANA, "60000");
  const selector = await createSelector(config());
  const input = bothOffers();
  const selection = await selector.select(input);
  assert.equal(selection.requirement, input.accepts[1]);
  assert.equal(selection.requirementIndex, 1);
  assert.deepEqual(JSON.parse(selection.requirementJson), input.accepts[1]);
  assert.deepEqual(selection.candidates.map(({ network, balance, viable }) => [network, balance, viable]), [
    [SOLANA, "60000", true],
    [BASE, "20000", false],
  ]);
  assert.equal(selection.candidates[1].decidedBy, "viability");
  assert.match(selection.explain(), /chosen/);
  assert.equal((await selector.select(input.accepts)).requirement, input.accepts[1]);
});

test("what a payment by Permit2 lacks is told to programs", async () => {
  const selector = await createSelector(config());
  const offer = evmOffer(BASE, "10000", net.merchant.eip155);
  const extra = { ...offer.extra, assetTransferMethod: "permit2" };
  await assert.rejects(selector.select({ ...v2({ ...offer, extra }), extensions: {} }), ({ candidates: [candidate] }) => {
    // Permit2 itself is not on this chain either.
    assert.deepEqual(candidate.rejectionReasons, ["transfer-method-unsupported", "allowance-required"]);
    assert.equal(candidate.allowance, "0");
    const spender = "0x000000000022D473030F116dDEE9F6B43aC78BA3";
    const calldata = `0x095ea7b3${"0".repeat(24)}${spender.slice(2).toLowerCase()}${(10_000).toString(16).padStart(64, "0")}`;
    assert.deepEqual(candidate.approval, { token: USDC[BASE].toLowerCase(), spender, amount: "10000", calldata });
    return true;
  });
});

test("a header's value and a Response give the merchant's object, parsed", async () => {
  const selector = await createSelector(config());
  const document = bothOffers();
  const fromText = await selector.select(headerValue(document));
  assert.deepEqual(fromText.requirement, document.accepts[1]);
  const header = { "PAYMENT-REQUIRED": headerValue(document) };
  const withHeader = new Response("not read", { status: 402, headers: header });
  assert.deepEqual((await selector.select(withHeader)).requirement, document.accepts[1]);
  assert.equal(await withHeader.text(), "not read");
  const withBody = new Response(JSON.stringify(document), { status: 402 });
  const fromBody = await selector.select(withBody);
  assert.deepEqual(fromBody.requirement, document.accepts[1]);
  assert.ok(fromBody.candidates[0].notes.includes("carrier-body"));
  assert.equal(withBody.bodyUsed, false);
  assert.deepEqual(await withBody.json(), document);
});

test("providers and functions are read like URLs, and shown by their labels", async () => {
  const calls = [];
  const provider = {
    async request({ method, params }) {
      calls.push(method);
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const response = await fetch(net.networks[BASE].rpc, { method: "POST", body, headers: { "content-type": "application/json" } });
      const { result, error } = await response.json();
      if (error) throw Object.assign(new Error(error.message), { code: error.code });
      return result;
    },
  };
  const connection = async (body, { signal }) => {
    const response = await fetch(net.networks[SOLANA].rpc, { method: "POST", body, signal, headers: { "content-type": "application/json" } });
    return response.text();
  };
  const selector = await createSelector(config({ provider, label: "wallet" }, connection));
  const { candidates } = await selector.select(bothOffers());
  assert.deepEqual(candidates.map(({ balance }) => balance), ["60000", "20000"]);
  assert.equal(candidates[1].endpoint, "wallet");
  assert.match(candidates[0].endpoint, /^provider-\d+$/);
  assert.ok(calls.length > 0);
});

test("preferences break ties; selectors that share health learn from each other", async () => {
  await fund(BASE, "100000");
  const health = new HealthIndex();
  const prefer = (network) => ({ ...config(), routing: { probeTimeoutMs: 10_000, preferNetworks: [network] } });
  const onSolana = await createSelector(prefer("solana"), { health });
  assert.equal((await onSolana.select(bothOffers())).candidates[0].network, SOLANA);
  const onBase = await createSelector(prefer("base"), { health });
  const { candidates } = await onBase.select(bothOffers());
  assert.equal(candidates[0].network, BASE);
  // Two successes by now, which one selection alone could not have.
  const alone = await createSelector(prefer("base"));
  const fresh = (await alone.select(bothOffers())).candidates[0].healthScore;
  assert.ok(fresh < 0.84, `${fresh}`);
  health.reset();
  onBase.resetHealth();
});
