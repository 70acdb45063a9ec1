// What goes in: forms of the 402 that must not be changed without a word, and configurations.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigurationError, HealthIndex, InvalidPaymentRequiredError, UnsupportedVersionError, createSelector, parsePaymentRequired } from "payroute";
import { answer } from "./support/chain.mjs";
import { BASE, evmOffer, headerValue, onBase, v2 } from "./support/offers.mjs";

const holding = () => createSelector(onBase((body) => answer(body)));

function offerWith(extra) {
  return v2({ ...evmOffer(), extra: { ...evmOffer().extra, ...extra } });
}

test("what JSON would change without a word is an error that names the field", async () => {
  const selector = await holding();
  const cycle = {};
  cycle.itself = cycle;
  const cases = [
    [{ at: new Date(0) }, "accepts[0].extra.at is an instance of Date, not a plain object"],
    [{ big: 2 ** 53 }, "accepts[0].extra.big is an integer past 2^53, which has been rounded; amounts are strings of digits"],
    [{ big: 5n }, "accepts[0].extra.big is a bigint; amounts are strings of digits"],
    [{ gone: undefined }, "accepts[0].extra.gone is undefined, which JSON does not have"],
    [{ not: Number.NaN }, "accepts[0].extra.not is NaN, which JSON does not have"],
    [{ zero: -0 }, "accepts[0].extra.zero is negative zero, which JSON.stringify turns into 0"],
    [{ call() {} }, "accepts[0].extra.call is a function, which JSON does not have"],
    [{ sign: Symbol("x") }, "accepts[0].extra.sign is a symbol, which JSON does not have"],
    [{ cycle }, "accepts[0].extra.cycle.itself contains itself"],
    [{ other: { toJSON: () => 1 } }, "accepts[0].extra.other has a toJSON method"],
    [{ map: new Map() }, "accepts[0].extra.map is an instance of Map, not a plain object"],
    [{ holes: [, 1] }, "accepts[0].extra.holes[0] is undefined, which JSON does not have"],
  ];
  for (const [extra, message] of cases) {
    await assert.rejects(selector.select(offerWith(extra)), (error) => {
      assert.ok(error instanceof InvalidPaymentRequiredError);
      assert.equal(error.message, message);
      return true;
    });
  }
});

test("nesting without end is refused, not followed", async () => {
  const selector = await holding();
  let deep = {};
  for (let level = 0; level < 10_000; level++) deep = { deep };
  await assert.rejects(selector.select(offerWith({ deep })), /nested deeper than 128/);
});

test("a getter is asked once: what was judged is what is handed back", async () => {
  const selector = await holding();
  let reads = 0;
  const offer = {
    ...evmOffer(),
    get amount() {
      reads += 1;
      return reads === 1 ? "50000" : "999999999";
    },
  };
  const { candidates, requirement } = await selector.select(v2(offer));
  assert.equal(candidates[0].amount, "50000");
  assert.equal(requirement, offer);
  assert.equal(reads, 1);
});

test("names in messages cannot rewrite the sentence around them", async () => {
  const selector = await holding();
  const document = JSON.parse(JSON.stringify(offerWith({})).replace('"extra":{', '"extra":{"a\\u0000\\u202eb\\ud800":1e400,'));
  await assert.rejects(selector.select(document), { message: "accepts[0].extra.a\\u{0}\\u{202e}b\\u{d800} is Infinity, which JSON does not have" });
  await assert.rejects(createSelector({ "\u202e\n": 5n }), { path: "\\u{202e}\\u{a}" });
});

test("what is no 402 is said to be none", async () => {
  const selector = await holding();
  for (const input of [undefined, null, 5, true, 5n, () => {}, Symbol("x")]) {
    await assert.rejects(selector.select(input), { name: "TypeError", message: /^paymentRequired: / });
  }
  for (const input of ["", "%%%", "{}", [], {}, { accepts: 5 }, new Map(), new Date()]) {
    await assert.rejects(selector.select(input), InvalidPaymentRequiredError);
  }
  await assert.rejects(selector.select({ x402Version: 3, accepts: [evmOffer()] }), UnsupportedVersionError);
});

test("a Response whose body is gone is judged by its headers, or said to be gone", async () => {
  const selector = await holding();
  const used = new Response("x", { headers: { "payment-required": headerValue(v2(evmOffer())) } });
  await used.text();
  assert.equal((await selector.select(used)).requirement.amount, "50000");
  const bare = new Response("x");
  await bare.text();
  await assert.rejects(selector.select(bare), /body was read already/);
  const long = new Response("x".repeat(2_000_000));
  await assert.rejects(selector.select(long), InvalidPaymentRequiredError);
});

test("parsing gives the whole document's text, and ends with its signal", async () => {
  const text = JSON.stringify({ ...v2(evmOffer()), resource: { url: "https://shop.example/item" } }, null, 2);
  for (const input of [text, headerValue(JSON.parse(text)), new Response(text, { status: 402 })]) {
    assert.deepEqual(JSON.parse((await parsePaymentRequired(input)).json), JSON.parse(text));
  }
  assert.equal((await parsePaymentRequired(text)).json, text);
  await assert.rejects(parsePaymentRequired(text, { signal: AbortSignal.abort("enough") }), (reason) => reason === "enough");
  await assert.rejects(parsePaymentRequired(text, { signal: {} }), { name: "TypeError", message: /^signal: / });
});

test("parsing alone asks nobody and keeps unreadable entries", async () => {
  const input = v2(evmOffer(), { ...evmOffer(), amount: "0.05" });
  const parsed = await parsePaymentRequired(input);
  assert.equal(parsed.x402Version, 2);
  assert.equal(parsed.carrier, "document");
  assert.equal(parsed.requirements[0].requirement, input.accepts[0]);
  assert.equal(parsed.requirements[0].terms.amount, "50000");
  assert.equal(parsed.requirements[1].requirement, input.accepts[1]);
  assert.equal(parsed.requirements[1].malformed.field, "amount");
});

test("a configuration that is not accepted names the field and quotes nothing", async () => {
  const key = "https://rpc.example/v1/s3cr3t";
  const cases = [
    [{ owners: { eip155: "0x12" } }, "owners.eip155"],
    [onBase("ftp://rpc.example/s3cr3t"), `networks.${BASE}.rpc[0]`],
    [onBase({ url: key, weigth: 5 }), /^networks\.eip155:8453\.rpc\[0\]/],
    [onBase({ provider: {} }), `networks.${BASE}.rpc[0].provider`],
    [onBase({ request() {} }), `networks.${BASE}.rpc[0]`],
    [onBase(5n), `networks.${BASE}.rpc[0]`],
    [{ routing: { probeTimeoutMs: 2 ** 60 } }, "routing.probeTimeoutMs"],
    [{ routing: { probeTimeoutMs: 0 } }, "routing.probeTimeoutMs"],
    [{ networks: { base: { rpc: [key], assets: [{ address: "0x1" }] } } }, "networks.base.assets[0].address"],
    [{ unknown: 1 }, /unknown/],
    [undefined, "."],
    [new Map(), "."],
  ];
  for (const [config, path] of cases) {
    await assert.rejects(createSelector(config), (error) => {
      assert.ok(error instanceof ConfigurationError, `${error}`);
      if (typeof path === "string") assert.equal(error.path, path);
      else assert.match(error.path, path);
      assert.ok(!error.message.includes("s3cr3t"), error.message);
      return true;
    });
  }
  await assert.rejects(createSelector({}, { health: {} }), { name: "TypeError", message: /^health: / });
  await assert.rejects(createSelector({}, { health: new HealthIndex({ ewmaAlpha: 5 }) }), { path: "health.ewmaAlpha" });
});

test("fields that are undefined are absent", async () => {
  const config = { ...onBase((body) => answer(body)), policy: undefined, routing: { preferNetworks: undefined } };
  assert.equal((await (await createSelector(config)).select(v2(evmOffer()))).requirementIndex, 0);
});

test("a list without an envelope gives way to a body that states its version", async () => {
  const v1 = { x402Version: 1, accepts: [{ ...evmOffer(), network: "base", amount: undefined, maxAmountRequired: "50000" }] };
  const headers = { "payment-required": headerValue([evmOffer()]) };
  const { x402Version, carrier } = await parsePaymentRequired(new Response(JSON.stringify(v1), { status: 402, headers }));
  assert.deepEqual([x402Version, carrier], [1, "body"]);
});

test("one entry that JSON cannot hold spoils none of the others", async () => {
  const selector = await holding();
  const good = evmOffer();
  const { requirement, candidates } = await selector.select(v2({ ...evmOffer(), extra: { odd: undefined } }, good));
  assert.equal(requirement, good);
  assert.deepEqual(candidates[1].rejectionReasons, ["malformed-requirement"]);
});

test("an abort ends the reading of a body that trickles", async () => {
  const selector = await holding();
  const controller = new AbortController();
  const body = new ReadableStream({ pull: () => new Promise((resolve) => setTimeout(resolve, 20)) });
  const response = new Response(body, { status: 402 });
  setTimeout(() => controller.abort("enough"), 50);
  await assert.rejects(selector.select(response, { signal: controller.signal }), (reason) => reason === "enough");
  await response.body.cancel();
});
