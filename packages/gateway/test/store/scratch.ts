import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openReader, type Reader } from '../../src/store/embedded/reader.ts';
import { openWriter, type Writer, type WriterOptions } from '../../src/store/embedded/writer.ts';
import type { areas } from './ledger.ts';

export const ledgerContents = new URL('./ledger.ts', import.meta.url);

/** A directory that goes with the test. */
export function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-store-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A store with the ledger in a scratch directory, closed after the test. */
export async function openLedger(
  options: Partial<WriterOptions> = {},
): Promise<{ path: string; writer: Writer<typeof areas>; reader: Reader }> {
  const path = options.path ?? join(scratchDirectory(), 'store.db');
  const writer = await openWriter<typeof areas>({ path, contents: ledgerContents, ...options });
  const reader = openReader(path);
  onTestFinished(async () => {
    reader.close();
    await writer.close();
  });
  return { path, writer, reader };
}

export function balances(reader: Reader): Record<string, number> {
  const rows = reader.query<{ name: string; balance: number }>(
    'SELECT name, balance FROM account ORDER BY name LIMIT 100',
  );
  return Object.fromEntries(rows.all().map(({ name, balance }) => [name, balance]));
}
