import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** Writes JSON, durable before it is in place: a machine that loses power has the old file or the new one. */
export function replaceFile(file: string, value: unknown): void {
  const draft = `${file}.${randomUUID()}`;
  try {
    writeFileSync(draft, JSON.stringify(value), { mode: 0o600, flag: 'wx', flush: true });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
