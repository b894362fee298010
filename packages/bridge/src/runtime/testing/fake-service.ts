import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { Recorder } from './recorder.ts';

export interface FakeCall {
  readonly route: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

export interface FakeAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sent as it is, instead of a JSON body. */
  readonly raw?: string;
  /** Cuts the connection instead. */
  readonly reset?: true;
  /** Never answers. */
  readonly hang?: true;
  /** Answers when this resolves. */
  readonly after?: Promise<unknown>;
}

export interface FakeFrame {
  readonly type: string;
  readonly id?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

/** One open worker stream. */
export interface FakeStream {
  readonly socket: WebSocket;
  readonly fromSeq: number;
  readonly token: string;
  readonly frames: Recorder<FakeFrame>;
  readonly send: (frame: object) => void;
}

const routes: readonly (readonly [string, RegExp])[] = [
  ['register', /^\/v1\/environments\/bridge$/],
  ['disconnect', /^\/v1\/environments\/[^/]+\/bridge\/disconnect$/],
  ['reconnect', /^\/v1\/environments\/[^/]+\/bridge\/reconnect$/],
  ['unregister', /^\/v1\/environments\/bridge\/[^/]+$/],
  ['poll', /\/work\/poll$/],
  ['ack', /\/work\/[^/]+\/ack$/],
  ['stop', /\/work\/[^/]+\/stop$/],
  ['handshake', /^\/v1\/code\/sessions\/[^/]+\/bridge$/],
  ['worker', /\/worker\/register$/],
  ['stream', /\/worker\/events\/stream$/],
  ['events', /\/worker\/events$/],
  ['hints', /\/bridge\/ws$/],
  ['session', /^\/v1\/sessions\/[^/]+$/],
];

/** One open stream of hints. */
export interface FakeHints {
  readonly socket: WebSocket;
  readonly token: string;
  readonly send: (hint: object) => void;
}

/** A worker's stream as server-sent events. */
export interface FakeEventStream {
  readonly fromSeq: number;
  readonly token: string;
  /** Sends a frame, as the real service does. */
  readonly send: (frame: object) => void;
  readonly comment: () => void;
  readonly end: () => void;
}

const pollAgain = { 'x-next-poll-ms': '0' };

/** A service that does what a test tells it to: the peer that a real one never is. Real HTTP and WebSockets. */
export class FakeService {
  readonly calls = new Recorder<FakeCall>();
  readonly streams = new Recorder<FakeStream>();
  readonly hints = new Recorder<FakeHints>();
  readonly eventStreams = new Recorder<FakeEventStream>();
  /** Whether registrations say where hints are. */
  givesHints = false;
  /** Whether polls are answered at once, whatever they ask for. */
  holdsNothing = false;
  /** Whether streams acknowledge the worker's events. */
  acknowledges = true;
  environmentId = 'env_1';
  epoch = 0;
  /** The initial events of each stream that starts at the beginning. */
  backlog: object[] = [];
  /** Of every session. */
  sources: object[] = [];
  readonly #scripts = new Map<string, FakeAnswer[]>();
  readonly #grants: object[] = [];
  readonly #held = new Set<ServerResponse>();
  #server: Server;
  #sockets: WebSocketServer;
  #port = 0;

  constructor() {
    this.#server = createServer();
    this.#sockets = new WebSocketServer({ noServer: true });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<this> {
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#sockets = new WebSocketServer({ noServer: true });
    this.#server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => undefined);
      const call = this.#note(request, undefined);
      const scripted = this.#scripts.get(call.route)?.shift();
      if (scripted) {
        const body = scripted.raw ?? JSON.stringify(scripted.body ?? {});
        socket.end(`HTTP/1.1 ${scripted.status ?? 500} No\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (opened) =>
        call.route === 'hints' ? this.#openHints(opened, call) : this.#open(opened, call),
      );
    });
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  /** Forgets what a test made of it. */
  reset(): void {
    this.environmentId = 'env_1';
    this.calls.all.length = 0;
    for (const recorder of [this.streams, this.hints, this.eventStreams]) recorder.all.length = 0;
    this.givesHints = false;
    this.holdsNothing = false;
    this.acknowledges = true;
    this.epoch = 0;
    this.backlog = [];
    this.sources = [];
    this.#scripts.clear();
    this.#grants.length = 0;
    // Of a bridge that was killed: its next work would go to nobody.
    for (const response of this.#held) response.destroy();
    this.#held.clear();
  }

  /** As a kill -9 ends it: no word to anyone. */
  async crash(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#held.clear();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The next calls of a route get these answers, one each. */
  script(route: string, ...answers: FakeAnswer[]): void {
    this.#scripts.set(route, [...(this.#scripts.get(route) ?? []), ...answers]);
  }

  /** Hands out work: to the poll that is held, else to the next one. */
  grant(item: object): void {
    this.#grants.push(item);
    for (const response of this.#held) {
      this.#held.delete(response);
      reply(response, { headers: pollAgain, body: this.#grants.shift() ?? null });
      return;
    }
  }

  grantSession(sessionId: string, workId = workOf(sessionId)): void {
    this.grant({ id: workId, data: { type: 'session', id: sessionId } });
  }

  called(route: string, count = 1): Promise<FakeCall> {
    return this.calls.until((call) => call.route === route, count);
  }

  countOf(route: string): number {
    return this.calls.all.filter((call) => call.route === route).length;
  }

  #note(request: IncomingMessage, body: unknown): FakeCall {
    const url = new URL(request.url ?? '/', this.url);
    const route = routes.find(([, form]) => form.test(url.pathname))?.[0] ?? 'other';
    const call = { route, path: url.pathname, query: url.searchParams, headers: request.headers, body };
    this.calls.add(call);
    return call;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks = await request.toArray().catch(() => undefined);
    if (chunks === undefined) return; // the bridge hung up amid it
    const text = Buffer.concat(chunks as Buffer[]).toString('utf8');
    const call = this.#note(request, text === '' ? undefined : JSON.parse(text));
    const scripted = this.#scripts.get(call.route)?.shift();
    if (scripted?.hang) return;
    await scripted?.after;
    if (scripted?.reset) response.destroy();
    else if (scripted && Object.keys(scripted).some((key) => key !== 'after')) reply(response, scripted);
    else if (call.route === 'poll') this.#poll(call, response);
    else if (call.route === 'stream') this.#openEvents(response, call);
    else reply(response, { body: this.#usual(call) });
  }

  #poll(call: FakeCall, response: ServerResponse): void {
    for (const older of this.#held) reply(older, { headers: pollAgain, body: null });
    this.#held.clear();
    const hasCapacity = call.query.get('capacity') !== '0';
    if (hasCapacity && this.#grants.length > 0)
      return reply(response, { headers: pollAgain, body: this.#grants.shift() });
    if (this.holdsNothing) return reply(response, { body: null });
    if (Number(call.query.get('block_ms') ?? 0) === 0)
      return reply(response, { headers: pollAgain, body: null });
    if (hasCapacity) this.#held.add(response);
    response.on('close', () => this.#held.delete(response));
  }

  #usual(call: FakeCall): unknown {
    switch (call.route) {
      case 'register':
        return {
          environment_id: this.environmentId,
          ...(this.givesHints && {
            bridge_ws_url: `ws://127.0.0.1:${this.#port}/v1/environments/${this.environmentId}/bridge/ws`,
          }),
        };
      case 'events': {
        const { events = [] } = (call.body ?? {}) as { readonly events?: readonly FakeFrame[] };
        return { events: events.map(({ id }, index) => ({ id, seq: 1000 + index })) };
      }
      case 'handshake':
        this.epoch += call.headers['x-worker-token'] === undefined ? 1 : 0;
        return { worker_jwt: `jwt-${this.epoch}`, api_base_url: this.url, worker_epoch: this.epoch };
      case 'session':
        return { id: 'x', session_context: { sources: this.sources } };
      case 'worker':
        return { status: 'registered' };
      default:
        return { id: 'x', state: 'active' };
    }
  }

  #openHints(socket: WebSocket, call: FakeCall): void {
    const send = (hint: object) => socket.send(JSON.stringify(hint));
    this.hints.add({ socket, token: tokenOf(call), send });
  }

  #openEvents(response: ServerResponse, call: FakeCall): void {
    const fromSeq = Number(call.query.get('from_seq') ?? 0);
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    const send = (frame: object) => {
      const { type, session_id: isEvent } = frame as { type: string; session_id?: string };
      response.write(`${isEvent === undefined ? `event: ${type}\n` : ''}data: ${JSON.stringify(frame)}\n\n`);
    };
    for (const event of this.backlog) if ((event as { seq: number }).seq > fromSeq) send(event);
    send({ type: 'caught_up', seq: this.backlog.length });
    const comment = () => void response.write(': ka\n\n');
    this.eventStreams.add({ fromSeq, token: tokenOf(call), send, comment, end: () => response.end() });
  }

  #open(socket: WebSocket, call: FakeCall): void {
    const fromSeq = Number(call.query.get('from_seq') ?? 0);
    const frames = new Recorder<FakeFrame>();
    const send = (frame: object) => socket.send(JSON.stringify(frame));
    let seq = 1000;
    socket.on('message', (data) => {
      const frame = JSON.parse((data as Buffer).toString('utf8')) as FakeFrame;
      frames.add(frame);
      if (frame.id !== undefined && this.acknowledges) send({ type: 'ack', id: frame.id, seq: (seq += 1) });
    });
    for (const event of this.backlog) if ((event as { seq: number }).seq > fromSeq) send(event);
    send({ type: 'caught_up', seq: this.backlog.length });
    this.streams.add({ socket, fromSeq, token: tokenOf(call), frames, send });
  }
}

function tokenOf({ headers }: FakeCall): string {
  return String(headers.authorization).replace('Bearer ', '');
}

function reply(response: ServerResponse, { status = 200, headers = {}, body, raw }: FakeAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(raw ?? (body === undefined ? '' : JSON.stringify(body)));
}

/**
 * The id of a session's work. Processes are killed by it wherever they are, so that of a test file that runs beside this
 * one must be another.
 */
export function workOf(sessionId: string): string {
  return `work_${sessionId}_${process.pid}`;
}

/** An event of a session's log. */
export function logEvent(seq: number, type: string, data: Readonly<Record<string, unknown>> = {}): object {
  return { id: `evt_${seq}`, seq, type, session_id: 's', created_at: '2026-01-01T00:00:00.000Z', data };
}
