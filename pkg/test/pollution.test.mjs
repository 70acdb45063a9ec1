// Keys that would reach a prototype, wherever JSON from outside comes in: they are keys like any other,
// and what an object inherits is nobody's word.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { ConfigurationError, createSelector, parsePaymentRequired, rank, init } from "payroute";
import { answer } from "./support/chain.mjs";
import { BASE, evmOffer, headerValue, onBase, v2 } from "./support/offers.mjs";

const KEYS = ["__proto__", "constructor", "prototype", "toString", "valueOf", "hasOwnProperty", "toJSON", "then", "__defineGetter__"];

/** The prototypes of everything, as they were. */
const prototypes = [Object, Array, String, Number, Function, Promise, Error, Map].map(({ prototype }) => prototype);
const keys = () => prototypes.map((prototype) => Reflect.ownKeys(prototype));
const before = keys();
afterEach(() => {
  assert.deepEqual(keys(), before);
  assert.equal({}.polluted, undefined);
});

/** `json` with `"HERE"` as a field of this name whose value would pollute. */
const with_ = (json, key) => JSON.stringify(json).replace('"HERE":0', `${JSON.stringify(key)}:{"polluted":1,"viable":true,"amount":"1","provider":"x"}`);

test("in a 402, as an object, as text, as a header and in a response", async () => {
  const selector = await createSelector(onBase((body) => answer(body)));
  const plain = evmOffer();
  const places = [
    { ...v2(plain), HERE: 0 },
    v2({ ...plain, HERE: 0 }),
    v2({ ...plain, extra: { ...plain.extra, HERE: 0 } }),
    { ...v2(plain), resource: { url: "https://shop.example", HERE: 0 } },
  ];
  for (const key of KEYS) {
    for (const place of places) {
      const text = with_(place, key);
      const document = JSON.parse(text);
      const response = new Response("", { status: 402, headers: { "payment-required": headerValue(document) } });
      for (const input of [document, text, headerValue(document), response]) {
        const { requirement, candidates } = await selector.select(input);
        assert.deepEqual(requirement, document.accepts[0], key);
        assert.deepEqual([candidates[0].amount, candidates[0].balance], ["50000", "60000"]);
        assert.equal(Object.getPrototypeOf(candidates[0]), Object.prototype);
      }
      assert.deepEqual((await parsePaymentRequired(document)).requirements[0].requirement, document.accepts[0]);
    }
  }
});

test("a field named toJSON does not let one bad entry spoil the others", async () => {
  const selector = await createSelector(onBase((body) => answer(body)));
  const document = { ...v2({ ...evmOffer(), extra: { odd: Number.NaN } }, evmOffer()), toJSON: 1 };
  assert.equal((await selector.select(document)).requirementIndex, 1);
});

test("in a configuration they are unknown fields, named", async () => {
  const provider = (body) => answer(body);
  const base = onBase("https://rpc.example/");
  for (const key of KEYS) {
    for (const place of [
      { ...base, HERE: 0 },
      { ...base, networks: { HERE: 0, ...base.networks } },
      { ...base, networks: { [BASE]: { rpc: ["https://rpc.example/"], HERE: 0 } } },
      { ...base, networks: { [BASE]: { rpc: [{ url: "https://rpc.example/", HERE: 0 }] } } },
      { ...base, owners: { HERE: 0 } },
      { ...base, policy: { HERE: 0 } },
      { ...base, policy: { maxAmount: { HERE: 0 } } },
      { ...base, fees: { HERE: 0 } },
      { ...base, routing: { HERE: 0 } },
      { ...base, health: { HERE: 0 } },
    ]) {
      await assert.rejects(createSelector(JSON.parse(with_(place, key))), (error) => {
        assert.ok(error instanceof ConfigurationError, `${key}: ${error}`);
        assert.ok(error.path.includes(key), `${key}: ${error}`);
        return true;
      });
    }
  }
  const options = JSON.parse('{"__proto__":{"label":"x"}}');
  await assert.rejects(createSelector(onBase({ provider, ...options })), /__proto__/);
});

test("what a configuration inherits is not taken for its own", async () => {
  const { networks, owners } = onBase("https://rpc.example/");
  class Mine {
    networks = networks;
    get owners() {
      return owners;
    }
  }
  for (const config of [{ __proto__: { networks, owners } }, new Mine(), { owners, networks: { __proto__: networks } }, { owners, networks: new Mine() }]) {
    await assert.rejects(createSelector(config), ({ code, message }) => code === "configuration" && message.includes("not a plain object"));
  }
});

test("in candidates they are carried along and decide nothing", async () => {
  await init();
  const candidate = (index, rest) => ({ requirementIndex: index, viable: false, rejectionReasons: ["no-owner"], circuit: "closed", HERE: 0, ...rest });
  for (const key of KEYS) {
    const candidates = [candidate(0), candidate(1, { viable: true, rejectionReasons: [] })].map((each) => JSON.parse(with_(each, key)));
    const ranked = rank(candidates);
    assert.deepEqual(ranked.map(({ requirementIndex }) => requirementIndex), [1, 0], key);
    for (const each of ranked) {
      assert.ok(Object.hasOwn(each, key));
      assert.equal(Object.getPrototypeOf(each), Object.prototype);
    }
  }
  const { viable, ...rest } = candidate(0);
  assert.throws(() => rank([JSON.parse(with_(rest, "__proto__"))]), /^TypeError: candidates\[0\]\.viable: /);
});

test("in replies they are no answers", async () => {
  const word = `0x${60_000n.toString(16).padStart(64, "0")}`;
  for (const key of KEYS) {
    const replies = [
      `{"jsonrpc":"2.0","id":1,${JSON.stringify(key)}:{"result":"${word}","id":1}}`,
      `{${JSON.stringify(key)}:{"jsonrpc":"2.0","id":1,"result":"${word}"}}`,
      `[{"id":1,${JSON.stringify(key)}:{"result":"0x2105"}},{"id":2,"result":"${word}"}]`,
    ];
    for (const reply of replies) {
      const selector = await createSelector(onBase(() => reply));
      await assert.rejects(selector.select(v2(evmOffer())), { code: "balances-unavailable" });
    }
    // Beside a good answer they change nothing.
    const good = (body) => answer(body).replace('{"jsonrpc"', `{${JSON.stringify(key)}:{"error":{"code":1},"result":"0x"},"jsonrpc"`);
    assert.equal((await (await createSelector(onBase(good))).select(v2(evmOffer()))).candidates[0].balance, "60000");
    const provider = { request: async ({ method, params }) => JSON.parse(answer(JSON.stringify({ id: 1, method, params }))).result };
    const wrapped = { request: async (call) => ({ [key]: await provider.request(call) }) };
    await assert.rejects((await createSelector(onBase({ provider: wrapped }))).select(v2(evmOffer())), { code: "balances-unavailable" });
  }
});

test("what a reply inherits is no answer", async (t) => {
  const { fetch } = globalThis;
  globalThis.fetch = async (_, { body }) => new Response(answer(body));
  t.after(() => {
    globalThis.fetch = fetch;
  });
  for (const endpoint of ["https://rpc.example/", (body) => answer(body)]) {
    for (const [name, value] of [["failure", "unreachable"], ["failure", 7], ["retryAfter", 7], ["date", {}]]) {
      const selector = await createSelector(onBase(endpoint));
      Object.prototype[name] = value;
      const selecting = selector.select(v2(evmOffer())).finally(() => delete Object.prototype[name]);
      assert.equal((await selecting).candidates[0].balance, "60000", name);
    }
  }
});

test("in a snapshot they restore nothing", async () => {
  const selector = await createSelector(onBase((body) => answer(body)));
  await selector.select(v2(evmOffer()));
  const still = () => JSON.stringify(selector.health().map(({ id, score }) => [id, score]));
  const health = still();
  for (const key of KEYS) {
    const snapshot = selector.snapshotHealth().replace("{", `{${JSON.stringify(key)}:{"version":1,"polluted":1},`);
    try {
      selector.restoreHealth(snapshot);
    } catch (error) {
      assert.equal(error.code, "invalid-snapshot");
    }
    assert.equal(still(), health);
  }
});
