// Endpoints that misbehave, selections that are given up, and many at once.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { getEventListeners, setMaxListeners } from "node:events";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { BalancesUnavailableError, InsufficientLiquidityError, createSelector } from "payroute";
import { answer } from "./support/chain.mjs";
import { startFaulty } from "./support/faulty.mjs";
import { BASE, evmOffer, onBase, v2 } from "./support/offers.mjs";

let server;
before(async () => {
  server = await startFaulty();
});
after(() => server?.stop());

const input = v2(evmOffer());

test("a bad endpoint costs its own share and the next one answers", async (t) => {
  const bad = ["/hang", "/stall", "/reset", "/error", "/busy", "/html", "/empty", "/away", "/huge", "/bomb", "/other-chain"];
  for (const path of bad) {
    await t.test(path, async () => {
      const selector = await createSelector({ ...onBase(server.at(path), server.at("/ok")), routing: { probeTimeoutMs: 300 } });
      const { candidates } = await selector.select(input);
      assert.equal(candidates[0].balance, "60000");
      const again = performance.now();
      await selector.select(input);
      assert.ok(performance.now() - again < 250, "the bad endpoint is passed over the second time");
    });
  }
});

test("what could not be read is never called poor", async () => {
  const selector = await createSelector({ ...onBase(server.at("/error"), server.at("/hang")), routing: { probeTimeoutMs: 200 } });
  await assert.rejects(selector.select(input), (error) => {
    assert.ok(error instanceof BalancesUnavailableError);
    assert.ok(!(error instanceof InsufficientLiquidityError));
    assert.deepEqual(error.candidates[0].rejectionReasons, ["balance-unavailable"]);
    assert.equal("balance" in error.candidates[0], false);
    return true;
  });
});

test("a redirect is not followed", async () => {
  const selector = await createSelector(onBase(server.at("/away")));
  await assert.rejects(selector.select(input), BalancesUnavailableError);
  assert.equal(server.asked.at(-1).path, "/away");
});

test("nothing of a URL but its host is shown", async () => {
  const secret = "s3cr3t";
  const url = new URL(server.at(`/error?key=${secret}`));
  url.username = "user";
  url.password = secret;
  const selector = await createSelector(onBase(url.href));
  await assert.rejects(selector.select(input), (error) => {
    const everything = `${error.message} ${error.stack} ${JSON.stringify(error)} ${error.explain()}`;
    assert.ok(!everything.includes(secret), everything);
    assert.equal(error.candidates[0].endpoint, url.host);
    return true;
  });
  const { headers, body } = server.asked.at(-1);
  assert.equal(headers.authorization, `Basic ${Buffer.from(`user:${secret}`).toString("base64")}`);
  assert.ok(!body.includes(secret));
});

test("an abort rejects with the reason, ends the requests and returns what was held", async () => {
  const selector = await createSelector({ ...onBase(server.at("/hang")), routing: { probeTimeoutMs: 5_000 } });
  const broken = server.brokenOff();
  const controller = new AbortController();
  const reason = new Error("the user closed the dialog");
  const started = performance.now();
  const selecting = selector.select(input, { signal: controller.signal });
  await sleep(100);
  controller.abort(reason);
  await assert.rejects(selecting, (error) => error === reason);
  assert.ok(performance.now() - started < 1_000);
  await sleep(100);
  assert.equal(server.brokenOff(), broken + 1);
  await assert.rejects(selector.select(input, { signal: controller.signal }), (error) => error === reason);
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
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
  assert.ok(Number(stdout) < 2_000_000, `grew by ${stdout.trim()} bytes over 3,000 selections`);
});

test("a freed selector says so, and selections under way go on", async () => {
  const selector = await createSelector(onBase(server.at("/slow")));
  const selecting = selector.select(input);
  selector.free();
  selector.free();
  assert.equal((await selecting).candidates[0].balance, "60000");
  await assert.rejects(selector.select(input), /freed/);
});

test("the least is sent: a POST of JSON without cookies or a referrer", async () => {
  const selector = await createSelector(onBase(server.at("/ok?x=1")));
  await selector.select(input);
  const { headers, body } = server.asked.at(-1);
  assert.equal(headers["content-type"], "application/json");
  assert.equal(headers.cookie, undefined);
  assert.equal(headers.referer, undefined);
  assert.ok(body.includes("eth_chainId"));
  assert.ok(!body.includes(BASE));
});

test("health is a readable snapshot, and events tell what changed", async () => {
  const events = [];
  const selector = await createSelector(onBase(server.at("/other-chain"), server.at("/ok")), {
    onEvent: (event) => events.push(event),
  });
  assert.deepEqual(selector.health(), []);
  await selector.select(input);
  assert.deepEqual(
    events.map(({ type }) => type).filter((type) => type !== "failed"),
    ["identity-mismatch", "circuit-opened", "failover"],
  );
  assert.equal(events.find(({ type }) => type === "circuit-opened").reason, "wrong-chain");
  const host = new URL(server.origin).host;
  const health = selector.health();
  assert.deepEqual(health.map(({ endpoint, network }) => [endpoint, network]), [[host, BASE], [host, BASE]]);
  assert.deepEqual(health.map(({ circuit }) => circuit).sort(), ["closed", "open"]);
  selector.resetHealth();
  assert.deepEqual(selector.health(), []);
});

test("operators cordon an endpoint, count, and keep health over a reload", async () => {
  const config = onBase(server.at("/error"), server.at("/ok"));
  const selector = await createSelector(config);
  const [first, second] = selector.endpoints().filter(({ network }) => network === BASE);
  await selector.select(input);
  const counts = new Map(selector.metrics().map((row) => [row.id, row]));
  assert.deepEqual([counts.get(first.id).attempts, counts.get(first.id).failures], [1, { fault: 1 }]);
  assert.deepEqual([counts.get(second.id).successes, counts.get(second.id).inFlight], [1, 0]);

  const snapshot = selector.snapshotHealth();
  assert.ok(!snapshot.includes(server.origin), "no URL");
  const reloaded = await createSelector(config);
  reloaded.restoreHealth(snapshot);
  const still = (text) => text.replace(/"(\w+Ms)":\d+/g, '"$1":0');
  assert.equal(still(reloaded.snapshotHealth()), still(snapshot));
  assert.deepEqual(reloaded.health().map(({ id, score }) => [id, score]), selector.health().map(({ id, score }) => [id, score]));
  assert.throws(() => reloaded.restoreHealth("{}"), { code: "configuration", path: "snapshot" });

  reloaded.cordon(second.id);
  assert.ok(reloaded.health().find(({ id }) => id === second.id).cordoned);
  await assert.rejects(reloaded.select(input), { code: "balances-unavailable" });
  reloaded.uncordon(second.id);
  await reloaded.select(input);
  assert.throws(() => reloaded.cordon("nobody"), { code: "configuration", path: "id" });
});
