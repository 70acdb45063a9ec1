// The packed tarball, installed and run as a stranger would: Node in both module systems, two
// bundlers, a worker, and a real browser.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { build as esbuild } from "esbuild";
import { build as vite } from "vite";
import webpack from "webpack";
import workerd from "workerd";
import { absent, executable, launch } from "./support/chromium.mjs";
import { openEndpoint } from "../../tests/faults/server.mjs";
import { startLocalnet } from "./support/localnet.mjs";
import { BASE, SOLANA, USDC, evmOffer, onBase, solanaOffer, v2 } from "./support/offers.mjs";
import { freePort } from "./support/port.mjs";
import { WITHOUT_KEYWORD, serve, unbuilt } from "./support/site.mjs";
import { PACKAGE, filesBelow, installed } from "./support/tarball.mjs";

let app;
let server;
before(async () => {
  app = installed();
  server = await openEndpoint();
});
after(async () => {
  app?.remove();
  await server?.stop();
});

const setup = () => ({ config: onBase(server.url), paymentRequired: v2(evmOffer()) });

test("the tarball runs in Node, as an ES module and as CommonJS", () => {
  return Promise.all(
    ["esm.mjs", "cjs.cjs"].map(async (file) => {
      const child = spawn(process.execPath, [join(app.folder, "src", file), JSON.stringify(setup())], { stdio: ["ignore", "pipe", "inherit"] });
      const output = await new Response(child.stdout).text();
      assert.deepEqual(JSON.parse(output), { same: true, balance: "60000", readable: 1 });
    }),
  );
});

test("who installs it installs nothing else", () => {
  const modules = join(app.folder, "node_modules");
  assert.deepEqual(readdirSync(modules).filter((name) => !name.startsWith(".")), ["payroute"]);
  const manifest = JSON.parse(readFileSync(join(modules, "payroute/package.json"), "utf8"));
  const kinds = Object.keys(manifest).filter((name) => /dependencies$/i.test(name));
  assert.deepEqual(kinds.sort(), ["devDependencies", "peerDependencies"]);
  const { peerDependencies, peerDependenciesMeta } = manifest;
  for (const name of Object.keys(peerDependencies)) assert.equal(peerDependenciesMeta[name]?.optional, true, name);
});

test("what its documents point to is in it", () => {
  const folder = join(app.folder, "node_modules/payroute");
  let followed = 0;
  for (const document of filesBelow(folder, ".md")) {
    const prose = readFileSync(join(folder, document), "utf8").replace(/^```.*?^```$/gms, "");
    for (const [, target] of prose.matchAll(/\]\(([^)#]+)[^)]*\)/g)) {
      if (target.includes("://")) continue;
      const path = join(dirname(join(folder, document)), target);
      assert.ok(path.startsWith(folder) && existsSync(path), `${document}: ${target}`);
      followed += 1;
    }
  }
  assert.ok(followed >= 30, `only ${followed} links were found`);
});

test("publint and arethetypeswrong have nothing to say", () => {
  const run = (tool, ...args) => execFileSync(process.execPath, [join(PACKAGE, "node_modules", tool), ...args], { encoding: "utf8", cwd: PACKAGE });
  run("publint/src/cli.js", app.tarball, "--strict");
  // node10 knows no exports map; the .wasm file is no module.
  run("@arethetypeswrong/cli/dist/index.js", app.tarball, "--profile", "node16", "--exclude-entrypoints", "core.wasm");
});

for (const [host, ...compatibility] of [
  ["a worker", `compatibilityDate = "2025-01-01"`],
  ["a worker with Node's modules", `compatibilityDate = "2026-05-01"`, `compatibilityFlags = ["nodejs_compat"]`],
]) {
  test(`${host} runs it from the imported module`, async () => works(compatibility));
}

async function works(compatibility) {
  const folder = join(app.folder, "worker");
  const wasm = {
    name: "wasm-as-module",
    setup: (build) => build.onResolve({ filter: /\.wasm$/ }, () => ({ path: "./core_bg.wasm", external: true })),
  };
  await esbuild({
    absWorkingDir: app.folder,
    entryPoints: ["src/worker.mjs"],
    outfile: join(folder, "worker.mjs"),
    bundle: true,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    plugins: [wasm],
  });
  writeFileSync(join(folder, "core_bg.wasm"), readFileSync(join(app.folder, "node_modules/payroute/wasm/core_bg.wasm")));
  const port = await freePort();
  writeFileSync(join(folder, "config.capnp"), workerConfig(port, compatibility));
  // The program itself: the package's command starts it as a child that would outlive a kill.
  const worker = spawn(workerd.default, ["serve", "config.capnp"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  try {
    const answer = await whenUp(`http://127.0.0.1:${port}/`, JSON.stringify(setup()));
    assert.deepEqual(answer, { same: true, balance: "60000", early: "balances-unavailable" });
  } finally {
    worker.kill("SIGKILL");
    await once(worker, "exit");
  }
}

function workerConfig(port, compatibility) {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [
        (name = "worker.mjs", esModule = embed "worker.mjs"),
        (name = "core_bg.wasm", wasm = embed "core_bg.wasm"),
      ],
      ${compatibility.join(", ")},
    )),
    (name = "internet", network = (allow = ["private", "public"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`;
}

async function whenUp(url, body) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await (await fetch(url, { method: "POST", body })).json();
    } catch (error) {
      if (attempt >= 100) throw error;
      await sleep(100);
    }
  }
}

/** The app by each way of delivering it: a folder to serve, and what to change on the way. */
const deliveries = {
  async "a plain module script"() {
    return { folder: app.folder, page: "/src/", change: unbuilt };
  },
  async "Vite 8, built"() {
    const outDir = join(app.folder, "dist-vite");
    await vite({ root: join(app.folder, "src"), logLevel: "error", configFile: false, build: { outDir } });
    return { folder: outDir, page: "/" };
  },
  async "webpack 5, built"() {
    const path = join(app.folder, "dist-webpack");
    const compiler = webpack({
      mode: "production",
      context: app.folder,
      entry: "./src/app.mjs",
      output: { path, filename: "app.mjs" },
      performance: { hints: false },
    });
    const stats = await promisify(compiler.run.bind(compiler))();
    await promisify(compiler.close.bind(compiler))();
    assert.ok(!stats.hasErrors() && !stats.hasWarnings(), stats.toString("errors-warnings"));
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "index.html"), readFileSync(join(app.folder, "src/index.html")));
    return { folder: path, page: "/" };
  },
};

test("a page selects across both chains and shows what is missing", { skip: executable ? false : absent }, async (t) => {
  const net = await startLocalnet();
  const browser = await launch();
  try {
    const paymentRequired = v2(evmOffer(BASE, "50000", net.merchant.eip155), solanaOffer(net));
    const rpc = (network) => ({ rpc: [net.networks[network].rpc] });
    const networks = { [BASE]: rpc(BASE), [SOLANA]: rpc(SOLANA) };
    const both = () => ({ config: { owners: net.buyer, networks, routing: { probeTimeoutMs: 10_000 } }, paymentRequired });
    await give(net, BASE, "20000");
    const ready = [];
    for (const [name, deliver] of Object.entries(deliveries)) {
      await t.test(`${name}: short`, async () => {
        const delivery = await deliver();
        ready.push([name, delivery]);
        if (delivery.folder !== app.folder) assert.equal(filesBelow(delivery.folder, ".wasm").length, 1);
        const shown = await open(browser, delivery, { setup: both });
        assert.deepEqual(shown, {
          deficits: ["0.03 USDC short on Base (needs 0.05, has 0.02)", "0.05 USDC short on Solana (needs 0.05, has 0)"],
        });
      });
    }
    await give(net, SOLANA, "60000");
    for (const [name, delivery] of ready) {
      await t.test(`${name}: funded`, async () => {
        const shown = await open(browser, delivery, { setup: both });
        assert.deepEqual(shown, { chosen: ["Solana: holds 0.06 USDC"], same: ["true"] });
      });
    }
    await t.test("a page without the keyword in its policy is told which", async () => {
      const shown = await open(browser, ready[0][1], { setup: both, policy: WITHOUT_KEYWORD });
      assert.equal(shown.error[0], "module-unavailable");
      assert.match(shown.error[1], /'wasm-unsafe-eval'/);
    });
  } finally {
    await browser.close();
    await net.stop();
  }
});

function give(net, network, amount) {
  const family = network.split(":")[0];
  return net.control({ op: "transfer", network, asset: USDC[network], from: net.treasury[family], to: net.buyer[family], amount });
}

/** Opens the delivered page; its lists by id. */
async function open(browser, { folder, page, change }, options) {
  const site = await serve(folder, { change, ...options });
  const tab = await browser.newPage();
  try {
    await tab.goto(site.origin + page);
    await tab.waitForSelector("body[data-done]", { timeout: 30_000 });
    return await tab.evaluate(() => Object.fromEntries([...document.querySelectorAll("ul")].map((list) => [list.id, [...list.children].map((line) => line.textContent)])));
  } finally {
    await tab.close();
    site.stop();
  }
}
