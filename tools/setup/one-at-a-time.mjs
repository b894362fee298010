import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Makes this process the only one that holds `file`, which says its process id. A holder that is gone counts as none.
 *
 * @param {string} file
 * @returns {{ release: () => void } | { holder: number }}
 */
export function hold(file) {
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    for (let attempt = 0; ; attempt += 1) {
      try {
        linkSync(mine, file); // whole or not at all: nobody reads it half-written
        return { release: () => rmSync(file, { force: true }) };
      } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
        const holder = holderOf(file);
        if (holder !== undefined || attempt >= 5) return { holder: holder ?? 0 };
        rmSync(file, { force: true });
      }
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

/**
 * The process that holds it and lives.
 * @param {string} file
 */
function holderOf(file) {
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    // It lives, as another account's.
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM' ? pid : undefined;
  }
}
