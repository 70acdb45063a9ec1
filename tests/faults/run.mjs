// Runs the fault matrix on the npm package and says what came out otherwise than the table says. The
// same file runs in Node and in a page, so it knows neither; `payroute` is the package.

/** What one endpoint may take, in milliseconds: enough for a good answer on a machine that is busy with
 * all the other cases. */
const BUDGET_MS = 3_000;
/** What a selection may take beyond its budgets before it counts as hung. */
const MARGIN_MS = 15_000;
/** How many cases run at once. */
const AT_ONCE = 16;

/** The problems of all cases on `host`, as text. What comes out wrong is tried once more, alone: a
 * machine that stalls makes good answers late, and payroute takes no deadline for evidence then. */
export async function runMatrix(payroute, table, ready, host) {
  const run = async (each) => {
    const row = table.rows.find(({ id }) => id === each.row);
    const expected = { ...table.outcomes[outcomeOf(row.is, host, each.family)], waits: row.waits };
    try {
      await runCase(payroute, ready, each, expected);
    } catch (error) {
      return `${each.id}: ${error?.message ?? error}`;
    }
  };
  const suspects = [];
  const queue = ready.cases.values();
  const work = async () => {
    for (const each of queue) if ((await run(each)) !== undefined) suspects.push(each);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const problems = [];
  for (const each of suspects) {
    const reopened = await fetch(ready.control, { method: "PUT", body: each.id });
    problems.push(await run({ ...each, rpc: await reopened.json() }));
  }
  return problems.filter((problem) => problem !== undefined);
}

function outcomeOf(is, host, family) {
  return typeof is === "string" ? is : (is[host] ?? is[family] ?? is.else);
}

async function runCase({ createSelector }, { control, families }, { id, family, rpc }, expected) {
  const { owners, network, offer } = families[family];
  const events = [];
  const config = {
    owners,
    networks: { [network]: { rpc } },
    routing: { probeTimeoutMs: BUDGET_MS },
    // Back at once, so that coming back can be seen.
    health: { backoffMs: 1, openForMs: 1 },
  };
  const selector = await createSelector(config, { onEvent: (event) => events.push(event) });
  const hosts = rpc.map((url) => new URL(url).host);
  const select = () => selector.select({ x402Version: 2, accepts: [offer] }).catch((error) => error);
  const began = performance.now();
  const answer = await select();
  const took = performance.now() - began;
  expect("an end in time", took < hosts.length * BUDGET_MS + MARGIN_MS, true);
  expectAnswer(answer, hosts, expected);
  expectTraffic(selector, events, hosts, expected);
  expectHealth(selector, hosts, expected);
  const mended = await fetch(control, { method: "POST", body: id });
  expect("the endpoint mended", mended.ok, true);
  await expectReturn(selector, select, hosts, expected);
  selector.free();
}

function expect(what, got, wanted) {
  if (got !== wanted) throw new Error(`${what}: ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`);
}

/** Who told the balance, or which error it came to. */
function expectAnswer(answer, hosts, { class: kind, says, final, reason = "balance-unavailable", cause = "" }) {
  const [candidate] = answer.candidates ?? [];
  const told = says === "answers" ? hosts[0] : final ? undefined : hosts[1];
  expect("the code", answer.code, told === undefined ? "balances-unavailable" : undefined);
  expect("the endpoint", candidate?.endpoint, told ?? hosts[0]);
  expect("the balance", candidate?.balance, told === undefined ? undefined : "60000");
  if (told === undefined) {
    expect("the reason", candidate.rejectionReasons.join(), reason);
    const detail = candidate.rejectionDetails[reason];
    expect(`the cause in "${detail}"`, detail.includes(cause), true);
  }
}

/** What was counted and what was told, failover included. */
function expectTraffic(selector, events, hosts, { class: kind, says, final, health, alone }) {
  const row = (host) => selector.metrics().find(({ endpoint }) => endpoint === host);
  expect("the failures", JSON.stringify(row(hosts[0]).failures), JSON.stringify(kind === undefined ? {} : { [kind]: 1 }));
  const second = hosts.length > 1 && says !== "answers" && !final;
  expect("a second request", row(hosts[1])?.successes ?? 0, second ? 1 : 0);
  const types = events.filter(({ type }) => type !== "circuit-half-open").map(({ type }) => type);
  const expected = [];
  if (health === "opened") expected.push("identity-mismatch", "circuit-opened");
  else if (health === "throttled") expected.push("throttled");
  else if (kind !== undefined && !final) expected.push("failed");
  if (alone === "offline" && !second) expected.push("offline");
  if (second) expected.push("failover");
  expect("the events", types.join(), expected.join());
}

/** The share of successes after the one attempt: a new endpoint has 0.8. */
const RATES = { success: 0.84, none: 0.8, throttled: 0.8, "soft-fault": 0.72, fault: 0.64, opened: 0.64, offline: 0.8 };

function expectHealth(selector, hosts, { health, alone, waits }) {
  const row = selector.health().find(({ endpoint }) => endpoint === hosts[0]);
  const effect = hosts.length === 1 ? (alone ?? health) : health;
  expect("the success rate", row?.successRate ?? 0.8, RATES[effect]);
  expect("what opened it", row?.openedFor, effect === "opened" ? "wrong-chain" : undefined);
  const wait = row?.throttledForMs ?? 0;
  if (waits !== undefined) expect(`a wait of ${wait} ms`, wait > waits[0] && wait <= waits[1], true);
  if (effect !== "throttled") expect("the wait", wait, 0);
}

/** Once it is well it is asked again, if it did not ask for patience; alone it is asked anyway. */
async function expectReturn(selector, select, hosts, { health, waits = [0] }) {
  const patient = hosts.length > 1 && health === "throttled" && waits[0] > 0;
  if (patient) {
    expect("who answers meanwhile", (await select()).candidates?.[0].endpoint, hosts[1]);
    return;
  }
  const until = performance.now() + BUDGET_MS + MARGIN_MS;
  for (;;) {
    const { candidates } = await select();
    if (candidates?.[0].endpoint === hosts[0] && candidates[0].balance === "60000") return;
    if (performance.now() > until) throw new Error(`does not come back: ${JSON.stringify(candidates?.[0])}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
