import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from './testing/bench.ts';
import { logEvent, type FakeStream } from './testing/fake-service.ts';
import { useBench } from './testing/use-bench.ts';

const { service, startSession } = useBench();

const eventBytes = 100 * 1024;
const total = 40;
const pages = Array.from({ length: total }, (_, index) =>
  logEvent(index + 1, 'control.input', { text: 'x'.repeat(eventBytes) }),
);

/** The highest `seq` that was acknowledged; all frames that were sent before have been read. */
async function takenSeq({ send, frames }: FakeStream): Promise<number> {
  send({ type: 'token_expiring', expires_at: '' });
  await frames.until(({ type }) => type === 'auth');
  return Math.max(0, ...frames.all.map(({ type, seq }) => (type === 'ack' ? Number(seq) : 0)));
}

describe('input that the process does not read', () => {
  test.each([true, false])(
    'is left with the service beyond 1 MiB; all of it comes, once and in order, when the process reads (interactive: %s)',
    async (interactive) => {
      const go = join(temporaryFolder(), 'go');
      execFileSync('mkfifo', [go]);
      service.backlog = pages;
      const { bench, stream } = await startSession(
        `read -r _ <${go}; head -n ${total} | sed 's/.*"seq":\\([0-9]*\\).*/\\1/'`,
        { interactive },
      );
      const taken = await takenSeq(stream);
      expect(taken).toBeGreaterThanOrEqual(10);
      expect(taken).toBeLessThanOrEqual(14); // the pipe itself holds a little
      writeFileSync(go, 'now\n');
      await bench.until('session.ended');
      const lines = bench.of('session.output').map(({ text }) => Number(text));
      expect(lines).toEqual(Array.from({ length: total }, (_, index) => index + 1));
      expect(service.countOf('handshake')).toBe(2); // the one of `takenSeq` included
      const resumed = service.streams.all.map(({ fromSeq }) => fromSeq);
      expect(resumed.slice(0, 2)).toEqual([0, taken]);
    },
  );

  test('does not hide that the session is to end, nor hold up what the process says', async () => {
    service.backlog = pages;
    const { bench, stream } = await startSession(
      `trap 'exit 6' INT; seq -f '%0100000.0f' 1 30; while :; do sleep 1000 >/dev/null 2>&1 & wait $!; done`,
      { interactive: true },
    );
    await bench.until('session.output', 30);
    stream.send(logEvent(total + 1, 'control.stop', { force: false, deadline_ms: 10_000 }));
    expect(await bench.until('session.ended')).toMatchObject({ exitCode: 6, reason: 'stopped' });
  });
});
