// A machine that sleeps, or changes networks, again and again: an attempt each would soon have used up all there are.
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { breakingLine } from './breaking-line.ts';
import { runBridge } from './run-bridge.ts';
import { createSession, serveBridge } from './serve-bridge.ts';

/** A hundredth of what everybody has. */
const config = {
  runLeaseSeconds: 0.6,
  idleSeconds: 0.45,
  onlineSeconds: 0.45,
  pingSeconds: 0.2,
  leaseWriteSeconds: 0.15,
  presenceWriteSeconds: 0.05,
  tickSeconds: 0.01,
  sweepSeconds: 0.01,
};

test('a session whose bridge is out of reach for longer than its lease, four times, runs on', async () => {
  const line = await breakingLine(() => Infinity);
  const bridge = await serveBridge({ apiBaseUrl: line.url, config });
  line.leadTo(bridge.url);
  const { until, events } = runBridge({
    ...bridge.clientOptions,
    baseUrl: line.url,
    run: 'echo up; grep -qm1 control.input',
    interactive: true,
    random: { fraction: () => 0.02, bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) },
  });
  const { environmentId } = await until('polling');
  const { id } = await createSession(bridge, environmentId);
  const params = { id };
  await Promise.all([until('session.output'), until('session.connected')]);
  for (const outage of [1, 2, 3, 4]) {
    line.down();
    await setTimeout(1_000);
    expect(await bridge.client.sessions.get({ params })).toMatchObject({ status: 'disconnected' });
    await line.up();
    await until('session.connected', 1 + outage);
  }
  const go = { type: 'control.input', data: { text: 'go' } };
  await bridge.client.sessions.append({ params, body: { events: [go] as never } });
  expect(await until('session.ended')).toMatchObject({ exitCode: 0, reason: 'exited' });
  expect(await bridge.client.sessions.get({ params })).toMatchObject({ status: 'done' });
  expect(events.filter(({ type }) => type === 'session.started')).toHaveLength(1);
});
