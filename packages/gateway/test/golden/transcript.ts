import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { RawAnswer } from './connection.ts';

/**
 * A request and its answer, written by hand, in one file of `transcripts/`: the request's head, an empty line, its body,
 * `====`, the answer likewise. Lines of a head end with CRLF on the wire; a body has the bytes of its line.
 *
 * What varies is a placeholder. `<name>` stands for a value that is known, `<name:kind>` for one of that kind that is known
 * from there on, `<:kind>` for any one of it. `<length>` is the length of the body beside it.
 */
export interface Transcript {
  readonly name: string;
  readonly request: Message;
  /** None yet where the gateway does not serve the endpoint; clients send the request all the same. */
  readonly answer: Message | undefined;
}

export interface Message {
  /** Lines, the first one included. */
  readonly head: readonly string[];
  readonly body: string;
}

export type Values = Map<string, string>;

const folder = new URL('transcripts/', import.meta.url);

const kinds: Readonly<Record<string, string>> = {
  jwt: String.raw`eyJ[\w-]+\.[\w-]+\.[\w-]+`,
  secret: String.raw`[\w.-]{32,}`,
  prefixed: String.raw`[a-z]+[-_][\w-]{20,}`,
  apiKey: String.raw`sk-[\w-]{48}`,
  userCode: '[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}',
  uuid: '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}',
  env: 'env_[0-9A-Za-z]{22,26}',
  work: 'work_[0-9A-Za-z]{22,26}',
  session: 'session_[0-9A-Za-z]{22,26}',
  evt: 'evt_[0-9A-Za-z]{22,26}',
  req: 'req_[0-9A-Za-z]{22,26}',
  time: String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`,
  date: String.raw`\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT`,
  number: String.raw`\d+`,
  etag: String.raw`[\w-]{22}`,
};

export function readTranscripts(): Transcript[] {
  return readdirSync(folder)
    .sort()
    .map((file) => {
      const text = readFileSync(new URL(file, folder), 'utf8');
      const [request = '', answer] = text.replace(/\n$/, '').split('\n====\n');
      const name = file.replace('.http', '');
      return { name, request: parse(request), answer: answer === undefined ? undefined : parse(answer) };
    });
}

function parse(text: string): Message {
  const [head = '', ...body] = text.split('\n\n');
  return { head: head.split('\n'), body: body.join('\n\n') };
}

/** The bytes of a message; `valueOf` fills its placeholders. */
export function toBytes({ head, body }: Message, valueOf: (name: string, kind?: string) => string): string {
  const fill = (text: string, length = 0) =>
    text.replace(/<(\w*)(?::(\w+))?>/g, (_, name: string, kind?: string) =>
      name === 'length' ? String(length) : valueOf(name, kind),
    );
  const content = fill(body);
  return [...head.map((line) => fill(line, Buffer.byteLength(content))), '', content].join('\r\n');
}

/** The value of a name that is known; throws where it is not. */
export function knownIn(values: Values): (name: string) => string {
  return (name) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`<${name}> is not known`);
    return value;
  };
}

/** Holds an answer to the transcript's: status line, all headers in any order, body. Puts what it names into `values`. */
export function expectAnswer(answer: RawAnswer, expected: Message, values: Values): void {
  const [status, ...headers] = answer.head.split('\r\n');
  const [expectedStatus, ...expectedHeaders] = expected.head;
  expect(status).toBe(expectedStatus);
  const own = new Map([...values, ['length', String(Buffer.byteLength(answer.body))]]);
  expect(byName(headers).map(([name]) => name)).toEqual(byName(expectedHeaders).map(([name]) => name));
  for (const [index, [name, value]] of byName(expectedHeaders).entries())
    match(`${name}: ${byName(headers)[index]![1]}`, `${name}: ${value}`, own);
  match(answer.body, expected.body, own);
  for (const [name, value] of own) if (name !== 'length') values.set(name, value);
}

export function byName(lines: readonly string[]): [name: string, value: string][] {
  return lines
    .map((line): [string, string] => [
      line.slice(0, line.indexOf(': ')).toLowerCase(),
      line.slice(line.indexOf(': ') + 2),
    ])
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

function match(text: string, expected: string, values: Values): void {
  const named = new Set<string>();
  const pattern = expected
    .split(/(<\w*(?::\w+)?>)/)
    .map((part, index) => {
      if (index % 2 === 0) return escape(part);
      const [name = '', kind] = part.slice(1, -1).split(':');
      if (kind === undefined) return named.has(name) ? `\\k<${name}>` : escape(values.get(name) ?? part);
      if (name === '') return kinds[kind]!;
      named.add(name);
      return `(?<${name}>${kinds[kind]!})`;
    })
    .join('');
  const found = new RegExp(`^${pattern}$`).exec(text);
  // A comparison of the texts shows where they part.
  if (!found) expect(text).toBe(expected);
  for (const [name, value] of Object.entries(found?.groups ?? {})) values.set(name, value);
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
