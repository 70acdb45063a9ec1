// Programs that Debian has.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** The first of `paths` that is there; where none is, of Debian's package, if that can be had. */
export function provided(debian, ...paths) {
  const found = () => paths.find((path) => path && existsSync(path));
  return found() ?? (aptGet("update") && aptGet("install", "-y", "--no-install-recommends", debian) ? found() : undefined);
}

function aptGet(...args) {
  return spawnSync("apt-get", args, { stdio: "ignore", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } }).status === 0;
}
