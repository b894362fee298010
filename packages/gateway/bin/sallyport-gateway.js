#!/usr/bin/env node
import { existsSync } from 'node:fs';

// Before anything is loaded that an older release cannot even parse or find.
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(
    `sallyport-gateway needs Node.js 24 or newer; this is ${process.version}. A clone has the right one: put its node_modules/.bin first on the PATH.`,
  );
  process.exit(1);
}
if (!existsSync(new URL('../bundle/main.js', import.meta.url))) {
  console.error('This clone is not built: run npm start -- --help in it, which builds it.');
  process.exit(1);
}
await import('../bundle/main.js');
