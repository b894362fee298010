import type { ServiceFrame, SocketListener, StreamSocket } from '@sallyport/bridge/server';

/** A worker's end of a stream whose network does what the test says. */
export interface TestSocket extends StreamSocket {
  readonly frames: ServiceFrame[];
  readonly closed: { readonly code: number; readonly reason: string } | 'terminated' | undefined;
  readonly pings: number;
  readonly isPaused: boolean;
  say(frame: object | string): void;
  /** So much of a frame came. */
  trickle(bytes: number): void;
  /** The worker's process is gone. */
  hangUp(): void;
  pong(): void;
  /** The network stands still: what is sent stays in the buffer. */
  hold(): void;
  /** ... but for so many bytes. */
  take(bytes: number): void;
  /** ... and flows again. */
  release(): void;
}

export function openSocket(): TestSocket {
  let listener: SocketListener | undefined;
  let closed: TestSocket['closed'];
  let pings = 0;
  let isPaused = false;
  let isHeld = false;
  let bytesRead = 0;
  let buffered: { bytes: number; readonly taken: () => void }[] = [];
  const frames: ServiceFrame[] = [];
  return {
    frames,
    get closed() {
      return closed;
    },
    get pings() {
      return pings;
    },
    get isPaused() {
      return isPaused;
    },
    get bufferedAmount() {
      return buffered.reduce((sum, { bytes }) => sum + bytes, 0);
    },
    get bytesRead() {
      return bytesRead;
    },
    sendText(text, taken) {
      frames.push(JSON.parse(text) as ServiceFrame);
      if (isHeld) buffered.push({ bytes: Buffer.byteLength(text), taken });
      else queueMicrotask(taken);
    },
    ping: () => (pings += 1),
    close: (code, reason) => (closed ??= { code, reason }),
    terminate: () => (closed ??= 'terminated'),
    pause: () => (isPaused = true),
    resume: () => (isPaused = false),
    listen: (given) => (listener = given),
    say(frame) {
      if (closed === undefined) listener?.message(typeof frame === 'string' ? frame : JSON.stringify(frame));
    },
    trickle: (bytes) => (bytesRead += bytes),
    hangUp() {
      closed ??= 'terminated';
      listener?.closed();
    },
    pong: () => listener?.pong(),
    hold: () => (isHeld = true),
    take(bytes) {
      const [first] = buffered;
      if (!first) return;
      first.bytes -= Math.min(bytes, first.bytes);
      if (first.bytes === 0) buffered.shift();
      first.taken();
    },
    release() {
      isHeld = false;
      const flushed = buffered;
      buffered = [];
      for (const { taken } of flushed) taken();
    },
  };
}
