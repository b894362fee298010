/**
 * What this machine offers to tests that need more than Node.js. Printed, it is an input of every cached test
 * run (nx.json), so that installing a browser runs the tests that had skipped for want of it.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';

/** @type {Record<string, string[]>} */
const programs = {
  chromium: ['chromium', 'chromium-browser', 'google-chrome'],
  nginx: ['nginx'],
  systemd: ['systemd-analyze'],
};

/** @param {string} program */
function onPath(program) {
  // Debian has servers in a folder that is not on everybody's PATH.
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
    .map((folder) => join(folder, program))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/**
 * The path of each program, undefined where it is missing.
 * @returns {Record<string, string | undefined>}
 */
export function capabilities() {
  return Object.fromEntries(
    Object.entries(programs).map(([name, candidates]) => [
      name,
      candidates.map(onPath).find((path) => path !== undefined),
    ]),
  );
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) console.log(JSON.stringify(capabilities()));
