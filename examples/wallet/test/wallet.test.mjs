// Drives the page in Chromium on the local chains: what a person would do, and what they would see.

import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { balanceOf } from "../world/funds.mjs";
import { startWorld } from "../world/start.mjs";

const PATHS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const EXECUTABLE = PATHS.find((path) => path && existsSync(path));
const SKIP = EXECUTABLE === undefined && "Chromium is not installed: apt-get install chromium, or name it in the variable CHROMIUM";
/** Pictures for whoever looks; outside the repository. */
const PICTURES = process.env.SCREENSHOTS ?? join(tmpdir(), "payroute-wallet");
const BASE = "eip155:8453";

let world;
let browser;
before(async () => {
  if (SKIP) return;
  mkdirSync(PICTURES, { recursive: true });
  world = await startWorld();
  browser = await chromium.launch({ executablePath: EXECUTABLE, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"] });
});
after(async () => {
  await browser?.close();
  await world?.close();
});

async function open({ width = 1280, colorScheme = "light" } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(world.origin);
  await page.getByRole("button", { name: "Connect wallet" }).click();
  await page.getByText("Connected.").waitFor();
  return { page, problems, picture: (name) => page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true }) };
}

const ask = (page) => page.getByRole("button", { name: "Ask for the article" }).click();
const status = (page, text) => page.getByRole("status").filter({ hasText: text }).waitFor();
const routes = (page) => page.getByRole("region", { name: "Routes, best first" }).getByRole("listitem");
const purse = (page, network, amount) => page.getByRole("group", { name: `USDC on ${network}`, exact: true }).getByRole("button", { name: amount, exact: true }).click();
const condition = (page, endpoint) => page.getByRole("region", { name: "Endpoints" }).getByRole("listitem").filter({ has: page.getByRole("heading", { name: endpoint, exact: true }) });
const setMode = (page, endpoint, mode) => page.getByRole("combobox", { name: endpoint, exact: true }).selectOption({ label: mode });

test("the best route is paid on the chain, and a preference moves it", { skip: SKIP }, async () => {
  const { page, problems, picture } = await open();
  await ask(page);
  await status(page, "Pay on");
  assert.equal(await routes(page).count(), 3);
  await page.getByLabel("Prefer").selectOption({ label: "Base" });
  await status(page, "Pay on Base.");
  await picture("routes");
  const held = await balanceOf(world.net, { network: BASE, asset: world.net.networks[BASE].assets.USDC });
  await page.getByRole("button", { name: "Pay 0.05 USDC" }).click();
  await status(page, "Paid.");
  await picture("paid");
  assert.equal(await balanceOf(world.net, { network: BASE, asset: world.net.networks[BASE].assets.USDC }), held - 50_000n);
  await page.getByLabel("Prefer").selectOption({ label: "Solana" });
  await ask(page);
  await status(page, "Pay on Solana.");
  await page.getByRole("button", { name: "Pay 0.05 USDC" }).click();
  await status(page, "Paid.");
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("an empty purse shows what to top up where, and topping up opens the route", { skip: SKIP }, async () => {
  const { page, picture } = await open();
  for (const network of ["Base", "Base Sepolia", "Solana"]) {
    await purse(page, network, "0.02");
    await status(page, "Done.");
  }
  await ask(page);
  await status(page, "No account has enough.");
  const missing = page.getByRole("region", { name: "What is missing" });
  await missing.getByText("0.03 USDC on Base: it costs 0.05 USDC, you have 0.02 USDC.").waitFor();
  await picture("deficits");
  await missing.getByRole("button", { name: "Top up on Base", exact: true }).click();
  await status(page, "Pay on Base.");
  await page.context().close();
});

test("a broken endpoint opens its circuit, counts down, and closes again", { skip: SKIP }, async () => {
  const { page, picture } = await open();
  await purse(page, "Base", "0.25");
  await status(page, "Done.");
  await ask(page);
  await status(page, "Pay on Base.");
  await setMode(page, "Base A", "serves another chain");
  const sick = condition(page, "Base A");
  await sick.getByText(/open, a trial in \d+ s/).waitFor();
  await page.getByRole("log").getByText("Base A: circuit opened (wrong-chain)").waitFor();
  await picture("open");
  await setMode(page, "Base A", "answers");
  await page.getByLabel("look again every second").check();
  await sick.getByText("closed", { exact: true }).waitFor({ timeout: 30_000 });
  await page.getByRole("log").getByText("Base A: circuit closed").waitFor();
  await setMode(page, "Base A", "is down");
  await page.getByRole("log").getByText("Base: went on from A to B").first().waitFor();
  await page.getByRole("button", { name: "Reset health" }).click();
  await setMode(page, "Base A", "answers");
  await page.context().close();
});

test("it fits a phone, light and dark, and can be used from the keyboard", { skip: SKIP }, async () => {
  const { page, picture } = await open({ width: 390, colorScheme: "dark" });
  await page.getByRole("button", { name: "Ask for the article" }).focus();
  await page.keyboard.press("Enter");
  await status(page, "Pay on");
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(overflow, 0, "nothing scrolls sideways");
  const unnamed = await page.evaluate(() =>
    [...document.querySelectorAll("button, select, input, meter")].filter((one) => !(one.labels?.length || one.getAttribute("aria-label") || one.textContent?.trim())).length,
  );
  assert.equal(unnamed, 0, "every control has a name");
  await picture("phone-dark");
  await page.context().close();
});
