// Starts the page: the world, the application, and a drawing of every state.

import { render } from "lit-html";
import { App } from "./app";
import { page } from "./view/page";
import { loadWorld } from "./world";

const root = document.getElementById("app");
if (root === null) throw new Error("the page has no #app");
root.replaceChildren();
const draw = (app: App) => render(page(app), root);
draw(new App(await loadWorld(), draw));
