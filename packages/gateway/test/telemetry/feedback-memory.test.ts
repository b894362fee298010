import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contract } from '@sallyport/core/contract';
import { zipOf } from '@sallyport/telemetry/testing';
import { expect, test } from 'vitest';
import { startProgram } from '../start-program.ts';
import { scratchDirectory } from '../store/scratch.ts';

const mebibyte = 1024 ** 2;

test(
  'five bundles of 50 MiB at once take the memory of what is on its way',
  { timeout: 120_000 },
  async () => {
    const { url, pid } = await startProgram(
      join(import.meta.dirname, 'feedback-victim.ts'),
      scratchDirectory(),
    );
    const overhead = zipOf({ name: 'a' }).length;
    const large = zipOf({ name: 'a', content: Buffer.alloc(50 * mebibyte - overhead) });
    const upload = async (account: string, bundle: Buffer) => {
      const body = new FormData();
      body.append('description', 'It hangs.');
      body.append('bundle', new Blob([new Uint8Array(bundle)]), 'bundle.zip');
      const headers = { authorization: `Bearer ${account}` };
      const answer = await fetch(url + contract.feedback.bundle.path, { method: 'POST', headers, body });
      await answer.text();
      return answer.status;
    };
    expect(await upload('first', zipOf({ name: 'a', content: Buffer.alloc(mebibyte) }))).toBe(200);
    const before = peakOf(pid);
    const accounts = ['a', 'b', 'c', 'd', 'e'];
    expect(await Promise.all(accounts.map((account) => upload(account, large)))).toEqual(
      accounts.map(() => 200),
    );
    const grown = Math.round((peakOf(pid) - before) / mebibyte);
    console.log(`five bundles of 50 MiB: ${Math.round(before / mebibyte)} MiB, and ${grown} MiB more`);
    expect(grown).toBeLessThan(150);
  },
);

/** The most memory that a process ever had, in bytes. */
function peakOf(pid: number): number {
  const [, kibibytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return 1024 * Number(kibibytes);
}
