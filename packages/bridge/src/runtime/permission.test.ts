import { expect, test } from 'vitest';
import { logEvent } from './testing/fake-service.ts';
import { useBench } from './testing/use-bench.ts';

const { startSession } = useBench();

const asks = `echo '{"type":"tool.permission_request","data":{"request_id":"r1","tool":"bash","description":"rm"}}'`;

test('a process asks for permission, and has the answer on its input', async () => {
  const { bench, stream } = await startSession(`${asks}; read -r answer; echo "$answer"`, {
    interactive: true,
  });
  const ready = await stream.frames.until(({ type }) => type === 'worker.ready');
  expect(ready.data).toMatchObject({ interactive: true });
  const request = await stream.frames.until(({ type }) => type === 'tool.permission_request');
  expect(request.data).toEqual({ request_id: 'r1', tool: 'bash', description: 'rm' });
  const answer = logEvent(1, 'control.permission_response', { request_id: 'r1', behavior: 'allow' });
  stream.send(answer);
  await bench.until('session.ended');
  // No process may send such an answer, so its echo is output.
  expect(bench.of('session.output').map(({ text }) => JSON.parse(text!) as object)).toEqual([answer]);
});

test('a process that asks and cannot hear the answer is told of once', async () => {
  const { bench } = await startSession(`${asks}; ${asks}`);
  await bench.until('session.ended');
  expect(bench.of('session.event').map(({ name }) => name)).toEqual([
    'tool.permission_request',
    'tool.permission_request',
  ]);
  expect(bench.of('session.output').map(({ text }) => text)).toEqual([
    expect.stringContaining('--interactive') as string,
  ]);
});
