import { lockStore } from '../store/embedded/lock.ts';
import { embeddedStorePath } from '../store/embedded/path.ts';
import { openWriter } from '../store/embedded/writer.ts';
import { configOf } from './config-of.ts';
import type { ConfigFlags } from './flags.ts';

/** `sallyport-gateway migrate`: what `start` does to the store, and no more. Refused while a gateway runs on it. */
export async function migrateStore(flags: ConfigFlags): Promise<void> {
  const { config } = configOf(flags);
  const path = embeddedStorePath(config);
  const lock = lockStore(path);
  try {
    const writer = await openWriter({ path, onNotice: (notice) => process.stdout.write(`${notice}\n`) });
    await writer.close();
    process.stdout.write(`${path} is up to date\n`);
  } finally {
    lock.release();
  }
}
