// Errors, ranking, amounts and loading: what needs no endpoint.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as esm from "payroute";
import { routed } from "payroute/x402";

const cjs = createRequire(import.meta.url)("payroute");

test("the module is loaded on demand, once, and again after a failure", async () => {
  assert.throws(() => esm.rank([]), esm.ModuleUnavailableError);
  await assert.rejects(esm.init(new Uint8Array([1, 2, 3])), (error) => {
    assert.equal(error.code, "module-unavailable");
    assert.ok(error.cause instanceof WebAssembly.CompileError);
    return true;
  });
  await Promise.all([esm.init(), esm.init(), esm.createSelector({})]);
  await esm.init();
  assert.deepEqual(esm.rank([]), []);
});

test("whichever engine a policy stops, the keyword that is missing is told", async () => {
  const words = {
    Chromium: `WebAssembly.instantiateStreaming(): Compiling or instantiating WebAssembly module violates the following Content Security policy directive because 'unsafe-eval' is not an allowed source of script in the following Content Security Policy directive: "script-src 'self'".`,
    Firefox: "call to WebAssembly.instantiateStreaming() blocked by CSP",
    WebKit: `Refused to create a WebAssembly object because 'unsafe-eval' or 'wasm-unsafe-eval' is not an allowed source of script in the following Content Security Policy directive: "script-src 'self'".`,
  };
  for (const [engine, said] of Object.entries(words)) {
    const boot = await import(`../src/boot.mjs?${engine}`);
    boot.provide(() => Promise.reject(new WebAssembly.CompileError(said)));
    const message = `the WebAssembly module could not be loaded: ${said} (script-src needs 'wasm-unsafe-eval')`;
    await assert.rejects(boot.ready(), { code: "module-unavailable", message }, engine);
  }
  const boot = await import("../src/boot.mjs?of-its-own");
  boot.provide(() => Promise.reject(new TypeError("Failed to fetch")));
  boot.provide(() => Promise.reject(new Error("of another entry file")));
  await assert.rejects(boot.ready(), { message: "the WebAssembly module could not be loaded: Failed to fetch" });
});

test("a module can be given in any form", async () => {
  const bytes = readFileSync(new URL("../wasm/core_bg.wasm", import.meta.url));
  await cjs.init(await WebAssembly.compile(bytes));
  assert.deepEqual(cjs.rank([]), []);
});

test("both module systems have the same names", () => {
  assert.deepEqual(Object.keys(cjs).sort(), Object.keys(esm).sort());
});

test("instanceof holds across module systems, by class and by code", async () => {
  const failures = [
    [esm, cjs],
    [cjs, esm],
  ];
  for (const [makes, checks] of failures) {
    const error = await makes.createSelector({ owners: { eip155: "0x12" } }).then(undefined, (error) => error);
    assert.ok(error instanceof Error);
    for (const side of [makes, checks]) {
      assert.ok(error instanceof side.PayrouteError);
      assert.ok(error instanceof side.ConfigurationError);
      assert.ok(side.PayrouteError.is(error) && side.ConfigurationError.is(error));
      assert.ok(!(error instanceof side.InsufficientLiquidityError));
      assert.ok(!side.InsufficientLiquidityError.is(error));
    }
    assert.equal(error.name, "ConfigurationError");
    assert.equal(error.code, "configuration");
    assert.equal(error.path, "owners.eip155");
    assert.deepEqual(Object.keys(error).sort(), ["accepted", "code", "path"]);
  }
  for (const other of [new Error("x"), null, undefined, "x", {}, { code: "configuration" }]) {
    assert.ok(!(other instanceof esm.PayrouteError) && !esm.PayrouteError.is(other));
  }
  class Own extends esm.ConfigurationError {}
  assert.ok(!(new esm.ConfigurationError("x", "y") instanceof Own));
  assert.ok(new Own("x", "y") instanceof Own && new Own("x", "y") instanceof esm.PayrouteError);
});

/** Whether an error is of an argument, says which, and what is accepted. */
const invalid = (name, accepted = "") => (error) => {
  assert.equal(error.name, "TypeError");
  assert.ok(error.message.startsWith(`${name}: is not accepted; accepted is ${accepted}`), error.message);
  return true;
};

function candidate(requirementIndex, rest = {}) {
  return { requirementIndex, rank: 0, fee: "0", healthScore: 0.8, circuit: "closed", viable: true, rejectionReasons: [], notes: [], ...rest };
}

test("ranking is pure: it changes nothing and any order in gives the same order out", () => {
  const base = candidate(0, { network: "eip155:8453", fee: "10", decimals: 6 });
  const solana = candidate(1, { network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", fee: "9", decimals: 6 });
  const dear = candidate(2, { network: "eip155:137", viable: false });
  const before = structuredClone([dear, base, solana]);
  for (const order of [[dear, base, solana], [solana, base, dear]]) {
    const ranked = esm.rank(order);
    assert.deepEqual(ranked.map((one) => [one.requirementIndex, one.rank, one.decidedBy]), [[1, 1, undefined], [0, 2, "fee"], [2, 3, "viability"]]);
  }
  assert.deepEqual([dear, base, solana], before);
  assert.deepEqual(esm.rank(before, { preferNetworks: ["base"] }).map((one) => one.requirementIndex), [0, 1, 2]);
  assert.throws(() => esm.rank([base, base]), invalid("candidates[1].requirementIndex", "a whole number that no other candidate has"));
  assert.throws(() => esm.rank([candidate(0, { fee: "1.5" })]), invalid("candidates[0].fee", "atomic units in digits"));
  assert.throws(() => esm.rank([], { preferNetworks: ["nowhere"] }), invalid("preferNetworks[0]", "a CAIP-2 id or a known name"));
});

test("amounts become bigint and text without loss", () => {
  assert.equal(esm.amountToBigInt("115792089237316195423570985008687907853269984665640564039457584007913129639935"), 2n ** 256n - 1n);
  assert.equal(esm.formatAmount("50000", 6), "0.05");
  assert.equal(esm.formatAmount(1_000_000n, 6), "1");
  assert.equal(esm.formatAmount("0", 18), "0");
  assert.equal(esm.formatAmount("7", 0), "7");
  for (const bad of ["", "1.5", "-1", "0x1", 5, null]) assert.throws(() => esm.amountToBigInt(bad), TypeError);
  assert.throws(() => esm.formatAmount(-1n, 6), RangeError);
  assert.throws(() => esm.formatAmount("1", 78), RangeError);
});


test("ranking refuses what is of another kind, and trusts no candidate that has reasons against it", () => {
  const candidate = { requirementIndex: 0, viable: true, circuit: "closed", healthScore: 0.8, rejectionReasons: [] };
  const numbers = Object.entries({ decimals: [-1, 78, 256, 1.5, "6"], healthScore: [-0.1, 1.1, NaN, "1", null], latencyMs: [-1, NaN, Infinity, "9"] })
    .flatMap(([field, values]) => values.map((value) => [field, value]));
  for (const [field, value] of [["fee", 5], ["fee", 5n], ["network", 8453], ["requirementIndex", 2 ** 32], ...numbers]) {
    assert.throws(() => esm.rank([{ ...candidate, [field]: value }]), invalid(`candidates[0].${field}`));
  }
  const kinds = {
    viable: ["a boolean", [1, 0, "true", "", null, undefined, {}, []]],
    circuit: ["closed, half-open or open", ["zz", "", "Open", "half_open", "toString", null, undefined, 1, ["open"], {}]],
  };
  for (const [field, [accepted, values]] of Object.entries(kinds)) {
    for (const value of values) {
      assert.throws(() => esm.rank([{ ...candidate, [field]: value }]), invalid(`candidates[0].${field}`, accepted));
    }
    const { [field]: _, ...without } = candidate;
    assert.throws(() => esm.rank([candidate, { ...without, requirementIndex: 1 }]), invalid(`candidates[1].${field}`, accepted));
  }
  for (const circuit of ["closed", "half-open", "open"]) assert.equal(esm.rank([{ ...candidate, circuit }])[0].circuit, circuit);
  const refused = { ...candidate, rejectionReasons: ["no-owner"] };
  assert.equal(esm.rank([refused, { ...candidate, requirementIndex: 1 }])[0].requirementIndex, 1);
});

test("ranking takes a list of candidates and nothing else", async () => {
  await esm.init();
  for (const candidates of [null, undefined, {}, "x", { candidates: [] }]) {
    assert.throws(() => esm.rank(candidates), invalid("candidates", "a list of candidates"));
  }
  for (const none of [null, undefined, 5]) {
    assert.throws(() => esm.rank([candidate(0), none]), invalid("candidates[1]", "a candidate"));
  }
  for (const [preferNetworks, path] of [["base", "preferNetworks"], [{}, "preferNetworks"], [["base", 5], "preferNetworks[1]"]]) {
    assert.throws(() => esm.rank([], { preferNetworks }), invalid(path));
  }
  for (const options of [null, undefined, {}, { preferNetworks: null }]) assert.deepEqual(esm.rank([], options), []);
});

test("options that are none, or of another name, are refused", async () => {
  const selector = await esm.createSelector({}, null);
  const client = () => ({ createPaymentPayload: async () => ({}) });
  const takers = {
    "{ signal }": (options) => selector.select({ accepts: [] }, options),
    "{ health, onEvent }": (options) => esm.createSelector({}, options),
    "{ preferNetworks }": async (options) => esm.rank([], options),
    "{ exclusive, onRoute }": async (options) => routed(client(), selector, options),
  };
  const misplaced = [new AbortController(), AbortSignal.abort(), [], new Map(), "x", 5, () => {}];
  for (const [accepted, take] of Object.entries(takers)) {
    for (const options of misplaced) await assert.rejects(take(options), invalid("options", accepted));
    for (const name of ["sigal", "onevent", "prefer", "exclusiv"]) {
      await assert.rejects(take({ [name]: true }), invalid(name, accepted));
    }
    for (const options of [null, undefined, {}]) {
      const code = await take(options).then(() => "taken", (error) => error.code);
      assert.ok(["taken", "invalid-payment-required"].includes(code), `${accepted}: ${code}`);
    }
  }
});

test("a signal is an AbortSignal, or nothing", async () => {
  const selector = await esm.createSelector({});
  const nothing = { code: "invalid-payment-required" };
  for (const signal of [null, undefined]) await assert.rejects(selector.select({ accepts: [] }, { signal }), nothing);
  const others = [new AbortController(), {}, "x", 5, true, { aborted: false }, { addEventListener() {} }, new EventTarget()];
  for (const signal of others) {
    await assert.rejects(selector.select({ accepts: [] }, { signal }), invalid("signal", "an AbortSignal"));
  }
});

test("a module that is not ours poisons nothing", () => {
  const script = `
    import { createSelector, init } from "payroute";
    import { readFileSync } from "node:fs";
    const empty = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
    const anothers = readFileSync("wasm/core_bg.wasm");
    anothers[anothers.length - 1] ^= 1; // The last letter of its seal.
    const refusals = [];
    for (const module of [empty, anothers]) refusals.push(await init(module).catch((error) => error.code));
    await createSelector({});
    console.log(...refusals);`;
  const cwd = new URL("..", import.meta.url);
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { cwd, encoding: "utf8" });
  assert.equal(output.trim(), "module-unavailable module-unavailable");
});
