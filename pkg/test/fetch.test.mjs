// Whatever the global `fetch` gives: an application's own, a test's, another library's.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { BalancesUnavailableError, createSelector } from "payroute";
import { answer } from "./support/chain.mjs";
import { evmOffer, onBase, v2 } from "./support/offers.mjs";

const ENDPOINT = "https://rpc.example/v2/0123456789abcdef";
const read = new Response("{}");
await read.text();
const throwing = new Proxy({}, { get: () => assert.fail("looked at") });
const body = (chunk) => ({ getReader: () => ({ read: async () => ({ done: false, value: chunk }), cancel() {} }) });

const NO_ANSWERS = {
  "nothing": async () => undefined,
  "not a promise": () => 7,
  "throws": () => assert.fail(`at ${ENDPOINT}`),
  "rejects": async () => assert.fail(`at ${ENDPOINT}`),
  "a thenable that throws": () => ({ then: () => assert.fail("thenable") }),
  "a body that was read before": async () => read,
  "no status": async () => ({ headers: new Headers(), body: null }),
  "a status that is none": async () => ({ status: "200", headers: new Headers(), body: null }),
  "a status of millions": async () => ({ status: 2e6, headers: new Headers(), body: null }),
  "a stream of Node": async () => ({ status: 200, headers: new Headers(), body: {} }),
  "no headers": async () => ({ status: 200, body: null, arrayBuffer: async () => new ArrayBuffer(0) }),
  "everything throws": async () => throwing,
  "a chunk of text": async () => ({ status: 200, headers: new Headers(), body: body("text") }),
  "no chunk": async () => ({ status: 200, headers: new Headers(), body: body(undefined) }),
  "a buffer that is a number": async () => ({ status: 200, headers: new Headers(), arrayBuffer: async () => 1e15 }),
  "a redirect without a body": async () => ({ status: 302, headers: new Headers() }),
};

function withFetch(t, fetch) {
  const { fetch: original } = globalThis;
  globalThis.fetch = fetch;
  t.after(() => {
    globalThis.fetch = original;
  });
}

for (const [name, fetch] of Object.entries(NO_ANSWERS)) {
  test(`no answer: ${name}`, async (t) => {
    withFetch(t, fetch);
    const selector = await createSelector(onBase(ENDPOINT));
    await assert.rejects(selector.select(v2(evmOffer())), (error) => {
      assert.ok(error instanceof BalancesUnavailableError, String(error));
      assert.ok(!JSON.stringify([error.message, error.candidates]).includes("0123456789abcdef"));
      return true;
    });
    assert.deepEqual(selector.metrics().map(({ inFlight }) => inFlight), [0]);
  });
}

/** A body of `pieces`, each given by a function when it is asked for. */
const pieces = (...given) => ({ getReader: () => ({ read: async () => (given.length > 0 ? { done: false, value: given.shift()() } : { done: true }), cancel() {} }) });

const ANSWERS = {
  "one buffer for every piece": (bytes) => {
    const half = Math.ceil(bytes.length / 2);
    const buffer = new Uint8Array(half);
    const filled = (part) => () => (buffer.set(part), buffer.subarray(0, part.length));
    return { body: pieces(filled(bytes.subarray(0, half)), filled(bytes.subarray(half))) };
  },
  "a buffer that is taken back": (bytes) => {
    const own = bytes.slice();
    // The microtasks between the end of the body and the core.
    const takeBack = async () => {
      for (let tasks = 0; tasks < 3; tasks++) await null;
      structuredClone(own.buffer, { transfer: [own.buffer] });
    };
    return { body: pieces(() => own, () => (takeBack(), new Uint8Array())) };
  },
  "a view of a buffer, whole": (bytes) => ({ arrayBuffer: async () => Buffer.from(bytes) }),
  "headers that are a plain object": (bytes) => ({ body: pieces(() => bytes), headers: { date: "now" } }),
  "headers that throw": (bytes) => ({ body: pieces(() => bytes), headers: throwing }),
};

for (const [name, form] of Object.entries(ANSWERS)) {
  test(`an answer: ${name}`, async (t) => {
    withFetch(t, async (_, { body }) => ({ status: 200, headers: new Headers(), ...form(new TextEncoder().encode(answer(body))) }));
    const selector = await createSelector({ ...onBase(ENDPOINT), routing: { probeTimeoutMs: 500 } });
    const { candidates } = await selector.select(v2(evmOffer()));
    assert.equal(candidates[0].balance, "60000");
    assert.deepEqual(selector.metrics().map(({ inFlight }) => inFlight), [0]);
  });
}

test("a thenable is as good as a promise", async (t) => {
  withFetch(t, (_, { body }) => ({ then: (resolve) => resolve(new Response(answer(body))) }));
  const selector = await createSelector(onBase(ENDPOINT));
  const { requirement } = await selector.select(v2(evmOffer()));
  assert.ok(requirement);
});

test("a fetch that knows no signal and never answers keeps nothing", async () => {
  const script = fileURLToPath(new URL("./support/memory.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script, "never-answers"]);
  assert.ok(Number(stdout) < 300, `grew by ${stdout.trim()} bytes a selection`);
});

test("a body that goes on is ended where fetch does not know the signal", async (t) => {
  let cancelled = 0;
  const endless = () => new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(65_536)), cancel: () => void (cancelled += 1) });
  for (const status of [200, 302]) {
    withFetch(t, async () => ({ status, headers: new Headers(), body: endless() }));
    const selector = await createSelector(onBase(ENDPOINT));
    await assert.rejects(selector.select(v2(evmOffer())), BalancesUnavailableError);
  }
  assert.equal(cancelled, 2);
});

test("what is not read to its end is aborted, whoever reads along", async (t) => {
  const endless = (status) => new Response(new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(65_536)) }), { status });
  const given = [() => endless(200), () => endless(302), () => endless(503), () => ({ status: "200" }), () => ({ status: 200, body: body("text") })];
  for (const give of given) {
    let signal;
    withFetch(t, async (_, init) => {
      ({ signal } = init);
      const response = give();
      response.clone?.();
      return response;
    });
    const selector = await createSelector(onBase(ENDPOINT));
    await assert.rejects(selector.select(v2(evmOffer())), BalancesUnavailableError);
    assert.ok(signal.aborted, String(give));
  }
});

/** What libraries that stand in the place of Node's own say where a redirect is to be an error. */
const REDIRECTS = {
  "node-fetch": `uri requested responds with a redirect, redirect mode is set to error: ${ENDPOINT}`,
  "happy-dom": 'URI requested responded with a redirect, redirect mode is set to "error"',
};

for (const [library, message] of Object.entries(REDIRECTS)) {
  test(`a redirect is told for what it is by ${library}`, async (t) => {
    withFetch(t, async () => {
      throw new Error(message);
    });
    const selector = await createSelector(onBase(ENDPOINT));
    await assert.rejects(selector.select(v2(evmOffer())), (error) => {
      assert.match(error.message, /the endpoint redirects/);
      assert.ok(!error.message.includes("0123456789abcdef"));
      return true;
    });
  });
}

test("what is read to its end is not aborted", async (t) => {
  let signal;
  withFetch(t, async (_, init) => {
    ({ signal } = init);
    return new Response(answer(init.body));
  });
  const selector = await createSelector(onBase(ENDPOINT));
  await selector.select(v2(evmOffer()));
  assert.equal(signal.aborted, false);
});
