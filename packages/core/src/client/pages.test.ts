import { expect, test } from 'vitest';
import { contract } from '../contract/index.ts';
import type { Transport } from '../transport/transport.ts';
import type { ClientOptions } from './call.ts';
import { nextOffset, pages } from './pages.ts';

/** A service that gives these pages; `asked` is where they were asked for. */
function service(...answers: readonly { readonly items: readonly string[]; readonly link?: string }[]) {
  const asked: string[] = [];
  const transport: Transport = {
    send({ url }) {
      const { items, link } = answers[asked.push(url) - 1] ?? { items: [] };
      const text = JSON.stringify(items.map((id) => ({ id })));
      const headers = link === undefined ? {} : { link };
      return Promise.resolve({
        status: 200,
        headers,
        text: () => Promise.resolve(text),
        stream: () => {
          throw new Error('not asked for');
        },
      });
    },
    close: () => Promise.resolve(),
  };
  const options: ClientOptions = {
    baseUrl: 'http://gateway.example/prefix',
    transport,
    tokens: { token: () => Promise.resolve('secret') },
  };
  return { options, asked };
}

const list = contract.environments.list;

async function idsOf(options: ClientOptions, query: { limit?: number; name?: string; offset?: string } = {}) {
  const ids: string[] = [];
  for await (const { body } of pages(options, list, { query })) ids.push(...body.map(({ id }) => id));
  return ids;
}

test('pages follow each other by the offset of Link, with the query that was given', async () => {
  const { options, asked } = service(
    { items: ['a', 'b'], link: '</v1/environments?limit=2&name=x&offset=t%2F1>; rel="next"' },
    { items: ['c'], link: '<?offset=t2>; rel=next' },
    { items: [] },
  );
  expect(await idsOf(options, { limit: 2, name: 'x' })).toEqual(['a', 'b', 'c']);
  expect(asked).toEqual([
    'http://gateway.example/prefix/v1/environments?limit=2&name=x',
    'http://gateway.example/prefix/v1/environments?limit=2&name=x&offset=t%2F1',
    'http://gateway.example/prefix/v1/environments?limit=2&name=x&offset=t2',
  ]);
});

test('a link to elsewhere is not followed: the token stays with the gateway', async () => {
  const { options, asked } = service(
    { items: ['a'], link: '<https://evil.example/steal?offset=t1>; rel="next"' },
    { items: ['b'] },
  );
  expect(await idsOf(options)).toEqual(['a', 'b']);
  expect(asked.map((url) => new URL(url).origin)).toEqual([
    'http://gateway.example',
    'http://gateway.example',
  ]);
});

test('a page is asked for when it is wanted, and not before', async () => {
  const { options, asked } = service({ items: ['a'], link: '<?offset=t1>; rel=next' });
  for await (const { next } of pages(options, list, {})) {
    expect(next).toBe('t1');
    break;
  }
  expect(asked).toHaveLength(1);
});

test.each(['<?offset=t1>; rel=next', '<?page=2>; rel=next'])(
  'a next page that is none is told, not followed for ever: %s',
  async (link) => {
    const { options } = service({ items: ['a'], link });
    await expect(idsOf(options, { offset: 't1' })).rejects.toMatchObject({ code: 'unexpected_answer' });
  },
);

test.each([
  [undefined, undefined],
  ['', undefined],
  ['<?offset=1>; rel="prev"', undefined],
  ['<?offset=1>; title="a, b; rel=next, <x>"; rel=prev', undefined],
  ['<?offset=1>', undefined],
  ['<?offset=1>; rel=nextish', undefined],
  ['<?offset=1>;REL="last NEXT"', '1'],
  ['<?offset=0>; rel="prev", <?a=1,2&offset=2>; rel="next"; title="\\"x\\""', '2'],
  ['<http://h/p?x=?&offset=3#f>; rel=next', '3'],
  ['</p>; rel=next', ''],
  ['nonsense; rel=next', undefined],
])('the next offset of Link %j is %j', (header, offset) => {
  expect(nextOffset(header)).toBe(offset);
});
