// Debian's Chromium, headless, driven by playwright-core.

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { provided } from "./apt.mjs";

const PATHS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where Chromium is, or why there is none. */
export const executable = PATHS.find((path) => path && existsSync(path));
export const absent = "Chromium is not installed: apt-get install chromium, or name it in the variable CHROMIUM";

/** Where Chromium is, installed if it was missing. */
export function provide() {
  const path = executable ?? provided("chromium", ...PATHS);
  if (path === undefined) throw new Error(absent);
  return path;
}

export async function launch(args = []) {
  return chromium.launch({
    executablePath: provide(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", ...args],
  });
}

/** Chromium for one page: its `version`, `goto(url)`, `evaluate(expression)` and `close()`. */
export async function openChromium() {
  const browser = await launch();
  const page = await browser.newPage();
  return {
    version: `Chromium ${browser.version()}`,
    goto: (url) => page.goto(url),
    evaluate: (expression) => page.evaluate(expression),
    close: () => browser.close(),
  };
}
