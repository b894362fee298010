import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';

export interface SinkEvent {
  readonly timeUnixNano: string;
  readonly severityNumber: number;
  readonly body?: { readonly stringValue: string };
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

export interface SinkRequest {
  readonly headers: IncomingHttpHeaders;
  /** As it was before it was compressed. */
  readonly text: string;
  /** On the wire. */
  readonly bytes: number;
  readonly events: readonly SinkEvent[];
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What the sink says to its nth request, from 0; `hang`: nothing, ever. */
export type Script = (request: SinkRequest, index: number) => Answer | 'hang' | Promise<Answer>;

/** A telemetry service that says what the test wants, over real HTTP. */
export async function startSink(script: Script = () => ({ status: 200, body: { accepted: 0 } })) {
  const requests: SinkRequest[] = [];
  const watchers = new Set<() => void>();
  const sink = { script, baseUrl: '', requests, names: () => requests.flatMap(namesOf), reached };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const text = String(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
      const { events } = JSON.parse(text) as { events: SinkEvent[] };
      const received = { headers: request.headers, text, bytes: body.length, events };
      const index = requests.push(received) - 1;
      for (const watch of watchers) watch();
      void Promise.resolve(sink.script(received, index)).then((answer) => reply(response, answer));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  sink.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return sink;

  /** Resolves when so many requests have come. */
  function reached(count: number): Promise<void> {
    return new Promise((resolve) => {
      const watch = () => {
        if (requests.length < count) return;
        watchers.delete(watch);
        resolve();
      };
      watchers.add(watch);
      watch();
    });
  }
}

function reply(response: ServerResponse, answer: Answer | 'hang'): void {
  if (answer === 'hang') return;
  const { status, headers, body } = answer;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined || typeof body === 'string' ? body : JSON.stringify(body));
}

export function attributeOf(event: SinkEvent, name: string): unknown {
  const value = event.attributes.find(({ key }) => key === name)?.value;
  return value && Object.values(value)[0];
}

/** The `event.name`s of a request's events. */
export function namesOf({ events }: SinkRequest): unknown[] {
  return events.map((event) => attributeOf(event, 'event.name'));
}

/** What the service says of an event. */
export const malformed = (index: number) => ({
  error: 'invalid_request',
  issues: [{ path: `events/${index}/body`, message: 'no' }],
});

/** Answers each request by the next status; the last one stays. */
export function statuses(...list: readonly number[]): Script {
  return (_, index) => ({ status: list[Math.min(index, list.length - 1)] ?? 200 });
}
