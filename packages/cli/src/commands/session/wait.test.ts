import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { testContext } from '../../testing/context.ts';
import { startService, type Service } from '../../testing/service.ts';
import { testSession } from '../../testing/session.ts';
import { reportFailure } from '../../io/failure.ts';
import { sessionWait, type SessionWaitOptions } from './wait.ts';

const [first, second, third] = ['A', 'B', 'C'].map((end) => `session_${end.repeat(26)}`) as [
  string,
  string,
  string,
];

let service: Service;
/** Whom a stream is open for, and how each session that has ended ended. */
let streams: Map<string, ServerResponse>;
let statuses: Map<string, 'done' | 'failed'>;
beforeEach(async () => {
  streams = new Map();
  statuses = new Map();
  service = await startService(({ url }, response) => {
    const [, id = '', isStream] = /^\/v1\/sessions\/([^/?]+)(\/events\/stream)?/.exec(url) ?? [];
    if (![first, second, third].includes(id))
      return { status: 404, body: { error: 'not_found', error_description: 'There is no such session.' } };
    if (isStream === undefined)
      return { body: testSession({ id, status: statuses.get(id) ?? 'running', last_seq: 1 }) };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (statuses.has(id)) response.end(frame(id) + caughtUp);
    else {
      response.write(caughtUp);
      streams.set(id, response);
    }
    return undefined;
  });
});
afterEach(() => service.close());

const caughtUp = 'event: caught_up\ndata: {"seq":1}\n\n';
function frame(id: string): string {
  const data = { status: statuses.get(id), ...(statuses.get(id) === 'failed' && { exit_code: 3 }) };
  const event = { id: 'evt_2', seq: 2, type: 'session.updated', session_id: id, created_at: 'now', data };
  return `id: 2\ndata: ${JSON.stringify(event)}\n\n`;
}
function end(id: string, status: 'done' | 'failed'): void {
  statuses.set(id, status);
  streams.get(id)?.write(frame(id));
}

/** What a person waits for; `over` is the exit code. */
function wait(ids: readonly string[], options: SessionWaitOptions & { readonly json?: boolean } = {}) {
  const { context, clock, text } = testContext({ json: options.json === true });
  const ends: (() => unknown)[] = [];
  const over = sessionWait(
    {
      ...context,
      settings: {
        ...context.settings,
        baseUrl: service.baseUrl,
        token: 'secret',
        organization: organization,
      },
      env: { SALLYPORT_TOKEN: 'secret', DO_NOT_TRACK: '1' },
      onEnd: (act) => void ends.push(act),
    },
    options,
    ...ids,
  )
    .catch((error: unknown) => reportFailure(error, context.terminal, {}))
    .finally(() => Promise.all(ends.map((act) => act())));
  return { over, clock, text };
}
const organization = '0b6f7a52-8d5e-4b5e-9d3f-000000000001';
const open = (...ids: string[]) => expect.poll(() => [...streams.keys()].sort()).toEqual(ids);

test('all are waited for at once, and each is told of as it ends', async () => {
  const { over, text } = wait([first, second, third]);
  await open(first, second, third);
  end(third, 'done');
  await expect.poll(() => text().stdout).toBe(`${third} done\n`);
  end(first, 'failed');
  await expect.poll(() => text().stdout).toBe(`${third} done\n${first} failed (exit code 3)\n`);
  end(second, 'done');
  expect(await over).toBe(1);
  expect(text().stderr).toBe('');
});

test('with --json there is one document, in the order asked for', async () => {
  statuses.set(second, 'done');
  const { over, text } = wait([first, second], { json: true });
  await open(first);
  end(first, 'done');
  expect(await over).toBe(0);
  expect(JSON.parse(text().stdout)).toEqual([
    { id: first, status: 'done' },
    { id: second, status: 'done' },
  ]);
});

test.each([true, false])(
  'a time-out says which are live, and loses none that ended (--json: %s)',
  async (json) => {
    const { over, text, clock } = wait([first, second, third], { timeout: 5000, json });
    await open(first, second, third);
    const left = once(streams.get(second) as ServerResponse, 'close');
    end(second, 'done');
    await left;
    await clock.advance(5000);
    expect(await over).toBe(6);
    const said = `Not ended within 5 s, and going on: ${first}, ${third}.`;
    const nextStep = `Wait again: sallyport session wait ${first} ${third}`;
    expect(text().stderr).toBe(`error: ${said}\n${nextStep}\n`);
    if (json)
      expect(JSON.parse(text().stdout)).toEqual({
        ...{ error: 'timed_out', error_description: said, next_step: nextStep },
        ...{ ended: [{ id: second, status: 'done' }], live: [first, third] },
      });
    else expect(text().stdout).toBe(`${second} done\n`);
  },
);

test('--any is over with the first one, and its exit code is that one’s', async () => {
  const { over, text } = wait([first, second], { any: true });
  await open(first, second);
  end(second, 'done');
  expect(await over).toBe(0);
  expect(text()).toEqual({ stdout: `${second} done\n`, stderr: '' });
});

test('those that have ended before are told of in the order asked for', async () => {
  for (const id of [first, second, third]) statuses.set(id, 'done');
  const all = wait([third, first, second]);
  expect(await all.over).toBe(0);
  expect(all.text().stdout).toBe(`${third} done\n${first} done\n${second} done\n`);
  const one = wait([second, first], { any: true });
  expect(await one.over).toBe(0);
  expect(one.text().stdout).toBe(`${second} done\n`);
});

test('one that is not there ends the waiting, whatever its place', async () => {
  const { over, text } = wait([first, `session_${'X'.repeat(26)}`]);
  expect(await over).toBe(4);
  expect(text().stderr).toBe(
    'error: There is no such session.\nSee which there are: sallyport session list\n',
  );
});
