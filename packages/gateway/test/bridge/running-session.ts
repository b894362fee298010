import type { BridgeConfig, Caller } from '@sallyport/bridge/server';
import { openHarness, owner, type Harness } from './harness.ts';
import { openSocket } from './socket.ts';

export const prompt = { id: 'prompt', type: 'session.message', data: { text: 'hello' } };

/** A session whose work is acknowledged. */
export async function runningSession(config?: Partial<BridgeConfig>) {
  const harness = openHarness(config);
  await harness.engine.start();
  const env = await harness.register();
  const { id, workId } = await harness.session(env, { events: [prompt] });
  await harness.poll(env);
  await harness.engine.bridge.ack(owner, { environmentId: env, workId });
  return { ...harness, env, id, workId };
}

/** All three steps; gives the worker's socket and token. */
export async function handshake(
  { engine, tokens }: Harness,
  id: string,
  options: { readonly from?: number; readonly workerToken?: string; readonly caller?: Caller } = {},
) {
  const { worker_jwt: token } = await engine.worker.takeOver(options.caller ?? owner, id, options);
  const claims = await tokens.verify(token);
  await engine.worker.register(claims, id);
  const socket = openSocket();
  const attach = await engine.worker.open(claims, id, { from: options.from });
  attach(socket);
  await settled();
  return { socket, token, claims };
}

export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
