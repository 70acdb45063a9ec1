// Payments that overlap on one selector, and the second opinion.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createContext, runInContext } from "node:vm";
import { build, transformSync } from "esbuild";
import { HeldElsewhereError, InsufficientLiquidityError, PayrouteError, createSelector } from "payroute";
import { answer } from "./support/chain.mjs";
import { evmOffer, onBase, v2 } from "./support/offers.mjs";
import { PACKAGE } from "./support/tarball.mjs";

const input = v2(evmOffer());

/** A buyer with one endpoint whose `balance` can be set. */
async function buyer(balance = 90_000n) {
  const account = { balance };
  return { account, selector: await createSelector(onBase((body) => answer(body, account))) };
}

async function deficitOf(selector, amount) {
  const error = await selector.select(v2(evmOffer(undefined, amount))).then(() => assert.fail("it can be paid"), (error) => error);
  assert.ok(error instanceof InsufficientLiquidityError);
  return { ...error.deficits[0], candidate: error.candidates[0] };
}

const available = async (selector) => (await deficitOf(selector, "1000000")).available;

test("what is held pays nothing else, and the answer says so", async () => {
  const { selector } = await buyer();
  const hold = (await selector.select(input)).hold();
  const { text, available, held, candidate } = await deficitOf(selector, "50000");
  assert.deepEqual([available, held, candidate.balance, candidate.held], ["40000", "50000", "90000", "50000"]);
  assert.equal(text, "0.01 USDC short on Base (needs 0.05, has 0.04 beside 0.05 held)");
  assert.equal(candidate.rejectionDetails["insufficient-balance"], "0.01 USDC short while other payments hold 0.05 USDC");
  selector.resetHealth();
  assert.equal((await deficitOf(selector, "50000")).held, "50000");
  hold.release();
  const { candidates } = await selector.select(input);
  assert.equal("held" in candidates[0], false);
});

test("a hold ends once, by whichever comes first", async () => {
  const { account, selector } = await buyer();
  for (const [ends, left] of [
    [["release", "settle"], "90000"],
    [["release", "settle", "release"], "90000"],
    [["settle", "release", "release"], "40000"],
  ]) {
    const hold = (await selector.select(input)).hold();
    for (const end of ends) hold[end]();
    assert.equal(await available(selector), left, ends.join());
  }
  account.balance = 40_000n;
  assert.equal(await available(selector), "40000", "shown, and not counted twice");
});

test("of two selections that overlap one holds", async () => {
  const { selector } = await buyer();
  const [first, second] = await Promise.all([selector.select(input), selector.select(input)]);
  const hold = first.hold();
  assert.throws(() => second.hold(), (error) => {
    assert.ok(error instanceof HeldElsewhereError);
    assert.ok(HeldElsewhereError.is(error) && PayrouteError.is(error));
    assert.ok(error instanceof createRequire(import.meta.url)("payroute").HeldElsewhereError);
    assert.deepEqual([error.code, error.name, error.deficit.shortfall], ["held-elsewhere", "HeldElsewhereError", "10000"]);
    assert.equal(error.message, `other payments hold what this one needs: ${error.deficit.text}`);
    return true;
  });
  hold.release();
  second.hold().release();
});

test("an offer that is paid instead of the chosen one is held instead", async () => {
  const { selector } = await buyer();
  const offers = [evmOffer(undefined, "1000000"), evmOffer(undefined, "30000"), evmOffer(undefined, "20000")];
  const selection = await selector.select(v2(...offers));
  for (const [given, left] of [[[], "60000"], [[selection.requirementIndex], "60000"], [[1], "60000"], [[2], "70000"], [[-0 + 2], "70000"]]) {
    const hold = selection.hold(...given);
    assert.equal(await available(selector), left, `${given}`);
    hold.release();
  }
  const [first, second] = [selection.hold(2), selection.hold(1)];
  assert.equal(await available(selector), "40000");
  second.settle();
  assert.throws(() => selection.hold(2) && selection.hold(2) && selection.hold(2), HeldElsewhereError);
  first.release();
});

test("what cannot be paid cannot be held, and the error says what can", async () => {
  const { selector } = await buyer();
  const selection = await selector.select(v2(evmOffer(undefined, "1000000"), evmOffer()));
  const accepted = "the requirementIndex of a candidate that is viable";
  const message = `requirementIndex: is not accepted; accepted is ${accepted}`;
  for (const none of [0, 2, -1, 0.5, 2 ** 32, 2 ** 32 + 1, Number.NaN, Infinity, "1", 1n, null, true, {}, selection.candidates[0], Symbol("1"), undefined]) {
    assert.throws(() => selection.hold(none), { name: "TypeError", message });
  }
  assert.equal(await available(selector), "90000");
});

test("as many as are kept, and no more", async () => {
  const { selector } = await buyer();
  const selection = await selector.select(v2(evmOffer(undefined, "1")));
  const holds = Array.from({ length: 4_096 }, () => selection.hold());
  assert.throws(() => selection.hold(), { code: "too-many-holds", name: "TooManyHoldsError" });
  for (const hold of holds) hold.release();
  selection.hold().release();
});

const USING = `export async function pay(selection, inside) {
  { using hold = selection.hold(); await inside(); }
  { await using hold = selection.hold(); await inside(); }
  { await using hold = selection.hold(); hold.settle(); }
}`;

/** Makes a host not know either symbol, which it would not give away itself. */
const FORGET = `{
  const known = Symbol;
  const get = (_, name) => (name === "dispose" || name === "asyncDispose" ? undefined : known[name]);
  globalThis.Symbol = new Proxy(() => {}, { get, apply: (_, self, names) => known(...names) });
}`;

/** What is available while either hold lives, and once the last one was settled. */
async function availableBy(pay, selector) {
  const seen = [];
  await pay(await selector.select(input), async () => seen.push(await available(selector)));
  return [...seen, await available(selector)];
}

test("using and await using release what no method has ended", async () => {
  const { code } = transformSync(USING, { target: "es2022", format: "esm" });
  const { pay } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const { selector } = await buyer();
  assert.deepEqual(await availableBy(pay, selector), ["40000", "40000", "40000"]);
});

test("so they do, once built, on a host that does not know their symbols", async () => {
  const stdin = { contents: `export { createSelector } from "./entrypoints/embedded.mjs"; ${USING}`, resolveDir: PACKAGE };
  const { outputFiles } = await build({ stdin, bundle: true, write: false, format: "iife", globalName: "app", target: "es2022" });
  const host = createContext({ AbortController, TextDecoder, TextEncoder, URL, atob, clearTimeout, performance, queueMicrotask, setTimeout });
  runInContext(`${FORGET}; ${outputFiles[0].text}`, host);
  const selector = await host.app.createSelector(onBase((body) => answer(body, { balance: 90_000n })));
  assert.deepEqual(await availableBy(host.app.pay, selector), ["40000", "40000", "40000"]);
});

test("a hold outlives its selector", async () => {
  const { selector } = await buyer();
  const selection = await selector.select(input);
  const hold = selection.hold();
  selector[Symbol.dispose]();
  hold.settle();
  assert.throws(() => selection.hold(), HeldElsewhereError);
});

test("a hold that was lost goes with the garbage", async () => {
  const script = fileURLToPath(new URL("./support/lost-hold.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script]);
  assert.equal(stdout.trim(), "40000 90000");
});

test("of two endpoints that disagree the higher stands, and turned off nobody is asked twice", async () => {
  const asked = [];
  const endpoint = (label, balance) => ({ label, provider: (body) => (asked.push(label), answer(body, { balance })) });
  const config = onBase(endpoint("low", 7n), endpoint("high", 60_000n));
  const events = [];
  const selector = await createSelector(config, { onEvent: (event) => events.push(event) });
  const { candidates } = await selector.select(input);
  assert.deepEqual([candidates[0].endpoint, candidates[0].balance], ["high", "60000"]);
  assert.ok(candidates[0].notes.includes("balances-disagree"));
  assert.deepEqual(events, [{ type: "balances-disagree", network: "eip155:8453", lower: "low", higher: "high" }]);
  const score = (label) => selector.health().find(({ endpoint }) => endpoint === label).score;
  assert.ok(score("low") < score("high"));

  const off = await createSelector({ ...config, routing: { secondOpinion: false } });
  asked.length = 0;
  await assert.rejects(off.select(input), InsufficientLiquidityError);
  assert.ok(asked.every((label) => label === "low"), asked.join());
  await assert.rejects(createSelector({ routing: { secondOpinion: "no" } }), { path: "routing.secondOpinion" });
});
