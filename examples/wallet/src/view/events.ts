// What happened to endpoints, newest first.

import type { SelectorEvent } from "payroute";
import { html } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import type { App } from "../app";
import { networkName } from "../words";

export function events(app: App) {
  const { events, world } = app.state;
  const nameOf = (host: string) => world.endpoints.find(({ url }) => new URL(url).host === host)?.name ?? host;
  return html`
    <section aria-labelledby="events">
      <h2 id="events">What happened</h2>
      ${events.length === 0 ? html`<p class="quiet">nothing yet</p>` : ""}
      <ol class="events" role="log" aria-label="events">
        ${repeat(events, ({ id }) => id, ({ event }) => html`<li>${sentence(event, nameOf)}</li>`)}
      </ol>
    </section>
  `;
}

function sentence(event: SelectorEvent, nameOf: (host: string) => string): string {
  switch (event.type) {
    case "offline":
      return "No network could be reached: is this device offline?";
    case "failover":
      return `${networkName(event.network)}: went on from ${nameOf(event.from)} to ${nameOf(event.to)}`;
    case "balances-disagree":
      return `${networkName(event.network)}: ${nameOf(event.lower)} said less than ${nameOf(event.higher)}`;
    default: {
      const endpoint = `${networkName(event.network)} ${nameOf(event.endpoint)}`;
      if (event.type === "failed") return `${endpoint} failed (${event.class})`;
      if (event.type === "throttled") return `${endpoint} asked for patience`;
      if (event.type === "identity-mismatch") return `${endpoint} serves another chain`;
      if (event.type === "circuit-opened") return `${endpoint}: circuit opened (${event.reason})`;
      return event.type === "circuit-half-open" ? `${endpoint}: one trial` : `${endpoint}: circuit closed`;
    }
  }
}
