import { streamSession } from '@sallyport/core/client';
import { expect, test } from 'vitest';
import { breakingLine } from './breaking-line.ts';
import { runBridge, temporaryState } from './run-bridge.ts';
import { createSession, serveBridge } from './serve-bridge.ts';

test('over a line that breaks all the time every line of output is in the log once, and read once', async () => {
  const line = await breakingLine();
  const bridge = await serveBridge({ apiBaseUrl: line.url });
  line.leadTo(bridge.url);
  const lines = 4_000;
  const { until } = runBridge({
    ...bridge.clientOptions,
    baseUrl: line.url,
    run: `seq 1 ${lines / 2}; read -r go; seq ${lines / 2 + 1} ${lines}`,
  });
  const { environmentId } = await until('registered');
  const { id } = await createSession(bridge, environmentId, [
    { type: 'session.message', data: { text: 'go' } },
  ]);

  const options = { ...bridge.clientOptions, baseUrl: line.url };
  const seqs: number[] = [];
  const printed: string[] = [];
  let status: unknown;
  for (let attempt = 0; status !== 'done'; attempt += 1) {
    if (attempt > 200) line.mend();
    try {
      for await (const frame of streamSession(options, id, { fromSeq: seqs.at(-1) ?? 0 })) {
        if (frame.kind !== 'event') continue;
        const { seq, type, data } = frame.event;
        seqs.push(seq);
        if (type === 'session.output') printed.push(...String(data['text']).split('\n'));
        status = data['status'] ?? status;
        if (status === 'done') break;
      }
    } catch {
      // It broke: on from there.
    }
  }
  expect(printed).toEqual(Array.from({ length: lines }, (_, index) => String(index + 1)));
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  expect(line.cuts).toBeGreaterThan(2);
});

test('a bridge that is started again and again, killed or stopped, is one environment', async () => {
  const bridge = await serveBridge();
  const options = { ...bridge.clientOptions, run: 'true', stateDir: temporaryState() };
  const ids = new Set<string>();
  for (let start = 0; start < 10; start += 1) {
    const { runtime, until, result, stop } = runBridge(options);
    ids.add((await until('polling')).environmentId);
    if (start % 2 === 0) {
      // Without a word to the service, as by SIGKILL.
      runtime.kill();
      runtime.kill();
    } else stop();
    await result;
  }
  expect(ids.size).toBe(1);
  const { environments } = await bridge.client.bridge.list({ params: { org_uuid: 'organization' } });
  expect(environments.map(({ environment_id, status }) => [environment_id, status])).toEqual([
    [[...ids][0], 'offline'],
  ]);
});
