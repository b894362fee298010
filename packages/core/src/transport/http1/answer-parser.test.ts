import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AnswerParser } from './answer-parser.ts';
import { MalformedAnswer } from './fields.ts';

interface Asked {
  readonly method?: string;
  readonly upgrades?: boolean;
  /** Whether the connection ends after the bytes. */
  readonly ends?: boolean;
}

/** What an answer comes to, given in pieces that end at `cuts`. */
function read(
  bytes: string,
  { method = 'GET', upgrades = false, ends = false }: Asked = {},
  cuts: readonly number[] = [],
) {
  const told = {
    status: 0,
    headers: [] as string[],
    body: '',
    trailers: [] as string[],
    end: '',
    keepMs: undefined as number | undefined,
  };
  const parser = new AnswerParser({
    head: ({ status, headers }) => Object.assign(told, { status, headers: [...headers] }),
    data: (chunk) => (told.body += chunk.toString('latin1')),
    end: (trailers, keepMs) => Object.assign(told, { trailers: [...trailers], keepMs, end: 'whole' }),
    switched: ({ status }, rest) =>
      Object.assign(told, { status, body: rest.toString('latin1'), end: 'switched' }),
  });
  parser.expect(method, upgrades);
  const all = Buffer.from(bytes, 'latin1');
  const ats = [...new Set(cuts.map((cut) => cut % (all.length + 1)))].sort((a, b) => a - b);
  try {
    for (const [i, from] of [0, ...ats].entries()) {
      const piece = all.subarray(from, ats[i] ?? all.length);
      // What comes once protocols are switched, or the answer is whole, is no longer the parser's.
      if (told.end === 'switched') told.body += piece.toString('latin1');
      else if (told.end === 'whole' && piece.length > 0) told.keepMs = 0;
      else if (piece.length > 0) parser.write(piece);
    }
    if (ends) parser.close();
  } catch (error) {
    if (!(error instanceof MalformedAnswer)) throw error;
    told.end = 'refused';
  }
  return told;
}

/** The same in every way of cutting the bytes, each alone included. */
function inAnyPieces(bytes: string, asked?: Asked): ReturnType<typeof read> {
  const whole = read(bytes, asked);
  const each = read(
    bytes,
    asked,
    Array.from({ length: bytes.length }, (_none, i) => i),
  );
  // What went on before the fault may differ; that there is one may not.
  const seen = ({ end, body, ...rest }: typeof whole) => (end === 'refused' ? end : { end, body, ...rest });
  expect(seen(each)).toEqual(seen(whole));
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 8 }), (cuts) => {
      expect(seen(read(bytes, asked, cuts))).toEqual(seen(whole));
    }),
    { numRuns: 40 },
  );
  return whole;
}

const head = (lines: string, status = '200 OK', version = '1.1') =>
  `HTTP/${version} ${status}\r\n${lines}\r\n`;
const chunked = 'Transfer-Encoding: chunked\r\n';

describe('an answer, however it is cut,', () => {
  test.each<[string, string, Asked, Partial<ReturnType<typeof read>>]>([
    ['with a length', head('Content-Length: 5\r\n') + 'hello', {}, { body: 'hello', end: 'whole' }],
    ['that is empty', head('content-length: 0\r\n'), {}, { body: '', end: 'whole' }],
    ['without a reason', 'HTTP/1.1 299\r\ncontent-length: 0\r\n\r\n', {}, { status: 299, end: 'whole' }],
    [
      'in chunks, with extensions and trailers',
      `${head(chunked)}3;a=b\r\none\r\n00A\r\n0123456789\r\n0\r\nX-Sum: 1\r\nX-Two:\t2 \r\n\r\n`,
      {},
      { body: 'one0123456789', trailers: ['X-Sum', '1', 'X-Two', '2'], end: 'whole' },
    ],
    ['in no chunks', `${head(chunked)}0\r\n\r\n`, {}, { body: '', end: 'whole' }],
    ['to HEAD', head('Content-Length: 9\r\n'), { method: 'HEAD' }, { body: '', end: 'whole' }],
    ['to HEAD, in chunks', head(chunked), { method: 'HEAD' }, { body: '', end: 'whole' }],
    ['of 204', head('', '204 No Content'), {}, { end: 'whole', keepMs: undefined }],
    [
      'of 304 with a length',
      head('Content-Length: 9\r\n', '304 Not Modified'),
      {},
      { body: '', end: 'whole' },
    ],
    ['until the end', `${head('')}all of it`, { ends: true }, { body: 'all of it', end: 'whole', keepMs: 0 }],
    ['until an end that did not come', `${head('')}all of it`, {}, { body: 'all of it', end: '' }],
    [
      'whose end came too soon',
      `${head('Content-Length: 9\r\n')}half`,
      { ends: true },
      { body: 'half', end: '' },
    ],
    [
      'after hints',
      `${head('', '100 Continue')}${head('Link: </a>\r\n', '103 Early Hints')}${head('Content-Length: 2\r\n')}ok`,
      {},
      { status: 200, body: 'ok', end: 'whole' },
    ],
    [
      'that switches',
      `${head('Upgrade: websocket\r\n', '101 S')}\x81\x00`,
      { upgrades: true },
      { body: '\x81\x00', end: 'switched' },
    ],
    [
      'that does not switch',
      `${head('content-length: 2\r\n', '426 No')}no`,
      { upgrades: true },
      { body: 'no', end: 'whole' },
    ],
    [
      'with Latin-1 in it',
      head('X-A: \xe9\xa0\r\nContent-Length: 0\r\n', '200 Gr\xfc\xdfe'),
      {},
      { headers: ['X-A', '\xe9\xa0', 'Content-Length', '0'] },
    ],
    ['that closes', head('Connection: Foo, CLOSE\r\nContent-Length: 0\r\n'), {}, { end: 'whole', keepMs: 0 }],
    [
      'that says for how long it keeps',
      head('Keep-Alive: timeout=7, max=9\r\nContent-Length: 0\r\n'),
      {},
      { keepMs: 7000 },
    ],
    [
      'of HTTP/1.0',
      head('Content-Length: 2\r\n', '200 OK', '1.0') + 'ok',
      {},
      { body: 'ok', end: 'whole', keepMs: 0 },
    ],
    [
      'of HTTP/1.0 that keeps',
      head('Connection: keep-alive\r\nContent-Length: 0\r\n', '200 OK', '1.0'),
      {},
      { keepMs: undefined, end: 'whole' },
    ],
    [
      'with more than it says',
      `${head('Content-Length: 2\r\n')}okHTTP/1.1 200 OK\r\n\r\n`,
      {},
      { body: 'ok', end: 'whole', keepMs: 0 },
    ],
    [
      'with more than its last chunk',
      `${head(chunked)}0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n`,
      {},
      { body: '', end: 'whole', keepMs: 0 },
    ],
  ])('%s', (_name, bytes, asked, expected) => {
    expect(inAnyPieces(bytes, asked)).toMatchObject(expected);
  });

  test.each<[string, string]>([
    ['no HTTP', 'HELLO\r\n\r\n'],
    ['another version', head('Content-Length: 0\r\n', '200 OK', '2.0')],
    ['a status of four digits', head('Content-Length: 0\r\n', '2000 OK')],
    ['a status below 100', head('Content-Length: 0\r\n', '099 OK')],
    ['two spaces before the status', 'HTTP/1.1  200 OK\r\n\r\n'],
    ['an empty line first', `\r\n${head('Content-Length: 0\r\n')}`],
    ['both framings', `${head(`Content-Length: 2\r\n${chunked}`)}5\r\nhello\r\n0\r\n\r\n`],
    ['both framings, the other way round', `${head(`${chunked}Content-Length: 2\r\n`)}0\r\n\r\n`],
    ['two lengths', `${head('Content-Length: 2\r\nContent-Length: 5\r\n')}hello`],
    ['the same length twice', `${head('Content-Length: 2\r\ncontent-length: 2\r\n')}ok`],
    ['a list of lengths', `${head('Content-Length: 2, 2\r\n')}ok`],
    ['a length with a sign', `${head('Content-Length: +2\r\n')}ok`],
    ['a length in hexadecimal', `${head('Content-Length: 0x2\r\n')}ok`],
    ['a length that is empty', head('Content-Length:\r\n')],
    ['a length beyond all numbers', head('Content-Length: 9999999999999999\r\n')],
    ['another coding', head('Transfer-Encoding: gzip, chunked\r\n')],
    ['chunked twice', `${head(chunked + chunked)}0\r\n\r\n`],
    ['chunked in HTTP/1.0', `${head(chunked, '200 OK', '1.0')}0\r\n\r\n`],
    ['a space before the colon', head('Content-Length : 0\r\n')],
    ['a folded line', head('X-A: 1\r\n Content-Length: 0\r\n')],
    ['a line without a colon', head('X-A\r\nContent-Length: 0\r\n')],
    ['a line without a name', head(': 1\r\nContent-Length: 0\r\n')],
    ['a name that is none', head('X(A): 1\r\nContent-Length: 0\r\n')],
    ['a bare line feed', 'HTTP/1.1 200 OK\r\nX-A: 1\nContent-Length: 0\r\n\r\n'],
    ['bare line feeds only', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n'],
    ['a bare carriage return', head('X-A: 1\rContent-Length: 0\r\n')],
    ['a NUL', head('X-A: \0\r\nContent-Length: 0\r\n')],
    ['an escape in its reason', head('Content-Length: 0\r\n', '200 \x1b[2J')],
    ['a broken chunk size', `${head(chunked)}xyz\r\nhello`],
    ['a chunk size with a prefix', `${head(chunked)}0x5\r\nhello\r\n0\r\n\r\n`],
    ['a chunk size with a sign', `${head(chunked)}-1\r\n`],
    ['a chunk size with a space', `${head(chunked)}5 \r\nhello\r\n0\r\n\r\n`],
    ['no chunk size', `${head(chunked)}\r\nhello`],
    ['a chunk size beyond all numbers', `${head(chunked)}${'f'.repeat(14)}\r\n`],
    ['a chunk size with a bare line feed', `${head(chunked)}5\nhello\r\n0\r\n\r\n`],
    ['a chunk extension with a bare line feed', `${head(chunked)}5;a\nhello\r\n0\r\n\r\n`],
    ['a chunk that ends too late', `${head(chunked)}1\r\nabcdef\r\n0\r\n\r\n`],
    ['a chunk that ends with a bare line feed', `${head(chunked)}1\r\na\n0\r\n\r\n`],
    ['an endless chunk extension', `${head(chunked)}5;${'a'.repeat(5000)}`],
    ['a trailer that is none', `${head(chunked)}0\r\nX A: 1\r\n\r\n`],
    ['endless trailers', `${head(chunked)}0\r\n${`X-A: ${'a'.repeat(90)}\r\n`.repeat(200)}\r\n`],
    ['too long a head', head(`X-A: ${'a'.repeat(17_000)}\r\n`)],
    ['an endless head', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(17_000)}`],
    ['endless hints', head(`Link: ${'a'.repeat(900)}\r\n`, '103 Early Hints').repeat(20)],
    ['a switch that nobody asked for', head('Upgrade: h2c\r\n', '101 Switching Protocols')],
  ])('with %s is refused', (_name, bytes) => {
    expect(inAnyPieces(bytes).end).toBe('refused');
  });
});

test('what comes to nobody is refused', () => {
  const parser = new AnswerParser({ head: fail, data: fail, end: fail, switched: fail });
  expect(() => parser.write(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))).toThrow(MalformedAnswer);
});

test('whoever ends it in the middle hears no more', () => {
  const heard: string[] = [];
  const parser: AnswerParser = new AnswerParser({
    head: () => undefined,
    data: (chunk) => {
      heard.push(String(chunk));
      parser.stop();
    },
    end: fail,
    switched: fail,
  });
  parser.expect('GET', false);
  parser.write(Buffer.from(`${head(chunked)}1\r\na\r\n1\r\nb\r\n0\r\n\r\n`));
  expect(heard).toEqual(['ab']);
});

function fail(): never {
  throw new Error('Nobody asked.');
}
