// The endpoints: how each behaves, a switch to break it, and what health made of that.

import type { EndpointHealth } from "payroute";
import { html } from "lit-html";
import type { App } from "../app";
import { millis, networkName, seconds } from "../words";
import type { Mode, WorldEndpoint } from "../world";
import { badge } from "./badge";

const MODES: Readonly<Record<Mode, string>> = {
  answers: "answers",
  slow: "answers slowly",
  hangs: "hangs",
  down: "is down",
  throttles: "asks for patience",
  "wrong-chain": "serves another chain",
};

export function endpoints(app: App) {
  return html`
    <section aria-labelledby="endpoints">
      <div class="row">
        <h2 id="endpoints">Endpoints</h2>
        <button @click=${() => app.resetHealth()}>Reset health</button>
      </div>
      <ul class="endpoints">${app.state.world.endpoints.map((endpoint) => item(app, endpoint))}</ul>
    </section>
  `;
}

function item(app: App, endpoint: WorldEndpoint) {
  const host = new URL(endpoint.url).host;
  const health = app.state.health.find((one) => one.endpoint === host);
  const name = `${networkName(endpoint.network)} ${endpoint.name}`;
  return html`
    <li>
      <div class="row">
        <h3>${name}</h3>
        <label class="mode">
          <span class="unseen">${name}</span>
          <select ?disabled=${app.state.busy} @change=${(change: Event) => app.setMode(endpoint, (change.target as HTMLSelectElement).value as Mode)}>
            ${app.state.world.modes.map((mode) => html`<option value=${mode} ?selected=${mode === endpoint.mode}>${MODES[mode]}</option>`)}
          </select>
        </label>
      </div>
      ${health === undefined ? html`<p class="quiet">not asked yet</p>` : condition(health, name)}
    </li>
  `;
}

function condition(health: EndpointHealth, name: string) {
  return html`
    <div class="row condition">
      <meter min="0" max="1" low="0.4" high="0.7" optimum="1" .value=${health.score} aria-label=${`score of ${name}`}></meter>
      <span>${health.score.toFixed(4)}</span>
      <span>${millis(health.latencyMs)}</span>
      ${badge(health.circuit, health.halfOpenInMs === undefined ? "" : `, a trial in ${seconds(health.halfOpenInMs)}`)}
      ${health.backingOffForMs === undefined ? "" : html`<span class="quiet">passed over for ${seconds(health.backingOffForMs)}</span>`}
      ${health.throttledForMs === undefined ? "" : html`<span class="quiet">asked to wait ${seconds(health.throttledForMs)}</span>`}
    </div>
  `;
}
