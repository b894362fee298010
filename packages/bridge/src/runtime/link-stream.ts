import type { ServiceFrame } from '../protocol/frames.ts';
import type { Context } from './context.ts';
import type { Credentials } from './worker-credentials.ts';
import type { LinkCredentials } from './link-credentials.ts';
import type { StreamEnd } from './live-socket.ts';
import type { Outbox } from './outbox.ts';
import type { PlaceInLog } from './place-in-log.ts';
import type { WorkerStream } from './stream.ts';

export interface LinkStreamOptions {
  readonly context: Context;
  readonly outbox: Outbox;
  readonly sessionId: string;
  readonly place: PlaceInLog;
  readonly credentials: LinkCredentials;
  readonly onOpen: () => void;
  readonly onCaughtUp: () => void;
}

/** One stream of a link: what the session says goes out on it, and what the service says goes to whom it is for. */
export class LinkStream {
  /** Rejects when it never opened, as that of a `WorkerStream` does. */
  readonly ended: Promise<StreamEnd>;
  readonly #options: LinkStreamOptions;
  readonly #stream: WorkerStream;
  readonly #over = new AbortController();
  #drainMs: number | undefined;

  constructor(options: LinkStreamOptions, present: Credentials) {
    this.#options = options;
    const { context, outbox, sessionId, place, onOpen } = options;
    const stream = context.streams.open({
      clientOptions: context.clientOptions,
      clock: context.clock,
      credentials: present,
      sessionId,
      fromSeq: place.resume(),
      onFrame: (frame) => this.#read(frame),
      onOpen: () => {
        context.emit({ type: 'session.connected', sessionId });
        outbox.attach((frame) => stream.send(frame));
        onOpen();
      },
    });
    this.#stream = stream;
    this.ended = stream.ended.finally(() => {
      this.#over.abort(); // late, its proof of the old token would fence the next stream off
      outbox.detach();
    });
  }

  get isOpen(): boolean {
    return this.#stream.isOpen;
  }

  /** When a service that drains asked to be called again. */
  get drainMs(): number | undefined {
    return this.#drainMs;
  }

  /** Ends it politely, once what was sent is out. */
  close(): void {
    this.#stream.close();
  }

  /** Ends it without a word. */
  drop(): void {
    this.#stream.drop();
  }

  #read(frame: ServiceFrame): void {
    const { context, outbox, place, credentials, onCaughtUp } = this.#options;
    if ('session_id' in frame) {
      if (place.reach(frame)) this.#stream.send(JSON.stringify({ type: 'ack', seq: frame.seq }));
      return;
    }
    switch (frame.type) {
      case 'ack':
        outbox.acknowledge(frame.id);
        break;
      case 'caught_up':
        if (!place.isSkipping) onCaughtUp();
        break;
      case 'resync_required':
        place.resync(frame.oldest_seq);
        break;
      case 'token_expiring':
        void credentials.renewOn(this.#stream, this.#over.signal);
        break;
      case 'draining':
        this.#drainMs = frame.reconnect_in_ms;
        break;
      case 'error':
        context.log.warn({ error: frame.error }, frame.error_description);
        break;
    }
  }
}
