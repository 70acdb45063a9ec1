// Documents of a merchant who means harm: they reach nobody, and rewrite nothing that people read. The
// property behind it is tested in tests/it/hostile.rs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createSelector, parsePaymentRequired, rank } from "payroute";
import { answer } from "./support/chain.mjs";
import { BASE, evmOffer, onBase, v2 } from "./support/offers.mjs";

const RPC = "https://rpc.example/key";
const EVIL = "https://evil.example/rpc";
const TARGETS = [
  EVIL,
  "//evil.example",
  "http://169.254.169.254/latest/meta-data",
  "eip155:8453@evil.example",
  "eip155:8453#https://evil.example",
  "file:///etc/passwd",
  "javascript:fetch('https://evil.example')",
  "base\r\nhost: evil.example",
  "0xEeEeEeEeEeEeEeEeEeEeEeEeEeEeEeEeEeEeEeEe",
];

test("a document's own addresses are asked nothing", async (t) => {
  const sent = [];
  t.mock.method(globalThis, "fetch", async (url, { body }) => {
    sent.push([String(url), body]);
    return new Response(answer(body));
  });
  const selector = await createSelector({ ...onBase(RPC), policy: { allowedNetworks: [BASE] } });
  for (const target of TARGETS) {
    const offer = evmOffer();
    const fields = Object.keys(offer).flatMap((field) => [{ ...offer, [field]: target }, { ...offer, [field]: { url: target } }]);
    const unknown = ["rpc", "rpcUrl", "url", "resource", "facilitator", "callback"].map((field) => ({ ...offer, [field]: target }));
    const extras = ["rpc", "name", "feePayer", "verifyingContract", "assetTransferMethod"].map((field) => ({ ...offer, extra: { ...offer.extra, [field]: target } }));
    const document = { ...v2(...fields, ...unknown, ...extras), resource: { url: target, description: target }, rpc: target, error: target };
    const { candidates } = await selector.select(document);
    assert.equal(candidates.length, document.accepts.length);
  }
  assert.ok(sent.length >= TARGETS.length);
  for (const [url, body] of sent) {
    assert.equal(url, RPC);
    for (const word of ["evil", "169.254", "passwd", "eeeeeeee"]) assert.ok(!body.toLowerCase().includes(word), body);
  }
});

test("NUL and bidirectional characters are written out wherever people read them", async () => {
  const bad = "a\0\u202Eb\u2066\n";
  const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
  const selector = await createSelector(onBase((body) => answer(body)));
  const offer = evmOffer();
  const offers = Object.keys(offer).map((field) => ({ ...offer, [field]: bad }));
  offers.push({ ...offer, extra: { ...offer.extra, assetTransferMethod: bad } }, { ...offer, extra: { ...offer.extra, name: bad } }, { ...offer, [bad]: bad });
  const { candidates, explain } = await selector.select(v2(...offers)).then((selection) => ({ ...selection, explain: selection.explain() }));
  assert.equal(candidates.length, offers.length);
  for (const text of [...explain.trimEnd().split("\n"), ...candidates.flatMap(({ rejectionDetails = {} }) => Object.values(rejectionDetails))]) {
    assert.ok(!hidden.test(text), JSON.stringify(text));
  }
  for (const input of [`{"x402Version":"${bad}"}`, { x402Version: bad, accepts: offers }, v2({ ...offer, [bad]: 2 ** 60 }), bad, v2({ ...offer, amount: bad })]) {
    const error = await parsePaymentRequired(input).catch((error) => error);
    assert.ok(error instanceof Error);
    assert.ok(!hidden.test(error.message), JSON.stringify(error.message));
    for (const entry of error.entries ?? []) assert.ok(!hidden.test(entry.problem), JSON.stringify(entry));
  }
});

/** Calls `act` ever deeper, until nothing fits on the stack any more. */
function atEveryDepth(act) {
  const deep = (left) => (left === 0 ? act() : deep(left - 1));
  let failed = 0;
  for (let depth = 0; failed < 50; depth += failed === 0 ? 50 : 1) {
    try {
      deep(depth);
    } catch (error) {
      assert.ok(error instanceof RangeError, String(error));
      // Back to where the first call did not fit, and step by step from there.
      if (failed === 0) depth -= 600;
      failed += 1;
    }
  }
}

test("a stack that is nearly full breaks nothing", async () => {
  const selector = await createSelector(onBase((body) => answer(body, { balance: 90_000_000n })));
  const input = v2(evmOffer(), evmOffer());
  const selection = await selector.select(input);
  const snapshot = selector.snapshotHealth();
  const held = [];
  const others = Array.from({ length: 64 }, (_, requirementIndex) => ({ ...selection.candidates[0], requirementIndex }));
  const calls = {
    health: () => selector.health(),
    metrics: () => selector.metrics(),
    endpoints: () => selector.endpoints(),
    snapshotHealth: () => selector.snapshotHealth(),
    restoreHealth: () => selector.restoreHealth(snapshot),
    hold: () => held.push(selection.hold()),
    release: () => held.at(-1).release(),
    rank: () => rank(selection.candidates, { preferNetworks: ["base"] }),
    "rank, of others": () => rank(others, { preferNetworks: ["base"] }),
  };
  for (const [name, call] of Object.entries(calls)) {
    atEveryDepth(call);
    held.forEach((hold) => hold.release());
    assert.equal((await selector.select(input)).candidates[0].balance, "90000000", name);
  }
});
