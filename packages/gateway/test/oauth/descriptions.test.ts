import { contract, type Endpoint } from '@sallyport/core/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callback, clientId, codeRequest, deviceGrantType, verifier } from './open-server.ts';
import { openOverHttp } from './over-http.ts';

/** RFC 6749 4.1.2.1, 5.2: what an `error_description` may be made of. */
const allowed = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

type Fields = readonly (readonly [string, string])[];
const fieldsOf = (record: Readonly<Record<string, string>>): Fields => Object.entries(record);

const rows: readonly Endpoint[] = Object.values(contract.oauth).filter(({ errors }) =>
  (errors as readonly number[]).includes(400),
);
const text = fc.string({ unit: 'binary', maxLength: 30 });
const hostile = fc.constantFrom('"', '\\', 'é"', '\u{1f600}', '\r\nx: y', 'x'.repeat(2000));

/** What some request is made of; then some of it is left out, sent twice, or is something else. */
const good = (organizationId: string): readonly Fields[] => [
  fieldsOf(codeRequest(organizationId)),
  fieldsOf({
    grant_type: 'authorization_code',
    client_id: clientId,
    code: 'x',
    code_verifier: verifier,
    redirect_uri: callback,
  }),
  fieldsOf({ grant_type: 'refresh_token', client_id: clientId, refresh_token: 'x', scope: 'openid' }),
  fieldsOf({ grant_type: deviceGrantType, client_id: clientId, device_code: 'x' }),
  fieldsOf({ client_id: clientId, token: 'x', scope: 'openid', name: 'x', expires_in: '1' }),
];

const requests = (organizationId: string) =>
  fc.record({
    row: fc.constantFrom(...rows),
    fields: fc
      .constantFrom(...good(organizationId))
      .chain((fields) =>
        fc
          .tuple(
            fc.subarray([...fields], { minLength: fields.length - 1 }),
            fc.array(
              fc.tuple(
                fc.oneof(fc.constantFrom(...fields.map(([name]) => name)), text, hostile),
                fc.oneof(text, hostile),
              ),
              { maxLength: 2 },
            ),
          )
          .map(([kept, others]) => [...kept, ...others]),
      ),
    form: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('json', 'urlencoded') },
      { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('json', 'text'), body: text }) },
      { weight: 1, arbitrary: fc.record({ type: fc.constant('json'), body: fc.json() }) },
    ),
  });

const types = {
  json: 'application/json',
  urlencoded: 'application/x-www-form-urlencoded',
  text: 'text/plain',
} as const;

test('whatever is sent to an endpoint of OAuth, an error_description has the characters that it may have', async () => {
  await using opened = await openOverHttp({ introspection: true });
  const { url, organizationId, sessionKey } = opened;
  const { access_token: token } = await opened.login();
  const seen = new Set<string>();
  const judge = (description: unknown) => {
    expect(description).toMatch(allowed);
    seen.add(String(description));
  };
  await fc.assert(
    fc.asyncProperty(requests(organizationId), async ({ row, fields, form }) => {
      const isQuery = row.method === 'GET';
      const encoded = new URLSearchParams(fields.map(([name, value]) => [name, value])).toString();
      const { type, body }: { type: keyof typeof types; body: string } =
        typeof form === 'object'
          ? form
          : { type: form, body: form === 'json' ? JSON.stringify(Object.fromEntries(fields)) : encoded };
      const path = row.path.replace('{org_uuid}', organizationId) + (isQuery ? `?${encoded}` : '');
      const answer = await fetch(url + path, {
        method: row.method,
        redirect: 'manual',
        headers: {
          authorization: `Bearer ${row.auth === 'session_key' ? sessionKey : token}`,
          ...(!isQuery && { 'content-type': types[type] }),
        },
        ...(!isQuery && { body }),
      });
      const read = await answer.text();
      const location = answer.headers.get('location');
      if (location?.startsWith(callback) === true)
        judge(new URL(location).searchParams.get('error_description') ?? '');
      if (answer.status >= 400 && answer.headers.get('content-type')?.startsWith('application/json') === true)
        judge((JSON.parse(read) as { error_description?: unknown }).error_description);
    }),
    { numRuns: 400 },
  );
  // That the requests got so far as to be refused for this and that.
  expect(seen.size).toBeGreaterThan(15);
});
