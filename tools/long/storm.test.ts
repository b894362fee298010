// elastic-agent PR 13874, teleport#6889, fleet PR 53357: all clients come back in the same moment, and the service goes down again.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { BridgeRuntime } from '@sallyport/bridge';
import { undiciTransport, type Transport } from '@sallyport/core/client';
import { expect, test, vi } from 'vitest';
import { Installation } from '../e2e/installation.ts';
import { openWire } from '../e2e/wire.ts';

const clients = 1_000;
/** A link that was well for so long comes back at some moment of five seconds. */
const healthyMs = 61_000;
const binMs = 100;
const firstMs = 10_000;
vi.setConfig({ testTimeout: 590_000 });

test('1,000 bridges come back to a gateway that was stopped, and to one that was killed, spread over time', async () => {
  await using installation = new Installation();
  let gateway = await installation.gateway([], { SALLYPORT_LOG_LEVEL: 'warn' });
  await installation.login();
  const wire = await openWire(installation);
  const deviceToken = await wire.client.devices.trust({ body: { display_name: 'storm' } });
  const accessToken = wire.bearer.replace('Authorization: Bearer ', '');
  const seen = watching(undiciTransport({ connections: 3 * clients, proxyFromEnvironment: false }));
  const leave = new AbortController();
  let waiting = 0;
  // When each means to come back: a process that is a thousand clients is late with some of them.
  const planned = new Array<number>(clients).fill(0);
  const runs = Array.from({ length: clients }, (_, at) => {
    const folder = join(installation.folder, `bridge-${at}`);
    mkdirSync(folder);
    return new BridgeRuntime({
      baseUrl: installation.baseUrl,
      tokens: { token: () => Promise.resolve(accessToken) },
      transport: seen.transport,
      deviceToken: { token: () => Promise.resolve(deviceToken) },
      runnerVersion: '1.0.0',
      directory: folder,
      stateDir: folder,
      run: 'true',
      on: (event) => {
        if (event.type === 'polling') waiting += 1;
        if (event.type === 'offline') planned[at] = performance.now() + event.retryInMs;
      },
    }).run(leave.signal);
  });
  while (waiting < clients) await setTimeout(100);

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    await setTimeout(healthyMs);
    await gateway.stop(signal);
    gateway = await installation.gateway([], { SALLYPORT_LOG_LEVEL: 'warn' });
    seen.restart();
    const startedAt = performance.now();
    while (seen.back.size < clients && performance.now() - startedAt < 60_000) await setTimeout(100);
    expect(seen.back.size).toBe(clients);
    const times = [...seen.back.values()].map((at) => at - startedAt);
    const last = Math.max(...times);
    const bins = new Array<number>(firstMs / binMs).fill(0);
    for (const ms of planned.map((at) => at - startedAt))
      if (ms >= 0 && ms < firstMs) bins[Math.floor(ms / binMs)]! += 1;
    const peak = Math.max(...bins);
    const soon = times.filter((ms) => ms < firstMs);
    const mean = (soon.length * binMs) / Math.min(last, firstMs);
    const refused = Math.max(0, ...seen.refusals.values());
    console.log(
      `${signal}: all back in ${(last / 1000).toFixed(1)} s; in ${binMs} ms at most ${peak}, ${mean.toFixed(1)} on average; at most ${refused} refusals each`,
    );
    expect(peak / mean).toBeLessThan(3);
    expect(refused).toBeLessThanOrEqual(3);
  }
  leave.abort();
  await Promise.all(runs);
  await seen.transport.close();
  await wire.close();
});

/** When each environment's first poll after a restart went out, and how often it was refused. */
function watching(transport: Transport) {
  const back = new Map<string, number>();
  const refusals = new Map<string, number>();
  return {
    back,
    refusals,
    restart() {
      back.clear();
      refusals.clear();
    },
    transport: {
      ...transport,
      async send(request) {
        const [, id] = /\/environments\/(\w+)\/work\/poll/.exec(request.url) ?? [];
        if (id === undefined) return transport.send(request);
        const isFirst = !back.has(id);
        if (isFirst) back.set(id, performance.now());
        try {
          const answer = await transport.send(request);
          if (answer.status >= 500) refusals.set(id, (refusals.get(id) ?? 0) + 1);
          return answer;
        } catch (error) {
          if (isFirst) back.delete(id);
          throw error;
        }
      },
    } satisfies Transport,
  };
}
