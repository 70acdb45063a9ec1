// Debian's Chromium, headless, driven by playwright-core.

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const PATHS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where Chromium is, or why there is none. */
export const executable = PATHS.find((path) => path && existsSync(path));
export const absent = "Chromium is not installed: apt-get install chromium, or name it in the variable CHROMIUM";

export function launch(args = []) {
  return chromium.launch({
    executablePath: executable,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", ...args],
  });
}
