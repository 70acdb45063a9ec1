// A page whose worker selects.

const worker = new Worker(new URL("./in-thread.mjs", import.meta.url), { type: "module" });
worker.onmessage = ({ data }) => show(data);
worker.onerror = ({ message }) => show(message);

function show(said) {
  const list = Object.assign(document.createElement("ul"), { id: "worker" });
  list.append(Object.assign(document.createElement("li"), { textContent: said }));
  document.body.append(list);
  document.body.setAttribute("data-done", "");
}
