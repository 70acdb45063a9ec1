// A secret in any part of a URL, of a header or of what a provider says is in nothing that anyone can
// see. The Rust twin is tests/it/secrets.rs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { HealthIndex, createSelector, parsePaymentRequired } from "payroute";
import { openEndpoint } from "../../tests/faults/server.mjs";
import { BASE, evmOffer, headerValue, onBase, v2 } from "./support/offers.mjs";

const SECRETS = ["s3cr3tuser", "s3cr3tpass", "s3cr3tpath", "s3cr3tquery", "s3cr3tfragment", "s3cr3theader", "s3cr3tword"];
/** As they are, and as an Authorization header carries them. */
const FORMS = [...SECRETS, Buffer.from("s3cr3tuser:s3cr3tpass").toString("base64")];

const secretUrl = (origin) => `${origin.replace("//", "//s3cr3tuser:s3cr3tpass@")}/s3cr3tpath?key=s3cr3tquery#s3cr3tfragment`;

/** All that can be seen of a value: as text, as JSON, in a debugger, getters and hidden fields included. */
function seen(value) {
  const deep = inspect(value, { depth: 20, showHidden: true, getters: true, maxArrayLength: null, maxStringLength: null });
  const causes = value instanceof Error ? [value.stack, value.message, value.cause && seen(value.cause)] : [];
  return [String(value), JSON.stringify(value), deep, ...causes].join("\n");
}

function assertClean(what, value) {
  const text = typeof value === "string" ? value : seen(value);
  for (const secret of FORMS) assert.ok(!text.includes(secret), `${what} shows ${secret}: ${text}`);
}

/** What `work` says on the console meanwhile. */
async function overheard(t, work) {
  const heard = [];
  const mocks = ["debug", "log", "info", "warn", "error", "trace"].map((name) => t.mock.method(console, name, (...words) => heard.push(words)));
  await work();
  for (const { mock } of mocks) mock.restore();
  return heard;
}

const echo = { jsonrpc: "2.0", id: 1, error: { code: -32600, message: "bad key s3cr3tpath s3cr3tquery of s3cr3tuser:s3cr3tpass" } };
const cases = [
  ["refused", (row) => row],
  ["reset", () => ({ connection: "reset" })],
  ["closed in its body", () => ({ send: "{head}{half}", then: "close" })],
  ["an error that quotes the key", () => ({ body: JSON.stringify(echo) })],
  ["401 that quotes the key", () => ({ status: 401, body: JSON.stringify(echo) })],
  ["429 with words in its headers", () => ({ status: 429, headers: "retry-after: s3cr3theader\r\nset-cookie: s3cr3theader=1\r\n", body: "s3cr3tpath" })],
  ["500 that quotes the path", () => ({ status: 500, body: "no s3cr3tpath here" })],
  ["a page", () => ({ body: "<html>s3cr3tpath" })],
  ["a redirect", () => ({ status: 307, headers: "location: https://x.test/s3cr3tpath?key=s3cr3tquery\r\n", body: "" })],
  ["another chain", () => ({ chain: { chainId: 1 } })],
  ["hangs", () => ({ send: "", then: "hang" })],
  ["all is well", () => ({})],
];

for (const [name, does] of cases) {
  test(`no secret is shown: ${name}`, async (t) => {
    const endpoint = await openEndpoint(name === "refused" ? "refused" : { does: does() });
    t.after(() => endpoint.stop());
    const events = [];
    const config = { ...onBase({ url: secretUrl(endpoint.origin), label: "primary" }), routing: { probeTimeoutMs: 1_000 } };
    config.networks[BASE].referenceUrl = secretUrl(endpoint.origin.replace("127.0.0.1", "localhost"));
    const health = new HealthIndex();
    let outcome;
    const heard = await overheard(t, async () => {
      const selector = await createSelector(config, { health, onEvent: (event) => events.push(event) });
      outcome = await selector.select(v2(evmOffer())).catch((error) => error);
      assertClean("the selector", selector);
      assertClean("its endpoints", selector.endpoints());
      assertClean("its metrics", selector.metrics());
      assertClean("its health", selector.health());
      assertClean("its snapshot", selector.snapshotHealth());
    });
    assertClean("the console", heard);
    assertClean("the outcome", outcome);
    assertClean("the explanation", outcome.explain());
    assertClean("the candidates", outcome.candidates);
    assertClean("the events", events);
    assertClean("the shared health", health);
    assert.equal(outcome.candidates[0].endpoint, endpoint.host, "the host is what helps");
    if (endpoint.asked.length > 0) {
      const { path, headers, body } = endpoint.asked.find(({ headers }) => headers.host.startsWith("127"));
      assert.equal(path, "/s3cr3tpath?key=s3cr3tquery");
      assert.equal(headers.authorization, `Basic ${FORMS.at(-1)}`);
      assertClean("the body", body);
    }
  });
}

test("nothing that a provider says is repeated", async () => {
  const words = "s3cr3tword at https://x.test/s3cr3tpath";
  const refuse = () => Promise.reject(Object.assign(new Error(words), { code: -32603, data: words, [words]: words }));
  const providers = [
    { request: refuse },
    { request: () => words },
    { request: () => ({ [words]: words }) },
    refuse,
    () => words,
    () => ({ toString: () => words }),
    () => JSON.stringify({ id: 1, result: words, [words]: words }),
    Object.defineProperty(() => words, "name", { value: words }),
  ];
  for (const provider of providers) {
    const events = [];
    const endpoint = typeof provider === "function" ? provider : { provider };
    const selector = await createSelector(onBase(endpoint), { onEvent: (event) => events.push(event) });
    const error = await selector.select(v2(evmOffer())).catch((error) => error);
    assert.equal(error.code, "balances-unavailable");
    for (const value of [error, error.explain(), events, selector, selector.endpoints(), selector.health(), selector.snapshotHealth()]) {
      assertClean(String(provider), value);
    }
  }
});

test("configuration errors quote no value, whatever key it stands under", async () => {
  const url = secretUrl("https://x.test");
  const network = (network) => ({ networks: { base: network } });
  const configs = [
    network({ rpc: url }),
    network({ rpc: [{ url: url.replace("https", "http") }] }),
    network({ rpc: [url, url] }),
    network({ rpc: [{ url: "https://x.test", label: url }] }),
    network({ rpc: [{ provider: () => "", label: url }] }),
    network({ rpc: [{ provider: url }] }),
    network({ rpc: [{ provider: { [url]: url } }] }),
    network({ rpc: [{ url, weight: 5n }] }),
    network({ rpc: [{ [url]: 5n }] }),
    network({ rpc: [new URL(url)] }),
    network({ rpc: [Symbol(url)] }),
    network({ rpc: [Object.assign(() => "", { request() {}, url })], name: url }),
    network({ [url]: 5n }),
    network({ referenceUrl: `ftp${url.slice(5)}` }),
    network({ strategy: url }),
    { networks: { [url]: { rpc: 5n } } },
    { networks: { "https:x.test/s3cr3tpath": { rpc: 5n } } },
    { networks: { "HTTPS:x.test/s3cr3tpath": 5n } },
    { networks: { "wss:x.test/s3cr3tpath": {} } },
    { [url]: 5n },
    { owners: { eip155: url } },
    { owners: new Map([[url, url]]) },
    { fees: { base: url } },
    { policy: { maxAmount: { [url]: "1" } } },
    { routing: { preferNetworks: [url] } },
    { health: { openForMs: url } },
  ];
  for (const config of configs) {
    const error = await createSelector(config).then(() => assert.fail(`accepted: ${inspect(config)}`), (error) => error);
    assert.equal(error.code, "configuration");
    assertClean("the error", error);
  }
});

test("nothing of a response but its terms is repeated", async () => {
  const headers = { authorization: "s3cr3theader", "set-cookie": "id=s3cr3theader", "x-api-key": "s3cr3theader", "payment-required": "%s3cr3tword%" };
  const unreadable = new Response("s3cr3tword", { status: 402, headers });
  assertClean("the error", await parsePaymentRequired(unreadable).catch((error) => error));
  const readable = new Response("s3cr3tword", { status: 402, headers: { ...headers, "payment-required": headerValue(v2(evmOffer())) } });
  assertClean("the terms", await parsePaymentRequired(readable));
});
