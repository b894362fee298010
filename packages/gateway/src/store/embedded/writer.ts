import { on } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ServiceError } from '@sallyport/core';
import { Histogram } from '../../metrics/histogram.ts';
import type { Areas, Async } from './acts.ts';
import type * as contents from './contents.ts';
import type { BatchLimits, Call, FromWriter, Reply, ToWriter, WriterData } from './protocol.ts';
import type { SoundnessCheck } from './soundness.ts';
import { fromThrown } from './thrown.ts';
import { weigh } from './weigh.ts';

export interface WriterOptions {
  /** The database file; it and its directory are created when missing. */
  readonly path: string;
  /** Told once if the thread dies by itself. Every act is refused from then on: the process should end. */
  readonly onFatal?: (error: Error) => void;
  /** Called before the answers of a batch are told. */
  readonly onAnswers?: () => void;
  /** Told what people should know while an older database is brought up to date. */
  readonly onNotice?: (notice: string) => void;
  /** Whether an older database is brought up to date (default), or refused. */
  readonly migrate?: boolean;
  /** Whether the file is looked through for damage before it is used; default: it is not. */
  readonly check?: SoundnessCheck;
  /** Acts beyond so many waiting ones are refused at once (default 10,000) ... */
  readonly maxWaiting?: number;
  /** ... and those beyond so many bytes of waiting arguments (default 128 MiB). */
  readonly maxWaitingBytes?: number;
  readonly batch?: Partial<BatchLimits>;
  /** Module with what the store holds; default `contents.ts`. */
  readonly contents?: URL;
}

/** The writing half of the embedded store. */
export interface Writer<Registered extends Areas> {
  /**
   * The acts of one area. An act's promise settles after the commit: what was answered survives a power cut.
   * Rejects with what the act threw; with `store_unavailable` (503) if nothing was written, because the disk is full or
   * failing, or the thread is gone; with `overloaded` (503) if too many acts wait.
   */
  area<Name extends keyof Registered & string>(name: Name): Async<ReturnType<Registered[Name]>>;
  stats(): WriterStats;
  /** The disk's refusal of the last write, if that is not long ago: what may be well again has to be tried again. */
  failing(): Error | undefined;
  /** Refuses new acts, finishes those that wait, folds the log into the database and ends the thread. Idempotent. */
  close(): Promise<void>;
}

/** Since the start, and now. `acts / batches` is how well commits are shared. */
export interface WriterStats {
  readonly acts: number;
  readonly batches: number;
  readonly waiting: number;
  readonly waitingBytes: number;
  /** Of each batch, how long its first act took, which waited longest: from being asked for to its answer. */
  readonly seconds: Histogram;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly weight: number;
  /** By `performance.now()`. */
  readonly since: number;
}

// `rewriteRelativeImportExtensions` does not reach into `new URL`.
const extension = extname(import.meta.url);

/** For how long a write that the disk refused counts, where no other one comes. */
const failingMs = 15_000;

/** Starts the writer's thread, which opens the database and migrates it. Rejects with a `StoreError` if it cannot. */
export async function openWriter<Registered extends Areas = typeof contents.areas>(
  options: WriterOptions,
): Promise<Writer<Registered>> {
  const { maxWaiting = 10_000, maxWaitingBytes = 128 * 1024 * 1024 } = options;
  const { worker, acts } = await start(options);
  const waiting = new Map<number, Waiting>();
  let outbox: Call[] = [];
  let waitingBytes = 0;
  let lastId = 0;
  let batches = 0;
  const seconds = new Histogram();
  let refusal: ServiceError | undefined;
  let closed: Promise<void> | undefined;
  let failure: { readonly error: Error; readonly at: number } | undefined;

  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.on('message', (replies: readonly Reply[]) => {
    batches++;
    options.onAnswers?.();
    const first = waiting.get(replies[0]?.id ?? 0);
    if (first) seconds.observe((performance.now() - first.since) / 1000);
    for (const reply of replies) {
      const act = settle(reply.id);
      if ('thrown' in reply) {
        const thrown = fromThrown(reply.thrown);
        if (isUnavailable(thrown)) failure = { error: thrown, at: performance.now() };
        act?.reject(thrown);
      } else {
        failure = undefined;
        act?.resolve(reply.value);
      }
    }
  });
  worker.on('error', lost);
  worker.on('messageerror', (error) => {
    lost(error);
    void worker.terminate();
  });
  worker.on('exit', (code) => lost(new Error(`The store's writer ended with code ${String(code)}.`)));

  function settle(id: number): Waiting | undefined {
    const act = waiting.get(id);
    waiting.delete(id);
    waitingBytes -= act?.weight ?? 0;
    return act;
  }

  function lost(cause: Error): void {
    const unexpected = refusal === undefined;
    refusal ??= new ServiceError('store_unavailable', 'The store has failed.', { cause });
    for (const id of waiting.keys()) settle(id)?.reject(refusal);
    if (unexpected) options.onFatal?.(cause);
  }

  function call(area: string, act: string, argument: unknown): Promise<unknown> {
    if (refusal) return Promise.reject(refusal);
    const weight = weigh(argument);
    if (waiting.size >= maxWaiting || (waiting.size > 0 && waitingBytes + weight > maxWaitingBytes))
      return Promise.reject(
        new ServiceError('overloaded', 'Too many writes are waiting.', { retryAfterMs: 1000 }),
      );
    // After the I/O callbacks of this turn of the event loop: the requests that came together go together, and share a commit.
    if (outbox.length === 0) setImmediate(flush);
    const id = ++lastId;
    outbox.push({ id, area, act, argument });
    waitingBytes += weight;
    const since = performance.now();
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject, weight, since }));
  }

  function flush(): void {
    const calls = outbox;
    outbox = [];
    try {
      if (calls.length > 0) send(calls);
    } catch {
      // One argument that cannot be cloned must not cost the others their act.
      for (const one of calls) {
        try {
          send([one]);
        } catch (error) {
          settle(one.id)?.reject(error as Error);
        }
      }
    }
  }

  function send(message: ToWriter): void {
    worker.postMessage(message);
  }

  const ports = Object.fromEntries(
    Object.entries(acts).map(([area, names]) => [
      area,
      Object.fromEntries(names.map((act) => [act, (argument: unknown) => call(area, act, argument)])),
    ]),
  );

  return {
    area: (name) => ports[name] as Async<ReturnType<Registered[typeof name]>>,
    stats: () => ({ acts: lastId - waiting.size, batches, waiting: waiting.size, waitingBytes, seconds }),
    failing: () =>
      refusal ?? (failure && performance.now() - failure.at < failingMs ? failure.error : undefined),
    close() {
      closed ??= exited;
      if (refusal) return closed;
      refusal = new ServiceError('store_unavailable', 'The store is closed.');
      flush();
      send('close');
      return closed;
    },
  };
}

function isUnavailable(error: Error): boolean {
  return error instanceof ServiceError && error.code === 'store_unavailable';
}

async function start(options: WriterOptions) {
  const data: WriterData = {
    path: options.path,
    contents: String(options.contents ?? new URL(`./contents${extension}`, import.meta.url)),
    limits: { acts: 512, ms: 10, ...options.batch },
    migrate: options.migrate ?? true,
    check: options.check,
  };
  const worker = new Worker(new URL(`./writer-worker${extension}`, import.meta.url), {
    name: 'store-writer',
    workerData: data,
    // From sources, the thread must find the other packages' sources too, also under a test runner that resolves by itself.
    ...(extension === '.ts' && { execArgv: ['--conditions=@sallyport/source'] }),
  });
  const first = await firstAnswer(worker, options.onNotice);
  if ('ready' in first) return { worker, acts: first.ready };
  await worker.terminate();
  throw 'failed' in first ? fromThrown(first.failed) : new Error('The writer spoke out of turn.');
}

/** What it says of the opening, after all notices. */
async function firstAnswer(worker: Worker, onNotice: WriterOptions['onNotice']): Promise<FromWriter> {
  for await (const [message] of on(worker, 'message') as AsyncIterable<[FromWriter]>)
    if ('notice' in message) onNotice?.(message.notice);
    else return message;
  throw new Error('The writer has said nothing.');
}
