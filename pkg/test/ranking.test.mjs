// Candidates of a selection, ranked anew: by what the core kept of them, and never otherwise than as objects.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createSelector, rank } from "payroute";
import { Answered } from "../wasm/core.js";
import { answer } from "./support/chain.mjs";
import { BASE, BASE_SEPOLIA, OWNER, evmOffer, v2 } from "./support/offers.mjs";

const selector = await createSelector({
  owners: { eip155: OWNER },
  networks: { [BASE]: { rpc: [(body) => answer(body, { balance: 90_000n })] } },
  policy: { allowedNetworks: [BASE] },
  fees: { [BASE]: "1000" },
});

async function candidatesOf(...amounts) {
  const offers = amounts.map((amount, index) => evmOffer(index % 3 === 2 ? BASE_SEPOLIA : BASE, amount));
  return (await selector.select(v2(...offers))).candidates;
}

const copiesOf = (candidates) => candidates.map((candidate) => ({ ...candidate }));

test("candidates of a selection rank as their copies do", async () => {
  const candidates = await candidatesOf("50000", "40000", "30000", "1000000", "20000", "10000");
  const before = structuredClone(candidates);
  for (const preferNetworks of [undefined, [], ["base"], ["base-sepolia", "base"], ["polygon"]]) {
    for (const list of [candidates, candidates.toReversed?.() ?? [...candidates].reverse(), candidates.slice(1, 4), []]) {
      const ranked = rank(list, { preferNetworks });
      assert.deepEqual(ranked, rank(copiesOf(list), { preferNetworks }));
      assert.deepEqual(ranked.map(({ rank }) => rank), list.map((_, place) => place + 1));
      assert.ok(ranked.every((candidate) => !candidates.includes(candidate)));
    }
  }
  assert.deepEqual(candidates, before);
  assert.throws(() => rank(candidates, { preferNetworks: ["base", "nowhere"] }), { name: "TypeError", message: /^preferNetworks\[1\]: / });
  assert.throws(() => rank([candidates[0], candidates[0]]), { name: "TypeError", message: /^candidates\[1\]\.requirementIndex: / });
});

test("of a selection's own list alone the core ranks what it kept", async (t) => {
  const candidates = await candidatesOf("50000", "40000", "30000");
  const kept = t.mock.method(Answered.prototype, "rank");
  for (const [list, times] of [[candidates, 1], [copiesOf(candidates), 0], [[...candidates], 0], [candidates.slice(1), 0], [candidates, 1]]) {
    kept.mock.resetCalls();
    rank(list, { preferNetworks: ["base"] });
    assert.equal(kept.mock.callCount(), times);
  }
  candidates[0].fee = "9999";
  kept.mock.resetCalls();
  rank(candidates);
  assert.equal(kept.mock.callCount(), 0, "somebody changed it");
});

test("what somebody changed of a candidate counts", async () => {
  const changes = {
    viable: false,
    rejectionReasons: ["no-owner"],
    circuit: "open",
    network: "eip155:137",
    fee: "9999",
    decimals: 0,
    healthScore: 0.1,
    latencyMs: 1e6,
    requirementIndex: 99,
  };
  for (const [field, value] of Object.entries(changes)) {
    const candidates = await candidatesOf("50000", "40000");
    candidates[0][field] = value;
    const ranked = rank(candidates, { preferNetworks: ["base"] });
    assert.deepEqual(ranked, rank(copiesOf(candidates), { preferNetworks: ["base"] }), field);
    assert.equal(ranked[1].requirementIndex, candidates[0].requirementIndex, field);
  }
  const candidates = await candidatesOf("50000", "40000");
  candidates[0].fee = "1.5";
  assert.throws(() => rank(candidates), { name: "TypeError", message: /^candidates\[0\]\.fee: / });
});

test("a selection's list that somebody rearranged ranks by what is in it", async () => {
  const rearrangements = [
    (list) => list.reverse(),
    (list) => list.pop(),
    (list) => list.splice(0, 1),
    (list) => (list[1] = { ...list[1], fee: "9999" }),
    (list) => list.push({ ...list[0], requirementIndex: 9, fee: "0" }),
  ];
  for (const rearrange of rearrangements) {
    const candidates = await candidatesOf("50000", "40000", "30000");
    rearrange(candidates);
    const ranked = rank(candidates, { preferNetworks: ["base"] });
    assert.deepEqual(ranked, rank(copiesOf(candidates), { preferNetworks: ["base"] }), String(rearrange));
  }
  const candidates = await candidatesOf("50000", "40000");
  candidates.length = 3;
  assert.throws(() => rank(candidates), { name: "TypeError", message: /^candidates\[2\]: / });
});

test("candidates of two selections rank together", async () => {
  const [first] = await candidatesOf("50000");
  const second = (await candidatesOf("40000", "50000")).find(({ requirementIndex }) => requirementIndex === 1);
  assert.deepEqual(rank([second, first]), rank(copiesOf([first, second])));
});
