// The buyer's money on the local chains, to try what happens without it.

import { html } from "lit-html";
import type { App } from "../app";
import { networkName } from "../words";

const PLENTY = "250000";
const SOME = "20000";

export function purse(app: App) {
  const { busy, world } = app.state;
  return html`
    <section aria-labelledby="purse">
      <h2 id="purse">Your purse</h2>
      <ul class="purse">
        ${Object.keys(world.networks).map(
          (network) => html`<li class="row">
            <span>${networkName(network)}</span>
            <span class="buttons" role="group" aria-label=${`USDC on ${networkName(network)}`}>
              <button ?disabled=${busy} @click=${() => app.fill(network, PLENTY)}>0.25</button>
              <button ?disabled=${busy} @click=${() => app.fill(network, SOME)}>0.02</button>
              <button ?disabled=${busy} @click=${() => app.fill(network, "0")}>0</button>
            </span>
          </li>`,
        )}
      </ul>
    </section>
  `;
}
