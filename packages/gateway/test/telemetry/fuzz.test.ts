import { readFileSync } from 'node:fs';
import { drawsOf, mutated, randomBody } from '@sallyport/telemetry/testing';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { scratchDirectory } from '../store/scratch.ts';
import type { Victim } from '../start-program.ts';
import { startVictim } from './victims.ts';

// Mutated bodies of both encodings over HTTP. With SALLYPORT_LONG=1 so many that a leak shows; other ones with
// SALLYPORT_FUZZ_SEED=7.
const isLong = process.env['SALLYPORT_LONG'] === '1';
const runs = isLong ? 100_000 : 1500;
const seed = Number(process.env['SALLYPORT_FUZZ_SEED'] ?? 1);
const lanes = 8;

test(
  `${runs} mutated bodies: only 2xx, 4xx, or 503 with Retry-After, and memory stays as it is`,
  { timeout: 600_000 },
  async () => {
    const victim = await startVictim(scratchDirectory());
    const agent = new Agent({ connections: lanes });
    onTestFinished(() => agent.destroy());
    const draw = drawsOf(seed);
    const outcomes = new Map<number, number>();

    async function half(count: number): Promise<void> {
      let left = count;
      const bodies = { json: Buffer.alloc(0), protobuf: Buffer.alloc(0) };
      async function lane(): Promise<void> {
        while (left-- > 0) {
          const encoding = left % 2 === 0 ? 'json' : 'protobuf';
          // Four mutations of each body, one on top of the other.
          const base = left % 8 < 2 ? randomBody(encoding, draw(2 ** 31)) : bodies[encoding];
          const body = (bodies[encoding] = mutated(base, encoding, draw));
          const answer = await request(`${victim.url}/v1/logs`, {
            method: 'POST',
            dispatcher: agent,
            headers: {
              authorization: 'Bearer access',
              'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf',
            },
            body,
          });
          await answer.body.dump();
          const { statusCode: status, headers } = answer;
          const isAllowed =
            (status >= 200 && status < 300) ||
            (status >= 400 && status < 500) ||
            (status === 503 && headers['retry-after'] !== undefined);
          if (!isAllowed)
            throw new Error(`seed ${seed}: ${status} for ${encoding} ${body.toString('base64')}`);
          outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
        }
      }
      await Promise.all(Array.from({ length: lanes }, lane));
    }

    await half(runs / 2);
    const between = await residentMiB(victim);
    await half(runs / 2);
    const after = await residentMiB(victim);
    console.log(
      `${[...outcomes].map(([status, count]) => `${count} x ${status}`).join(', ')}; ${between} MiB, then ${after} MiB`,
    );
    // Mutations that are all refused, or all taken, would test little.
    for (const status of [200, 400]) expect(outcomes.get(status)).toBeGreaterThan(runs / 20);
    if (isLong) expect(after / between).toBeLessThan(1.1);
  },
);

async function residentMiB({ pid, nextLine }: Victim): Promise<number> {
  process.kill(pid, 'SIGUSR2');
  expect(await nextLine()).toBe('collected');
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}
