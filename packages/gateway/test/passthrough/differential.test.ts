import fc from 'fast-check';
import { endpoints, families } from '@sallyport/core/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pathWithin } from '../every-row.ts';
import type { ServedApp } from '../serve.ts';
import { exchange, rawUpstream, type RawUpstream } from './raw-upstream.ts';
import { through } from './through.ts';

// Whatever is asked and whatever is answered: straight and through the gateway it is the same, but for what is listed here.
const ofRequests = ['via', 'request-id', 'host', 'connection', 'forwarded', /^x-forwarded-/];
const ofAnswers = ['via', 'request-id', 'connection', 'keep-alive', 'transfer-encoding'];

let upstream: RawUpstream;
let served: ServedApp;
/** What the upstream answers, in the pieces in which it writes. */
let script: readonly Buffer[] = [];
let heard: Message[] = [];

beforeAll(async () => {
  upstream = await rawUpstream(async (socket, head, rest) => {
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const chunks = [rest];
    for (let have = rest.length; have < length; have += chunks.at(-1)?.length ?? 0)
      chunks.push(await new Promise<Buffer>((resolve) => socket.once('data', resolve)));
    heard.push(parse(`${head}\r\n\r\n`, Buffer.concat(chunks).toString('latin1')));
    for (const piece of script) {
      socket.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.end();
  });
  served = await through(upstream.url);
});

afterAll(async () => {
  await served.close();
  await upstream[Symbol.asyncDispose]();
});

interface Message {
  readonly first: string;
  /** `name: value`, in order. */
  readonly headers: readonly string[];
  readonly body: string;
}

function parse(head: string, body: string): Message {
  const [first = '', ...headers] = head.split('\r\n').map((line) => line.replace(/[ \t]+$/, ''));
  return {
    first,
    headers: headers.filter((line) => line !== ''),
    body: /^transfer-encoding: chunked$/im.test(head) ? dechunked(body) : body,
  };
}

function dechunked(body: string): string {
  let whole = '';
  for (let at = 0; ;) {
    const line = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.slice(at, line), 16);
    if (!(size > 0)) return whole;
    whole += body.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}

const isLength = /^content-length:/i;

function without({ first, headers, body }: Message, listed: readonly (string | RegExp)[]): Message {
  const kept = headers.filter((line) => {
    const name = line.slice(0, line.indexOf(':')).toLowerCase();
    return !listed.some((one) => (typeof one === 'string' ? one === name : one.test(name)));
  });
  // Who frames a message writes how long it is, in a place and a case of its own.
  const [lengths, others] = [true, false].map((is) => kept.filter((line) => isLength.test(line) === is));
  return { first, headers: [...(others ?? []), ...(lengths ?? []).map((line) => line.toLowerCase())], body };
}

const tokenText = fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_|~-]{1,12}$/);
const headers = fc.array(
  fc
    .tuple(
      fc.oneof(
        tokenText.map((name) => `X-${name}`),
        fc.constantFrom('Accept', 'Set-Cookie', 'ETag'),
      ),
      fc.stringMatching(/^([!-~\x80-\xff][ !-~\x80-\xff]{0,20}[!-~\x80-\xff])?$/),
    )
    .map(([name, value]) => `${name}: ${value}`),
  { maxLength: 6 },
);
/** Few bytes, or so often the same ones that they wait for room on their way. */
const bodies = fc.record({ bytes: fc.uint8Array({ maxLength: 100 }), times: fc.constantFrom(1, 1, 1, 3000) });
type Body = typeof bodies extends fc.Arbitrary<infer T> ? T : never;
const textOf = ({ bytes, times }: Body) => Buffer.from(bytes).toString('latin1').repeat(times);
const places = [
  ...endpoints
    .filter(({ transport }) => transport !== 'websocket')
    .map((row) => ({ method: row.method, path: pathWithin(row) })),
  ...families
    .filter((family) => !('transport' in family))
    .flatMap(({ prefix }) =>
      ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'].map((method) => ({ method, path: `${prefix}/x` })),
    ),
];
const query = fc
  .stringMatching(/^(\?[A-Za-z0-9=&%._~+/:@!$'()*,;?-]{0,20})?$/)
  .filter((text) => !/%(?![0-9A-F]{2})/i.test(text));
const requests = fc.record({ place: fc.constantFrom(...places), query, headers, body: bodies });
const answers = fc.record({
  status: fc.oneof(
    fc.constantFrom(200, 201, 204, 304, 400, 404, 429, 500, 503),
    fc.integer({ min: 200, max: 599 }),
  ),
  reason: fc.stringMatching(/^[A-Za-z][A-Za-z -]{0,20}$/),
  headers,
  body: bodies,
  isChunked: fc.boolean(),
  /** Where the bytes are cut into pieces, as shares of the whole. */
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }),
});

function answerOf(
  answer: typeof answers extends fc.Arbitrary<infer T> ? T : never,
  method: string,
): Buffer[] {
  const { status, reason, isChunked } = answer;
  const body = textOf(answer.body);
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
  const chunked = body === '' ? '0\r\n\r\n' : `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const lines = [
    `HTTP/1.1 ${status} ${reason}`,
    'Date: then',
    ...answer.headers,
    ...(status === 204 ? [] : [framing]),
  ];
  const whole = Buffer.from(
    `${lines.join('\r\n')}\r\n\r\n${hasBody ? (isChunked ? chunked : body) : ''}`,
    'latin1',
  );
  const ends = [
    ...answer.cuts.map((share) => Math.floor(share * whole.length)).sort((a, b) => a - b),
    whole.length,
  ];
  return ends
    .map((end, index) => whole.subarray(ends[index - 1] ?? 0, end))
    .filter((piece) => piece.length > 0);
}

test('requests and answers are the same straight and through the gateway', async () => {
  await fc.assert(
    fc.asyncProperty(requests, answers, async ({ place, query, headers, ...asked }, answer) => {
      const body = textOf(asked.body);
      const sends = place.method !== 'GET' && place.method !== 'HEAD';
      const head = [
        `${place.method} ${place.path}${query} HTTP/1.1`,
        'Host: front.example',
        'Connection: close',
        ...headers,
      ];
      if (sends) head.push(`Content-Length: ${body.length}`);
      const request = `${head.join('\r\n')}\r\n\r\n${sends ? body : ''}`;
      heard = [];
      script = answerOf(answer, place.method);
      const [straight, passed] = [
        await exchange(upstream.port, request),
        await exchange(served.port, request),
      ].map((text) => {
        const end = text.indexOf('\r\n\r\n') + 4;
        return without(parse(text.slice(0, end), text.slice(end)), ofAnswers);
      });
      expect(passed).toEqual(straight);
      const [direct, passedOn] = heard.map((message) => without(message, ofRequests));
      expect(passedOn).toEqual(direct);
    }),
    { numRuns: 300 },
  );
});
