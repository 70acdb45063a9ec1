// Firefox and WebKit by WebDriver's own commands, without a library: Firefox takes them at a socket
// (Marionette), WebKit by HTTP from WebKitWebDriver. Knows no page.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { provided } from "./apt.mjs";
import { freePort } from "./port.mjs";

/** Firefox for one page, without a window: its `version`, `goto(url)`, `evaluate(expression)` and `close()`. */
export async function openFirefox() {
  const path = needed("firefox-esr", process.env.FIREFOX, "/usr/bin/firefox-esr", "/usr/bin/firefox");
  const port = await freePort();
  const profile = mkdtempSync(join(tmpdir(), "payroute-firefox-"));
  writeFileSync(join(profile, "user.js"), `user_pref("marionette.port", ${port});\n`);
  const browser = start(path, ["--headless", "--no-remote", "--marionette", "--profile", profile]);
  const close = async () => {
    await browser.stop();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  return orClosed(close, async () => {
    const send = await untilUp(browser, () => marionette(port));
    const { capabilities } = await send("WebDriver:NewSession", {});
    return {
      version: `Firefox ${capabilities.browserVersion}`,
      goto: (url) => send("WebDriver:Navigate", { url }),
      evaluate: async (expression) => (await send("WebDriver:ExecuteScript", { script: `return ${expression}`, args: [] })).value,
      close,
    };
  });
}

/** WebKitGTK's own small browser, on a screen that nobody sees; the same four. */
export async function openWebKit() {
  const path = needed("webkit2gtk-driver", process.env.WEBKIT_DRIVER, "/usr/bin/WebKitWebDriver");
  const screen = start(needed("xvfb", "/usr/bin/Xvfb"), ["-displayfd", "1", "-nolisten", "tcp"]);
  let driver;
  const close = async () => {
    await driver?.stop();
    await screen.stop();
  };
  return orClosed(close, async () => {
    const [number] = await Promise.race([once(screen.output, "data"), screen.ended]);
    const port = await freePort();
    driver = start(path, [`--port=${port}`], { DISPLAY: `:${String(number).trim()}` });
    const send = (command, body) => post(`http://127.0.0.1:${port}/session${command}`, body);
    const { sessionId, capabilities } = await untilUp(driver, () => send("", { capabilities: {} }));
    return {
      version: `WebKitGTK ${capabilities.browserVersion}`,
      goto: (url) => send(`/${sessionId}/url`, { url }),
      evaluate: (expression) => send(`/${sessionId}/execute/sync`, { script: `return ${expression}`, args: [] }),
      close,
    };
  });
}

function needed(debian, ...paths) {
  const path = provided(debian, ...paths);
  if (path === undefined) throw new Error(`${paths.at(-1)} is missing: apt-get install ${debian}`);
  return path;
}

async function orClosed(close, open) {
  try {
    return await open();
  } catch (error) {
    await close();
    throw error;
  }
}

/** Starts a program: its `output`, `ended`, which rejects should it end by itself, and `stop()`. It goes with this
 * process, however that ends; what it starts itself goes with it, or with the screen. */
function start(path, args, env = {}) {
  const child = spawn("setpriv", ["--pdeathsig", "KILL", path, ...args], { stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, ...env } });
  const exit = once(child, "exit");
  const ended = exit.then(([code]) => Promise.reject(new Error(`${path} ended by itself, with ${code}`)));
  ended.catch(() => {});
  const stop = async () => {
    if (child.kill("SIGKILL")) await exit;
  };
  // Unread, a full pipe would stop it.
  return { output: child.stdout.resume(), ended, stop };
}

/** What `ask` gives once the program listens. */
async function untilUp(program, ask) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await Promise.race([ask(), program.ended]);
    } catch (error) {
      const refused = [error.code, error.cause?.code].includes("ECONNREFUSED");
      if (!refused || attempt >= 150) throw error;
      await sleep(200);
    }
  }
}

async function post(url, body) {
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const { value } = await response.json();
  if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
  return value;
}

/** Sends commands to Firefox at `port`: `[0, id, command, parameters]`, answered with `[1, id, error, result]`. */
async function marionette(port) {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  const waiting = new Map();
  read(socket, ([, id, error, result]) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === null) resolve(result);
    else reject(new Error(`${error.error}: ${error.message}`));
  });
  socket.on("error", () => {});
  socket.on("close", () => waiting.forEach(({ reject }) => reject(new Error("Firefox went away"))));
  let last = 0;
  return (command, parameters) =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify([0, ++last, command, parameters]);
      waiting.set(last, { resolve, reject });
      socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
}

/** Gives every answer that arrives, each a length, a colon and JSON, to `take`. */
function read(socket, take) {
  let buffer = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const colon = buffer.indexOf(":");
      const end = colon + 1 + Number(buffer.subarray(0, Math.max(colon, 0)));
      if (colon < 0 || buffer.length < end) return;
      const message = JSON.parse(buffer.subarray(colon + 1, end));
      buffer = buffer.subarray(end);
      // It greets with an object.
      if (Array.isArray(message)) take(message);
    }
  });
}
