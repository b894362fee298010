import { spawn, type ChildProcess } from 'node:child_process';
import { delimiter } from 'node:path';

/**
 * Opens the person's browser: the one that `BROWSER` names, else the system's. Rejects where none opens; settles in no other
 * way, since some openers end with the browser.
 */
export async function openBrowser(url: string, env: NodeJS.ProcessEnv): Promise<void> {
  const named = (env['BROWSER'] ?? '').split(delimiter).find((command) => command.trim() !== '');
  const opener = named === undefined ? await bySystem(url) : byCommand(named, url);
  await new Promise((_resolve, reject) => {
    opener.once('error', reject);
    opener.once('exit', (code) => {
      if (code !== null && code > 0) reject(new Error(`the opener ended with ${code}`));
    });
  });
}

async function bySystem(url: string): Promise<ChildProcess> {
  const { default: open } = await import('open');
  return open(url);
}

/** As `xdg-open` and Python read it: words, the address in place of `%s`, else behind them. */
function byCommand(named: string, url: string): ChildProcess {
  const words = named.trim().split(/\s+/);
  const [command = '', ...args] = words.map((word) => word.replaceAll('%s', () => url));
  const all = named.includes('%s') ? args : [...args, url];
  const opener = spawn(command, all, { stdio: 'ignore', detached: true });
  opener.unref();
  return opener;
}
