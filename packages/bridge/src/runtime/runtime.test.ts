import { describe, expect, test } from 'vitest';
import { RuntimeError } from './runtime-error.ts';
import { logEvent } from './testing/fake-service.ts';
import { useBench } from './testing/use-bench.ts';

const { service, start } = useBench();

describe('a session', () => {
  test('runs: registered, acknowledged before the spawn, fed, followed, ended', async () => {
    service.backlog = [logEvent(1, 'session.message', { text: 'hello' })];
    const bench = start({
      run: `read line; echo "got $line"; echo '{"type":"tool.call","data":{"n":1}}'; exit 3`,
    });
    service.grantSession('session_a');
    const ended = await bench.until('session.ended');
    expect(ended).toMatchObject({ sessionId: 'session_a', reason: 'exited', exitCode: 3, signal: null });

    expect(bench.events.all.map(({ type }) => type)).toEqual([
      'registered',
      'polling',
      'session.started',
      'session.connected',
      'session.output',
      'session.event',
      'session.ended',
    ]);
    const register = await service.called('register');
    expect(register.headers).toMatchObject({
      authorization: 'Bearer access',
      'x-environment-runner-version': '1.2.3',
      'x-trusted-device-token': 'device',
    });
    expect(register.headers['vendor-worker-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(register.body).toMatchObject({ machine_name: 'bench', metadata: { platform: process.platform } });
    const beside = ['poll', 'session']; // asked for beside the handshake
    const routes = service.calls.all.map(({ route }) => route).filter((route) => !beside.includes(route));
    expect(routes).toEqual(['register', 'ack', 'handshake', 'worker', 'stream']);
    // Whose an acknowledgement is goes by the worker, not by the login that several may share.
    expect(service.calls.all.find(({ route }) => route === 'ack')?.headers['vendor-worker-id']).toBe(
      register.headers['vendor-worker-id'],
    );

    const { frames, token } = service.streams.all[0]!;
    expect(token).toBe('jwt-1');
    const events = frames.all.filter((frame) => frame.id !== undefined);
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'worker.ready', data: { pid: expect.any(Number) as number, interactive: false } },
      {
        type: 'session.output',
        data: { stream: 'stdout', text: `got ${JSON.stringify(service.backlog[0])}` },
      },
      { type: 'tool.call', data: { n: 1 } },
      { type: 'worker.exited', data: { exit_code: 3, signal: null } },
    ]);
    expect(frames.all).toContainEqual({ type: 'ack', seq: 1 });
    expect(await bench.stop()).toEqual({ reason: 'stopped', killed: false });
  });
});

test.each(['/nowhere', '/dev/null'])(
  'a directory that is none is refused before anything is asked (%s)',
  async (directory) => {
    const { result } = start({ run: 'true', directory });
    await expect(result).rejects.toBeInstanceOf(RuntimeError);
    await expect(result).rejects.toMatchObject({
      code: 'invalid_directory',
      message: `There is no directory ${directory}: name one that exists.`,
    });
    expect(service.calls.all).toEqual([]);
  },
);
