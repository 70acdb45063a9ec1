// One function an environment: makes the application, runs a selection in it, checks the answer.

import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { openChromium, provide } from "../test/support/chromium.mjs";
import { matrixInPage } from "../test/support/matrix.mjs";
import { freePort } from "../test/support/port.mjs";
import { shown } from "../test/support/shown.mjs";
import { STRICT, WITHOUT_KEYWORD, serve, unbuilt } from "../test/support/site.mjs";
import { filesBelow, installed } from "../test/support/tarball.mjs";
import { openFirefox, openWebKit } from "../test/support/webdriver.mjs";

const LIMIT = { encoding: "utf8", timeout: 240_000, stdio: ["ignore", "pipe", "inherit"] };

async function withApp(packages, work) {
  const app = installed(packages);
  try {
    return await work(app.folder);
  } finally {
    app.remove();
  }
}

function versionOf(folder, name) {
  return JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"))).version;
}

const CHOSEN = { chosen: ["Base: holds 0.06 USDC"], same: ["true"] };

/** Expects `lists` on the page at `url`; the version of the browser. */
async function expectShown(url, lists, open = openChromium) {
  const page = await shown(url, open);
  assert.deepEqual(page.lists, lists);
  return page.version;
}

function runtime(packages, version, command) {
  return (setup) =>
    withApp(packages, async (folder) => {
      const [program, ...args] = command(folder);
      for (const file of ["esm.mjs", "cjs.cjs"]) {
        // Not synchronously: the endpoint that it asks is in this process.
        const given = [...args, join(folder, "src", file), JSON.stringify(setup())];
        const { stdout } = await promisify(execFile)(program, given, { cwd: folder, timeout: 60_000 });
        assert.deepEqual(JSON.parse(stdout), { same: true, balance: "60000", readable: 1 });
      }
      return versionOf(folder, version);
    });
}

function viteBuild(version, open) {
  return (setup) =>
    withApp([`vite@${version}`], async (folder) => {
      execFileSync(process.execPath, ["node_modules/vite/bin/vite.js", "build", "src", "--logLevel", "error", "--outDir", "../dist"], { ...LIMIT, cwd: folder });
      assert.equal(filesBelow(join(folder, "dist"), ".wasm").length, 1);
      const site = await serve(join(folder, "dist"), { setup });
      try {
        const browser = await expectShown(`${site.origin}/`, CHOSEN, open);
        return open === undefined ? versionOf(folder, "vite") : `${browser}, Vite ${versionOf(folder, "vite")}`;
      } finally {
        site.stop();
      }
    });
}

/** Nothing built: a module of the page and one of its worker, and a policy that lacks the keyword. */
function plain(open) {
  return (setup) =>
    withApp([], async (folder) => {
      const at = async (page, policy, look) => {
        const site = await serve(folder, { setup, policy, change: unbuilt });
        try {
          return await look(`${site.origin}/src/${page}`);
        } finally {
          site.stop();
        }
      };
      await at("thread.html", STRICT, (url) => expectShown(url, { worker: ["60000"] }, open));
      const { lists } = await at("index.html", WITHOUT_KEYWORD, (url) => shown(url, open));
      assert.equal(lists.error?.[0], "module-unavailable");
      assert.match(lists.error[1], /script-src needs 'wasm-unsafe-eval'/);
      return at("index.html", STRICT, (url) => expectShown(url, CHOSEN, open));
    });
}

function viteDev(version) {
  return (setup) =>
    withApp([`vite@${version}`], async (folder) => {
      const port = await freePort();
      mkdirSync(join(folder, "src/public"));
      writeFileSync(join(folder, "src/public/setup.json"), JSON.stringify(setup()));
      const args = ["node_modules/vite/bin/vite.js", "src", "--host", "127.0.0.1", "--port", String(port), "--strictPort", "--logLevel", "error"];
      const dev = spawn(process.execPath, args, { cwd: folder, stdio: "ignore" });
      try {
        await expectShown(`http://127.0.0.1:${port}/`, CHOSEN);
      } finally {
        dev.kill("SIGKILL");
      }
      return versionOf(folder, "vite");
    });
}

function next(bundler) {
  return (setup) =>
    withApp(["next@16", "react@19", "react-dom@19"], async (folder) => {
      nextApp(folder, setup());
      const command = join(folder, "node_modules/next/dist/bin/next");
      const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" };
      execFileSync(process.execPath, [command, "build", bundler], { ...LIMIT, cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
      const port = await freePort();
      const server = spawn(process.execPath, [command, "start", "-H", "127.0.0.1", "-p", String(port)], { cwd: folder, env, stdio: "ignore" });
      try {
        await expectShown(`http://127.0.0.1:${port}/`, { server: ["60000"] });
        await expectShown(`http://127.0.0.1:${port}/client`, CHOSEN);
      } finally {
        server.kill("SIGKILL");
      }
      return versionOf(folder, "next");
    });
}

/** A server component and a client page. */
function nextApp(folder, setup) {
  const pages = join(folder, "app");
  mkdirSync(join(pages, "client"), { recursive: true });
  mkdirSync(join(folder, "public"), { recursive: true });
  cpSync(join(folder, "src/app.mjs"), join(pages, "client/app.mjs"));
  writeFileSync(join(folder, "public/setup.json"), JSON.stringify(setup));
  writeFileSync(join(pages, "layout.jsx"), "export default function Layout({ children }) {\n  return <html><body suppressHydrationWarning>{children}</body></html>;\n}\n");
  writeFileSync(
    join(pages, "page.jsx"),
    `import { createSelector } from "payroute";
import setup from "../public/setup.json";
export const dynamic = "force-dynamic";
export default async function Page() {
  const selector = await createSelector(setup.config);
  const { candidates } = await selector.select(setup.paymentRequired);
  return <><ul id="server"><li>{candidates[0].balance}</li></ul><script dangerouslySetInnerHTML={{ __html: 'document.body.setAttribute("data-done", "")' }} /></>;
}
`,
  );
  writeFileSync(
    join(pages, "client/page.jsx"),
    `"use client";
import { useEffect } from "react";
export default function Page() {
  useEffect(() => { import("./app.mjs"); }, []);
  return <p>client</p>;
}
`,
  );
}

/** A module service worker of an extension, with the one keyword in its policy. */
async function extension(setup) {
  const executablePath = provide();
  return withApp([], async (folder) => {
    const root = join(folder, "extension");
    mkdirSync(root);
    cpSync(join(folder, "node_modules/payroute"), join(root, "payroute"), { recursive: true });
    writeFileSync(join(root, "setup.json"), JSON.stringify(setup()));
    writeFileSync(
      join(root, "manifest.json"),
      JSON.stringify({
        manifest_version: 3,
        name: "payroute",
        version: "1",
        background: { service_worker: "worker.mjs", type: "module" },
        host_permissions: ["http://127.0.0.1/*"],
        content_security_policy: { extension_pages: "script-src 'self' 'wasm-unsafe-eval'; object-src 'self'" },
      }),
    );
    writeFileSync(
      join(root, "worker.mjs"),
      `import { createSelector } from "./payroute/entrypoints/index.mjs";
async function run() {
  const { config, paymentRequired } = await (await fetch("setup.json")).json();
  const selector = await createSelector(config);
  const { candidates } = await selector.select(paymentRequired);
  return candidates[0].balance;
}
globalThis.outcome = run().catch(String);
`,
    );
    const context = await chromium.launchPersistentContext(join(folder, "profile"), {
      executablePath,
      headless: true,
      ignoreDefaultArgs: ["--disable-extensions"],
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", `--disable-extensions-except=${root}`, `--load-extension=${root}`],
    });
    try {
      const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker", { timeout: 30_000 }));
      assert.equal(await worker.evaluate(() => globalThis.outcome), "60000");
      return `Chromium ${context.browser()?.version() ?? ""}`.trim();
    } finally {
      await context.close();
    }
  });
}

export const cases = {
  "Vite 5, build": viteBuild(5),
  "Vite 5, dev": viteDev(5),
  "Vite 7, build": viteBuild(7),
  "Vite 7, dev": viteDev(7),
  "Vite 8, dev": viteDev(8),
  "Next.js 16 with Turbopack, server and client": next("--turbopack"),
  "Next.js 16 with webpack, server and client": next("--webpack"),
  "Deno, ES module and CommonJS": runtime(["deno@2"], "deno", (folder) => [join(folder, "node_modules/@deno/linux-x64-glibc/deno"), "run", "--quiet", "--allow-all"]),
  "Bun, ES module and CommonJS": runtime(["bun@1"], "bun", (folder) => [join(folder, "node_modules/@oven/bun-linux-x64/bin/bun")]),
  "MV3 extension, service worker": extension,
  "Firefox, page and worker": plain(openFirefox),
  "Firefox, Vite 8 build": viteBuild(8, openFirefox),
  "Firefox, fault matrix": () => matrixInPage(openFirefox, "firefox"),
  "WebKit, page and worker": plain(openWebKit),
  "WebKit, Vite 8 build": viteBuild(8, openWebKit),
  "WebKit, fault matrix": () => matrixInPage(openWebKit, "webkit"),
};
