// Makes `payroute` the package of this repository, as it was last built. Not a
// dependency: the lock file would change with every line of its package.json.
import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('../../pkg', import.meta.url));
const LINK = fileURLToPath(new URL('./node_modules/payroute', import.meta.url));

if (!existsSync(`${PACKAGE}/wasm/x402.cjs`)) {
  console.error('pkg/wasm is missing or old: npm --prefix pkg run build');
  process.exit(1);
}
rmSync(LINK, { recursive: true, force: true });
symlinkSync(PACKAGE, LINK, 'dir');
