// Selections that are given up, many at once, and what is shown of endpoints. What an endpoint can do
// wrong is in the fault matrix.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { getEventListeners, setMaxListeners } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { BalancesUnavailableError, InsufficientLiquidityError, createSelector } from "payroute";
import { openEndpoint } from "../../tests/faults/server.mjs";
import { answer } from "./support/chain.mjs";
import { BASE, evmOffer, onBase, v2 } from "./support/offers.mjs";

/** Endpoints in these states, which end with the test. */
async function opened(t, ...rows) {
  const endpoints = await Promise.all(rows.map((row) => openEndpoint(row)));
  t.after(() => Promise.all(endpoints.map((endpoint) => endpoint.stop())));
  return endpoints;
}

const input = v2(evmOffer());

/** What an endpoint takes for a request; what it answers then is here a merchant's. */
const REQUEST = { method: "POST", body: "[]" };

test("what could not be read is never called poor", async (t) => {
  const [failing, hanging] = await opened(t, "500", "hangs");
  const selector = await createSelector({ ...onBase(failing.url, hanging.url), routing: { probeTimeoutMs: 200 } });
  await assert.rejects(selector.select(input), (error) => {
    assert.ok(error instanceof BalancesUnavailableError);
    assert.ok(!(error instanceof InsufficientLiquidityError));
    assert.deepEqual(error.candidates[0].rejectionReasons, ["balance-unavailable"]);
    assert.equal("balance" in error.candidates[0], false);
    return true;
  });
});

for (const row of ["302", "307"]) {
  test(`a ${row} is told for what it is, and nobody goes there`, async (t) => {
    const [moved] = await opened(t, row);
    const selector = await createSelector(onBase(moved.url));
    await assert.rejects(selector.select(input), (error) => {
      assert.ok(error instanceof BalancesUnavailableError);
      assert.match(error.message, /the endpoint redirects/);
      return true;
    });
    assert.deepEqual(new Set(moved.asked.map(({ path }) => path)), new Set(["/v2/key"]));
  });
}

test("a thread that is busy past the deadline finds what came meanwhile, and blames nobody", async (t) => {
  const [healthy] = await opened(t, "healthy");
  const selector = await createSelector({ ...onBase(healthy.url), routing: { probeTimeoutMs: 300 } });
  const selecting = selector.select(input);
  await sleep(1);
  for (const until = performance.now() + 500; performance.now() < until; );
  const { candidates } = await selecting;
  assert.equal(candidates[0].balance, "60000");
  const [{ circuit, backingOffForMs }] = selector.health();
  assert.deepEqual([circuit, backingOffForMs], ["closed", undefined]);
});

test("an abort rejects with the reason, ends the requests and returns what was held", async (t) => {
  const [hanging] = await opened(t, "hangs");
  const selector = await createSelector({ ...onBase(hanging.url), routing: { probeTimeoutMs: 5_000 } });
  const controller = new AbortController();
  const reason = new Error("the user closed the dialog");
  const started = performance.now();
  const selecting = selector.select(input, { signal: controller.signal });
  await sleep(100);
  controller.abort(reason);
  await assert.rejects(selecting, (error) => error === reason);
  assert.ok(performance.now() - started < 1_000);
  await sleep(100);
  assert.equal(hanging.brokenOff, 1);
  await assert.rejects(selector.select(input, { signal: controller.signal }), (error) => error === reason);
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
});

test("an answer past the limit can be cancelled, and leaves its connection", async (t) => {
  const [endless] = await opened(t, "endless-body");
  const response = await fetch(endless.url, REQUEST);
  await assert.rejects((await createSelector({})).select(response), { code: "invalid-payment-required" });
  await response.body.cancel();
  await sleep(100);
  assert.equal(endless.brokenOff, 1);
});

test("a body of nothing, without end, starves no timer", async () => {
  let open = true;
  const until = Date.now() + 3_000;
  const pull = (body) => {
    // Ends one day, so that a failure of this is told.
    if (Date.now() < until) return body.enqueue(new Uint8Array());
    open = false;
    body.close();
  };
  const response = new Response(new ReadableStream({ pull }), { status: 402 });
  const selector = await createSelector({});
  const signal = AbortSignal.timeout(20);
  await assert.rejects(selector.select(response, { signal }), { name: "TimeoutError" });
  await response.body.cancel();
  assert.ok(open, "it was read to its end");
});

test("one signal may end the request for the terms and the selection that reads them", async (t) => {
  const unhandled = [];
  const listener = (error) => unhandled.push(error);
  process.on("unhandledRejection", listener);
  t.after(() => process.off("unhandledRejection", listener));
  const [stalled, endless] = await opened(t, "stalls-after-headers", "endless-body");
  const selector = await createSelector({});
  for (const endpoint of [stalled, endless]) {
    const controller = new AbortController();
    const { signal } = controller;
    const response = await fetch(endpoint.url, { ...REQUEST, signal });
    const selecting = selector.select(response, { signal });
    // Nothing comes after the headers; past the limit the answer is there already.
    if (endpoint === stalled) await sleep(50);
    else await assert.rejects(selecting, { code: "invalid-payment-required" });
    const reason = new Error("the user left");
    controller.abort(reason);
    if (endpoint === stalled) await assert.rejects(selecting, (error) => error === reason);
    await sleep(50);
    await response.body.cancel().catch((error) => assert.equal(error, reason));
  }
  assert.deepEqual(unhandled, []);
});

test("an aborted half-open trial leaves its place to the next", async () => {
  let mode = "fail";
  const settled = [];
  const endpoint = (body, { signal }) => {
    if (mode === "fail") return "<html>";
    if (mode === "hang") return new Promise(() => signal.addEventListener("abort", () => settled.push("aborted")));
    return answer(body);
  };
  const health = { consecutiveFailures: 1, openForMs: 30, backoffMs: 1 };
  const selector = await createSelector({ ...onBase(endpoint), health, routing: { probeTimeoutMs: 5_000 } });
  await assert.rejects(selector.select(input), BalancesUnavailableError);
  await sleep(50);
  mode = "hang";
  const controller = new AbortController();
  const selecting = selector.select(input, { signal: controller.signal });
  await sleep(20);
  controller.abort();
  await assert.rejects(selecting, { name: "AbortError" });
  await sleep(5);
  assert.deepEqual(settled, ["aborted"]);
  mode = "ok";
  const { candidates } = await selector.select(input);
  assert.equal(candidates[0].circuit, "half-open");
});

test("10,000 selections on one signal leave no listener behind", async () => {
  const selector = await createSelector(onBase((body) => answer(body)));
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  for (let round = 0; round < 100; round++) {
    await Promise.all(Array.from({ length: 100 }, () => selector.select(input, { signal })));
  }
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("1,000 overlapping selections on one selector all settle, and memory stays flat", async () => {
  const script = fileURLToPath(new URL("./support/memory.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script]);
  assert.ok(Number(stdout) < 300, `grew by ${stdout.trim()} bytes a selection`);
});

test("a freed selector says so, and selections under way go on", async (t) => {
  const [late] = await opened(t, "late");
  const selector = await createSelector(onBase(late.url));
  const selecting = selector.select(input);
  selector.free();
  selector.free();
  assert.equal((await selecting).candidates[0].balance, "60000");
  await assert.rejects(selector.select(input), /freed/);
});

test("the least is sent: a POST of JSON without cookies or a referrer", async (t) => {
  const [plain] = await opened(t, "no-programs");
  const selector = await createSelector(onBase(plain.url));
  await selector.select(input);
  const { method, headers, body } = plain.asked.at(-1);
  assert.equal(method, "POST");
  assert.equal(headers["content-type"], "application/json");
  assert.equal(headers.cookie, undefined);
  assert.equal(headers.referer, undefined);
  assert.ok(body.includes("eth_chainId"));
  assert.ok(!body.includes(BASE));
});

test("health is a readable snapshot, and events tell what changed", async (t) => {
  const [stranger, good] = await opened(t, "wrong-chain", "healthy");
  const events = [];
  const selector = await createSelector(onBase(stranger.url, good.url), {
    onEvent: (event) => events.push(event),
  });
  assert.deepEqual(selector.health(), []);
  await selector.select(input);
  assert.deepEqual(
    events.map(({ type }) => type).filter((type) => type !== "failed"),
    ["identity-mismatch", "circuit-opened", "failover"],
  );
  assert.equal(events.find(({ type }) => type === "circuit-opened").reason, "wrong-chain");
  const health = selector.health();
  const expected = [[stranger.host, BASE, "open"], [good.host, BASE, "closed"]];
  assert.deepEqual(health.map(({ endpoint, network, circuit }) => [endpoint, network, circuit]).sort(), expected.sort());
  selector.resetHealth();
  assert.deepEqual(selector.health(), []);
});

test("a listener that throws or rejects ends nothing and is told of", async (t) => {
  const faults = [new Error("the dashboard"), new Error("the log")];
  const [thrown, rejected] = faults;
  const listeners = [
    [thrown, () => { throw thrown; }],
    [rejected, () => Promise.reject(rejected)],
  ];
  const unhandled = [];
  const note = (error) => unhandled.push(error);
  for (const kind of ["uncaughtException", "unhandledRejection"]) {
    process.on(kind, note);
    t.after(() => process.off(kind, note));
  }
  const told = t.mock.method(console, "error", () => {});
  for (const [fault, onEvent] of listeners) {
    const [failing, good] = await opened(t, "500", "healthy");
    const selector = await createSelector(onBase(failing.url, good.url), { onEvent });
    assert.equal((await selector.select(input)).candidates[0].balance, "60000");
    await sleep(0);
    assert.ok(told.mock.callCount() > 0);
    assert.ok(told.mock.calls.every(({ arguments: [error] }) => error === fault));
    told.mock.resetCalls();
  }
  assert.deepEqual(unhandled, []);
});

test("where a page or a worker takes reports, a listener's fault goes there", async (t) => {
  const script = `
    import { createSelector } from "payroute";
    const config = JSON.parse(process.argv[1]);
    const { log } = console;
    globalThis.reportError = (error) => log("reported", error.message);
    delete globalThis.process;
    const selector = await createSelector(config, { onEvent() { throw new Error("the dashboard"); } });
    await selector.select(JSON.stringify(${JSON.stringify(input)}));`;
  const [failing, good] = await opened(t, "500", "healthy");
  const cwd = new URL("..", import.meta.url);
  const config = JSON.stringify(onBase(failing.url, good.url));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script, config], { cwd });
  assert.deepEqual([...new Set(stdout.trim().split("\n"))], ["reported the dashboard"]);
  assert.equal(stderr, "");
});

test("operators cordon an endpoint, count, and keep health over a reload", async (t) => {
  const [failing, good] = await opened(t, "500", "healthy");
  const config = onBase(failing.url, good.url);
  const selector = await createSelector(config);
  const [first, second] = selector.endpoints().filter(({ network }) => network === BASE);
  await selector.select(input);
  const counts = new Map(selector.metrics().map((row) => [row.id, row]));
  assert.deepEqual([counts.get(first.id).attempts, counts.get(first.id).failures], [1, { fault: 1 }]);
  assert.deepEqual([counts.get(second.id).successes, counts.get(second.id).inFlight], [1, 0]);

  const snapshot = selector.snapshotHealth();
  assert.ok(!snapshot.includes(good.origin), "no URL");
  const reloaded = await createSelector(config);
  reloaded.restoreHealth(snapshot);
  const still = (text) => text.replace(/"(\w+Ms)":\d+/g, '"$1":0');
  assert.equal(still(reloaded.snapshotHealth()), still(snapshot));
  assert.deepEqual(reloaded.health().map(({ id, score }) => [id, score]), selector.health().map(({ id, score }) => [id, score]));
  assert.throws(() => reloaded.restoreHealth("{}"), { code: "invalid-snapshot", name: "SnapshotError" });
  assert.throws(() => reloaded.restoreHealth({}), { name: "TypeError", message: /^snapshot: / });

  reloaded.cordon(second.id);
  assert.ok(reloaded.health().find(({ id }) => id === second.id).cordoned);
  await assert.rejects(reloaded.select(input), { code: "balances-unavailable" });
  reloaded.uncordon(second.id);
  await reloaded.select(input);
  assert.throws(() => reloaded.cordon("nobody"), { name: "TypeError", message: /^id: / });
});

test("the outcomes of an application's own traffic count as those of selections do", async () => {
  const labelled = (label) => ({ label, provider: (body) => answer(body) });
  const selector = await createSelector(onBase(labelled("first"), labelled("second")));
  const [first, second] = selector.endpoints().filter(({ network }) => network === BASE);
  const seen = ({ id }) => selector.health().find((each) => each.id === id);
  selector.report(first.id, { type: "success", latencyMs: 80 });
  assert.deepEqual([seen(first).latencyMs, seen(second)], [80, undefined]);
  selector.report({ network: BASE, endpoint: "second" }, { type: "throttled", retryAfterMs: 5_000 });
  assert.ok(seen(second).throttledForMs > 4_000);
  selector.report(first, { type: "neutral" });
  const before = seen(first).score;
  selector.report(first, { type: "fault" });
  assert.ok(seen(first).score < before);
  const { candidates } = await selector.select(input);
  selector.report(candidates[0], { type: "wrong-chain" });
  assert.deepEqual([seen(first).circuit, seen(second).circuit].sort(), ["closed", "open"]);

  for (const endpoint of ["nobody", { network: BASE }, {}, null, undefined, 5, { ...first, network: "eip155:1" }]) {
    assert.throws(() => selector.report(endpoint, { type: "fault" }), { name: "TypeError", message: /^endpoint: / });
  }
  for (const outcome of ["fault", {}, null, undefined, { type: "toString" }]) {
    assert.throws(() => selector.report(first, outcome), { name: "TypeError", message: /^outcome\.type: / });
  }
  for (const latencyMs of [undefined, null, -1, NaN, Infinity, "80", 80n]) {
    assert.throws(() => selector.report(first, { type: "success", latencyMs }), { name: "TypeError", message: /^outcome\.latencyMs: / });
  }
  for (const retryAfterMs of [-1, NaN, "5"]) {
    assert.throws(() => selector.report(first, { type: "throttled", retryAfterMs }), { name: "TypeError", message: /^outcome\.retryAfterMs: / });
  }
});
