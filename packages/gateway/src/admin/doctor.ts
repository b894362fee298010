import { access, constants, mkdir } from 'node:fs/promises';
import { isDataDirectoryLocked } from '../store/embedded/lock.ts';
import { openWriter } from '../store/embedded/writer.ts';
import type { ConfigFlags } from '../program.ts';
import { describeFailure } from './failure.ts';
import { configOf } from './flags.ts';
import { embeddedStorePath } from '../store/embedded/path.ts';

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly says: string;
}

/** `sallyport-gateway doctor`: what would stop a start. Exit code 1 if anything would. */
export async function doctor(flags: ConfigFlags & { readonly json?: boolean }): Promise<void> {
  const findings: Finding[] = [];
  const check = async <T>(name: string, run: () => T | Promise<T>, says: (value: T) => string) => {
    try {
      const value = await run();
      findings.push({ check: name, ok: true, says: says(value) });
      return value;
    } catch (error) {
      findings.push({ check: name, ok: false, says: describeFailure(error).message });
      return undefined;
    }
  };
  const loaded = await check(
    'configuration',
    () => configOf(flags),
    ({ settings }) =>
      `${settings.filter(({ origin }) => origin !== 'default').length} settings differ from the defaults`,
  );
  if (loaded) {
    const { config } = loaded;
    const directory = await check(
      'data directory',
      async () => {
        await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
        await access(config.dataDir, constants.R_OK | constants.W_OK);
        return isDataDirectoryLocked(config.dataDir);
      },
      (locked) => `${config.dataDir} is writable${locked ? '; a gateway runs on it' : ''}`,
    );
    if (directory !== undefined)
      await check(
        'store',
        // A store that is older is not brought up to date by a mere check.
        async () => (await openWriter({ path: embeddedStorePath(config), migrate: false })).close(),
        () => `${embeddedStorePath(config)} opens`,
      );
  }
  for (const { check: name, ok, says } of flags.json === true ? [] : findings)
    process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${name}: ${says}\n`);
  if (flags.json === true) process.stdout.write(`${JSON.stringify({ findings }, null, 2)}\n`);
  if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
}
