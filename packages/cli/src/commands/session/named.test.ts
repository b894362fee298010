import { undiciTransport } from '@sallyport/core/client';
import { expect, onTestFinished, test } from 'vitest';
import { startService, type Answer } from '../../testing/service.ts';
import { testSession } from '../../testing/session.ts';
import { sessionNamed, sessionsNamed } from './named.ts';

const { signal } = new AbortController();
const whole = `session_${'0'.repeat(26)}`;
const sessions = ['session_01KAAAB', 'session_01KAAAC', 'session_01KZZZZ'].map((id) =>
  testSession({ id, title: 'Fix it' }),
);

async function listing(answer: (at: number) => Answer) {
  const service = await startService(({ url }) =>
    answer(Number(new URL(url, 'http://x').searchParams.get('offset') ?? '0')),
  );
  const transport = undiciTransport();
  onTestFinished(async () => {
    await transport.close();
    service.close();
  });
  return { clientOptions: { baseUrl: service.baseUrl, transport }, lines: service.lines };
}

test.each([
  ['session_01KAAAB', 'session_01KAAAB'],
  ['session_01KZ', 'session_01KZZZZ'],
  ['01kz', 'session_01KZZZZ'],
  // In no list: the service may know it all the same.
  ['session_01J', 'session_01J'],
])('%s means %s', async (given, id) => {
  expect(await sessionNamed(await listing(() => ({ body: sessions })), given, signal)).toBe(id);
});

test('a whole id is looked up nowhere, and several names share one look; each counts once', async () => {
  const connection = await listing(() => ({ body: sessions }));
  expect(await sessionNamed(connection, whole, signal)).toBe(whole);
  expect(connection.lines()).toEqual([]);
  const given = ['01KAAAB', whole, '01KZ', 'session_01KZZZZ'];
  expect(await sessionsNamed(connection, given, signal)).toEqual([
    'session_01KAAAB',
    whole,
    'session_01KZZZZ',
  ]);
  expect(connection.lines()).toEqual(['GET /v1/sessions?limit=1000']);
});

test('several are shown, and none is told', async () => {
  const connection = await listing(() => ({ body: sessions }));
  await expect(sessionNamed(connection, '01KA', signal)).rejects.toMatchObject({
    code: 'ambiguous',
    exitCode: 2,
    message: expect.stringMatching(
      /^"01KA" may be one of several sessions:\nID .*\nsession_01KAAAB +done +Fix it\nsession_01KAAAC .*$/,
    ) as string,
  });
  await expect(sessionNamed(connection, 'nope', signal)).rejects.toMatchObject({
    code: 'not_found',
    exitCode: 4,
    message: 'There is no session "nope".',
    nextStep: 'See which there are: sallyport session list',
  });
});

test('the newest ten pages are looked through, and a service without the list takes what is given', async () => {
  const pages = await listing((at) => ({
    body: [testSession({ id: `session_PAGE${at}` })],
    headers: { link: `<?offset=${at + 1}>; rel="next"` },
  }));
  expect(await sessionNamed(pages, 'page9', signal)).toBe('session_PAGE9');
  expect(pages.lines()).toHaveLength(10);
  const none = await listing(() => ({ status: 404, body: { error: 'not_found', error_description: 'No.' } }));
  expect(await sessionNamed(none, 'session_01', signal)).toBe('session_01');
});
