import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readdressing } from './addresses.ts';

const addresses = { api_base_url: 'base', bridge_ws_url: 'websocket' } as const;
const options = { publicUrl: 'https://front.example', basePath: '/base' };
const readdress = (text: string) => readdressing({ addresses }, options)?.(Buffer.from(text)).toString();

test('the members that are addresses are others, and no byte beside them', () => {
  expect(
    readdress(
      ' { "a" : 12345678901234567890, "api_base_url"\t:\n"http:\\/\\/up.example\\/base" ,"b":[1.0,1e400,{"api_base_url":"kept"}],' +
        '"api\\u005fbase_url":"x","c":"\\u00e9\\"api_base_url\\":","bridge_ws_url":"wss://up.example/base/ws?t=1","a":"api_base_url"}\n',
    ),
  ).toBe(
    ' { "a" : 12345678901234567890, "api_base_url"\t:\n"https://front.example" ,"b":[1.0,1e400,{"api_base_url":"kept"}],' +
      '"api\\u005fbase_url":"https://front.example","c":"\\u00e9\\"api_base_url\\":","bridge_ws_url":"wss://front.example/ws?t=1","a":"api_base_url"}\n',
  );
});

test.each([
  '5',
  '"api_base_url"',
  '["api_base_url", "x"]',
  '{"api_base_url": 5, "bridge_ws_url": null}',
  '{}',
])('where there are none, nothing changes: %s', (text) => expect(readdress(text)).toBe(text));

test('whatever else an answer has, it is read as before', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.constantFrom(undefined, 1, '\t'),
      (members, space) => {
        const given = { ...members, api_base_url: 'http://up.example' };
        const here = readdress(JSON.stringify(given, undefined, space)) ?? '';
        const expected = { ...given, api_base_url: options.publicUrl };
        // An address by chance is one, too.
        if (typeof members['bridge_ws_url'] === 'string') return;
        expect(here).toBe(JSON.stringify(expected, undefined, space));
      },
    ),
  );
});
