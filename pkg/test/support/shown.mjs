// A page as one sees it, in whichever browser.

import { setTimeout as sleep } from "node:timers/promises";

const LISTS = `document.body?.dataset.done === undefined
  ? null
  : Object.fromEntries([...document.querySelectorAll("ul")].map((list) => [list.id, [...list.children].map((line) => line.textContent)]))`;

/** What the page at `url` shows once it is done: its `lists` by their ids, in a browser of its own, which `open` opens,
 * and that browser's `version`. */
export async function shown(url, open, patienceMs = 60_000) {
  await served(url);
  const browser = await open();
  try {
    await browser.goto(url);
    for (const until = Date.now() + patienceMs; Date.now() < until; await sleep(100)) {
      const lists = await browser.evaluate(LISTS);
      if (lists !== null) return { lists, version: browser.version };
    }
    throw new Error(`${browser.version}: the page is not done after ${patienceMs / 1_000} s`);
  } finally {
    await browser.close();
  }
}

/** A server that was just started takes its time. */
async function served(url) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await (await fetch(url)).arrayBuffer();
    } catch (error) {
      if (attempt >= 60) throw error;
      await sleep(500);
    }
  }
}
