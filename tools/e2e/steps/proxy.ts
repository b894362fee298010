import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { FrameReader } from './frames.ts';

/** What of the main job goes by; of the two frames the worker's event is the request, its acknowledgement the answer. */
export type Step =
  | 'token'
  | 'register'
  | 'poll'
  | 'ack'
  | 'create'
  | 'handshake'
  | 'worker.register'
  | 'stream'
  | 'worker.ready'
  | 'session.output'
  | 'worker.exited'
  | 'stop';

/** `before`: the gateway has not got it; `after`: it has answered, and the caller has not got that. */
export type Side = 'before' | 'after';

const steps: readonly (readonly [Step, RegExp])[] = [
  ['token', /^POST \/v1\/oauth\/token$/],
  ['register', /^POST \/v1\/environments\/bridge$/],
  ['poll', /^GET \/v1\/environments\/[^/]+\/work\/poll/],
  ['ack', /^POST \/v1\/environments\/[^/]+\/work\/[^/]+\/ack$/],
  ['stop', /^POST \/v1\/environments\/[^/]+\/work\/[^/]+\/stop$/],
  ['create', /^POST \/v1\/sessions$/],
  ['handshake', /^POST \/v1\/code\/sessions\/[^/]+\/bridge$/],
  ['worker.register', /^POST \/v1\/code\/sessions\/[^/]+\/worker\/register$/],
  ['stream', /^GET \/v1\/code\/sessions\/[^/]+\/worker\/events\/stream/],
];

/** An event that the gateway acknowledged to a worker, whether the worker heard of it or not. */
export interface Acknowledged {
  readonly id: string;
  readonly seq: number;
}

interface Trap {
  readonly isMeant: (step: string, side: Side) => boolean;
  readonly act: () => Promise<'pass' | 'cut'>;
  readonly settle: (outcome: Promise<void>) => void;
}

/** Between the clients and the gateway: lets everything through, but at one step of the job, when a test wants it, nothing. */
export class StepProxy {
  acknowledged: Acknowledged[] = [];
  /** What went by, in order: for the message of a test that fails. */
  seen: string[] = [];
  /** The gateway's port. */
  upstream = 0;
  readonly #server = createServer((incoming, answer) => void this.#forward(incoming, answer));
  readonly #sockets = new Set<Duplex>();
  readonly #typeOf = new Map<string, string>();
  #trap: Trap | undefined;

  async listen(): Promise<this> {
    this.#server.on('connection', (socket) => this.#keep(socket));
    this.#server.on('upgrade', (incoming, socket, head) => void this.#upgrade(incoming, socket, head));
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /**
   * Holds the next passage of `step` while it does `act`, then lets it pass or cuts the connection. A poll counts as
   * answered when that grants work. Resolves when `act` is done.
   */
  holdAt(step: Step, side: Side, act: Trap['act']): Promise<void> {
    return this.#hold((passing, itsSide) => passing === step && itsSide === side, act);
  }

  /** The same for whatever goes by after `count` passages. */
  holdAfter(count: number, act: Trap['act']): Promise<void> {
    let left = count;
    return this.#hold(() => left-- <= 0, act);
  }

  #hold(isMeant: Trap['isMeant'], act: Trap['act']): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#trap = { isMeant, act, settle: (outcome) => void outcome.then(resolve, reject) };
    });
  }

  /** Holds nothing any more. */
  release(): void {
    const trap = this.#trap;
    this.#trap = undefined;
    trap?.settle(Promise.resolve());
  }

  /** A new job begins. */
  forget(): void {
    this.acknowledged = [];
    this.seen = [];
    this.#trap = undefined;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
  }

  /** Gives whether it may pass. */
  async #pass(step: string | undefined, side: Side): Promise<boolean> {
    if (step === undefined) return true;
    this.seen.push(`${step} ${side}`);
    const trap = this.#trap;
    if (!trap?.isMeant(step, side)) return true;
    this.#trap = undefined;
    const done = trap.act();
    trap.settle(done.then(() => undefined));
    const verdict = await done.catch(() => 'cut');
    this.seen.push(verdict);
    return verdict === 'pass';
  }

  async #forward(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method, url = '/', rawHeaders, socket } = incoming;
    const step = steps.find(([, pattern]) => pattern.test(`${method ?? ''} ${url}`))?.[0];
    incoming.on('error', () => undefined);
    if (!(await this.#pass(step, 'before'))) return void socket.destroy();
    const forwarded = this.#request(incoming, url, rawHeaders);
    forwarded.on('error', () => socket.destroy());
    answer.on('close', () => forwarded.destroy());
    forwarded.on('response', (response) => {
      response.on('error', () => socket.destroy());
      if (step === undefined) this.#stream(response, answer);
      else if (response.headers['content-type']?.startsWith('text/event-stream') === true)
        void this.#pass(step, 'after').then((mayPass) =>
          mayPass ? this.#stream(response, answer) : answer.destroy(),
        );
      else void this.#relay(step, response, answer);
    });
    incoming.pipe(forwarded);
  }

  #request(incoming: IncomingMessage, path: string, rawHeaders: readonly string[]) {
    // A connection each: a kept one that a killed gateway left would fail where no real client's does.
    return request({
      host: '127.0.0.1',
      port: this.upstream,
      path,
      method: incoming.method ?? 'GET',
      headers: rawHeaders,
      agent: false,
    });
  }

  #stream(response: IncomingMessage, answer: ServerResponse): void {
    answer.writeHead(response.statusCode ?? 0, response.rawHeaders).flushHeaders();
    response.on('aborted', () => answer.destroy());
    response.pipe(answer);
  }

  async #relay(step: Step, response: IncomingMessage, answer: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of response) chunks.push(chunk as Buffer);
    } catch {
      return void answer.destroy();
    }
    const body = Buffer.concat(chunks);
    const isAnswer = step !== 'poll' || body.toString('utf8') !== 'null';
    if (isAnswer && !(await this.#pass(step, 'after'))) return void answer.destroy();
    answer.writeHead(response.statusCode ?? 0, response.rawHeaders).end(body);
  }

  async #upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { url = '/', rawHeaders } = incoming;
    const step = steps.find(([, pattern]) => pattern.test(`GET ${url}`))?.[0];
    if (!(await this.#pass(step, 'before'))) return void socket.destroy();
    const forwarded = this.#request(incoming, url, rawHeaders);
    forwarded.on('error', () => socket.destroy());
    socket.on('close', () => forwarded.destroy());
    forwarded.on('response', (response) => {
      socket.write(headOf(response));
      response.pipe(socket);
    });
    forwarded.on('upgrade', (response, upstream: Socket, upstreamHead) => {
      this.#keep(upstream);
      upstream.on('close', () => socket.destroy());
      socket.on('close', () => upstream.destroy());
      void this.#pass(step, 'after').then((mayPass) => {
        if (!mayPass) return void socket.destroy();
        socket.write(headOf(response));
        this.#pump(socket, upstream, head, 'before');
        this.#pump(upstream, socket, upstreamHead, 'after');
      });
    });
    forwarded.end();
  }

  /** Carries frames over one by one, so that one can be held. */
  #pump(from: Duplex, to: Duplex, head: Buffer, side: Side): void {
    const reader = new FrameReader();
    let carried = Promise.resolve();
    const carry = (chunk: Buffer) => {
      for (const { wire, text } of reader.read(chunk)) {
        carried = carried.then(async () => {
          if (to.destroyed) return;
          if (await this.#passFrame(text, side)) to.write(wire);
          else to.destroy();
        });
      }
    };
    carry(head);
    from.on('data', carry);
  }

  #passFrame(text: string | undefined, side: Side): Promise<boolean> {
    const { id, seq, type } = frameOf(text);
    if (side === 'before') {
      if (typeof id === 'string') this.#typeOf.set(id, String(type));
      return this.#pass(typeof id === 'string' ? String(type) : undefined, side);
    }
    if (type !== 'ack' || typeof id !== 'string') return Promise.resolve(true);
    this.acknowledged.push({ id, seq: Number(seq) });
    return this.#pass(this.#typeOf.get(id), side);
  }
}

function frameOf(text: string | undefined): Readonly<Record<string, unknown>> {
  return text === undefined ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function headOf({ statusCode = 0, statusMessage = '', rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let at = 0; at < rawHeaders.length; at += 2)
    lines.push(`${rawHeaders[at] ?? ''}: ${rawHeaders[at + 1] ?? ''}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
