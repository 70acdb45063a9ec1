// Bounds on what comes in, each at the bound and one past it. Bytes of an endpoint's answer are in the
// fault matrix; the core's own bounds are in tests/it/limits.rs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidPaymentRequiredError, createSelector, init, parsePaymentRequired } from "payroute";
import { openEndpoint } from "../../tests/faults/server.mjs";
import { answer } from "./support/chain.mjs";
import { evmOffer, headerValue, onBase, v2 } from "./support/offers.mjs";

const holding = () => createSelector(onBase((body) => answer(body)));
const document = JSON.stringify(v2(evmOffer()));

test("what a function answers is read to 262,144 bytes, however they are spelled", async () => {
  const tail = ',"x":"é"}';
  const padded = (bytes) => (body) => {
    const start = answer(body).slice(0, -1);
    return start + " ".repeat(bytes - start.length - tail.length - 1) + tail;
  };
  const select = async (endpoint) => (await createSelector(onBase(endpoint))).select(v2(evmOffer()));
  assert.equal((await select(padded(262_144))).candidates[0].balance, "60000");
  for (const endpoint of [padded(262_145), () => "x".repeat(50_000_000)]) {
    await assert.rejects(select(endpoint), /the answer has over 262144 bytes/);
  }
});

test("a 402 is read to its bounds in every form", async () => {
  const padded = (length) => document.padEnd(length);
  const many = (count) => v2(...Array.from({ length: count }, () => evmOffer()));
  const response = (body, headers) => new Response(body, { status: 402, headers });
  const nested = (levels) => JSON.parse("[".repeat(levels) + "]".repeat(levels));
  const deep = (levels) => ({ ...v2(evmOffer()), x: nested(levels - 1) });
  for (const [at, past, problem] of [
    [padded(1_048_576), padded(1_048_577), /1048577 bytes; at most 1048576/],
    [padded(1_048_576), "9".repeat(50_000_000), /at most 65536/],
    [response(padded(1_048_576)), response(padded(1_048_577)), /at most 1048576/],
    [response("", { "payment-required": headerOf(65_536) }), response("", { "payment-required": headerOf(65_540) }), /65540 bytes; at most 65536/],
    [many(64), many(65), /65 entries in accepts; at most 64/],
    [many(64), many(10_000), /10000 entries|at most 1048576/],
    [deep(32), deep(33), /deeper than 32/],
    [deep(32), deep(5_000), /deeper than 128/],
    [JSON.stringify(deep(32)), `{"accepts":${"[".repeat(10_000)}`, /deeper than 32/],
  ]) {
    assert.ok((await parsePaymentRequired(at)).requirements.length > 0);
    await assert.rejects(parsePaymentRequired(past), (error) => {
      assert.ok(error instanceof InvalidPaymentRequiredError);
      assert.match(error.message, problem);
      assert.ok(error.message.length < 500);
      return true;
    });
  }
});

/** A header value of this many characters, a whole number of fours. */
function headerOf(length) {
  const value = Buffer.from(document.padEnd((length / 4) * 3)).toString("base64");
  assert.equal(value.length, length);
  return value;
}

test("an amount of 50 MB of digits is one malformed entry", async () => {
  const { requirements } = await parsePaymentRequired(v2({ ...evmOffer(), amount: "9".repeat(500_000) }, evmOffer()));
  assert.deepEqual([requirements[0].malformed.field, requirements[1].terms.amount], ["amount", "50000"]);
  const error = await parsePaymentRequired(v2({ ...evmOffer(), amount: "9".repeat(50_000_000) }, evmOffer())).catch((error) => error);
  assert.match(error.message, /at most 1048576 are read/);
});

test("a merchant's body that never ends is cut off, in gzip too", async (t) => {
  const selector = await holding();
  const spaces = { repeat: " ", times: 60_000_000 };
  const forever = "28\r\n0123456789012345678901234567890123456789\r\n";
  for (const does of [
    { status: 402, send: "HTTP/1.1 402 X\r\n{headers}transfer-encoding: chunked\r\n\r\n", then: "flood", repeat: forever },
    { status: 402, body: spaces },
    { status: 402, body: spaces, gzip: true, headers: "content-encoding: gzip\r\n" },
  ]) {
    const merchant = await openEndpoint({ does });
    t.after(() => merchant.stop());
    const paid = () => fetch(merchant.url, { method: "POST", body: "{}" });
    await assert.rejects(selector.select(await paid()), /1048577 bytes; at most 1048576 are read/);
    await assert.rejects(parsePaymentRequired(await paid()), /1048577 bytes; at most 1048576 are read/);
  }
});

test("a merchant's body is waited for ten seconds", async (t) => {
  await init();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (const [start, outcome] of [[document, "read"], [document.slice(0, 50), "refused"]]) {
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(start)) });
    let settled;
    const parsing = parsePaymentRequired(new Response(body, { status: 402 })).then(
      () => (settled = "read"),
      () => (settled = "refused"),
    );
    await turns();
    t.mock.timers.tick(9_999);
    await turns();
    assert.equal(settled, undefined);
    t.mock.timers.tick(1);
    await parsing;
    assert.equal(settled, outcome);
  }
});

test("a body that never ends is said to be that, with what was wrong with what came", async (t) => {
  const selector = await holding();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const endless = (start, headers) =>
    new Response(new ReadableStream({ start: (controller) => void (start && controller.enqueue(new TextEncoder().encode(start))) }), { status: 402, headers });
  const withoutStreams = { status: 402, bodyUsed: false, headers: new Headers(), clone: () => ({ ...withoutStreams }), arrayBuffer: () => new Promise(() => {}) };
  const late = "response body was not read to its end within 10 s, and what came";
  const legacy = { "x-payment-required": "%" };
  for (const [response, message] of [
    [endless(""), `${late} is empty; `],
    [withoutStreams, `${late} is empty; `],
    [endless("{}"), `${late} has no accepts; `],
    [endless(document.slice(0, 50)), `${late} is not JSON`],
  ]) {
    for (const read of [(input) => selector.select(input), parsePaymentRequired]) {
      const reading = assert.rejects(read(response), (error) => {
        assert.ok(error instanceof InvalidPaymentRequiredError);
        assert.ok(error.message.includes(message), error.message);
        const { problem } = error.carriers.find(({ carrier }) => carrier === "body");
        assert.ok(error.message.includes(`response body ${problem}`) && problem.includes(" 10 s, and what came "), problem);
        return true;
      });
      await turns();
      t.mock.timers.tick(10_000);
      await reading;
    }
  }
  const reading = assert.rejects(selector.select(endless("", legacy)), ({ carriers }) => {
    assert.deepEqual(carriers.filter(({ problem }) => problem.includes("10 s")).map(({ carrier }) => carrier), ["body"]);
    return true;
  });
  await turns();
  t.mock.timers.tick(10_000);
  await reading;
  await assert.rejects(selector.select(new Response("", { status: 402 })), /; response body is empty;/);
});

/** Lets everything that is ready happen. */
async function turns() {
  for (let count = 0; count < 10; count++) await new Promise((resolve) => setImmediate(resolve));
}
