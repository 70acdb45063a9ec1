// A circuit, in one word and a colour.

import type { Circuit } from "payroute";
import { html } from "lit-html";

export function badge(circuit: Circuit, remark = "") {
  return html`<span class=${`badge ${circuit}`}>${circuit}${remark}</span>`;
}
