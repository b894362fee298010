import { maxFrameBytes } from '../protocol/frames.ts';
import { asOutputLine, JoinedLines, type OutputLine } from './joined-lines.ts';

/** Above `high` unacknowledged bytes the process has to wait, until they are below `low` again. */
const high = 1024 * 1024;
const low = 256 * 1024;
/** Of a frame, which may be one of a post, too. */
const mostBytes = maxFrameBytes - 256;
/** So many characters are less than that, whatever they are. */
const cutLength = 128 * 1024;

export type SendFrame = (frame: string) => void;

/**
 * A session's own events until the service has acknowledged them, in order. A new stream gets all of them again, and the
 * service tells by their ids which ones it has. Lines of output that come while others are under way share an event, because
 * the service counts events.
 *
 * After a stream that broke with events under way the next one begins with half as many as that one got through, and each
 * acknowledgement lets two more go out. All at once, they would break a line that bears so many bytes and no more before the
 * first acknowledgement is back, again and again.
 */
export class Outbox {
  /** Sent on the present stream, or the last one. */
  #underWay = new Map<string, string>();
  /** All that come after those. */
  #waiting = new Map<string, string>();
  #mostUnderWay = Infinity;
  /** So many the present stream, or the last one, got through. */
  #acknowledged = 0;
  readonly #onFull: (isFull: boolean) => void;
  readonly #settled = new Map<string, () => void>();
  #bytes = 0;
  #isFull = false;
  #send: SendFrame | undefined;
  /** The event that is not closed yet. Only while others are unacknowledged: their acknowledgement sends it. */
  #open: { readonly id: string; readonly lines: JoinedLines } | undefined;
  #openBytes = 0;

  constructor(onFull: (isFull: boolean) => void) {
    this.#onFull = onFull;
  }

  /** Unacknowledged bytes, as UTF-8. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A line that joins others is part of their event, whose id is another. */
  push(id: string, type: string, data: Readonly<Record<string, unknown>>): void {
    const line = this.#isIdle ? undefined : asOutputLine(type, data);
    if (line) return this.#join(id, line);
    this.#closeEvent();
    this.#add(id, type, data);
  }

  #join(id: string, line: OutputLine): void {
    if (!this.#open?.lines.add(line)) {
      this.#closeEvent();
      this.#open = { id, lines: new JoinedLines(line) };
    }
    const bytes = Buffer.byteLength(line.text) + 1;
    this.#openBytes += bytes;
    this.#weigh(bytes);
  }

  #closeEvent(): void {
    if (!this.#open) return;
    const { id, lines } = this.#open;
    this.#open = undefined;
    this.#add(id, 'session.output', { ...lines.data }, this.#openBytes);
    this.#openBytes = 0;
  }

  /** `counted`: bytes of it that are weighed already. */
  #add(id: string, type: string, data: Readonly<Record<string, unknown>>, counted = 0): void {
    const whole = JSON.stringify({ id, type, data });
    const bytes = Buffer.byteLength(whole);
    // The service would close the stream, and the next one, and the next.
    if (bytes > mostBytes) return this.#add(id, type, cut(data, bytes), counted);
    this.#waiting.set(id, whole);
    this.#weigh(bytes - counted);
    this.#sendOn();
  }

  get #isIdle(): boolean {
    return this.#waiting.size + this.#underWay.size === 0;
  }

  #sendOn(): void {
    if (!this.#send) return;
    for (const [id, frame] of this.#waiting) {
      if (this.#underWay.size >= this.#mostUnderWay) return;
      this.#waiting.delete(id);
      this.#underWay.set(id, frame);
      this.#send(frame);
    }
  }

  /** Resolves when the service has the event. */
  settled(id: string): Promise<void> {
    if (!this.#waiting.has(id) && !this.#underWay.has(id)) return Promise.resolve();
    return new Promise((resolve) => this.#settled.set(id, resolve));
  }

  attach(send: SendFrame): void {
    this.#send = send;
    this.#mostUnderWay = this.#underWay.size > 0 ? Math.max(1, Math.floor(this.#acknowledged / 2)) : Infinity;
    this.#acknowledged = 0;
    this.#waiting = new Map([...this.#underWay, ...this.#waiting]);
    this.#underWay = new Map();
    this.#sendOn();
  }

  detach(): void {
    this.#send = undefined;
  }

  acknowledge(id: string): void {
    const frame = this.#underWay.get(id);
    if (frame === undefined) return;
    this.#underWay.delete(id);
    this.#acknowledged += 1;
    this.#mostUnderWay += 1;
    this.#weigh(-Buffer.byteLength(frame));
    this.#settled.get(id)?.();
    this.#settled.delete(id);
    if (this.#isIdle) this.#closeEvent();
    else this.#sendOn();
  }

  #weigh(change: number): void {
    this.#bytes += change;
    const isFull = this.#isFull ? this.#bytes > low : this.#bytes > high;
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#onFull(isFull);
  }
}

/** What is left of an event that is too large: the beginning of its text, if it has one, and how large it was. */
function cut({ text }: Readonly<Record<string, unknown>>, bytes: number): Readonly<Record<string, unknown>> {
  return { ...(typeof text === 'string' && { text: text.slice(0, cutLength) }), truncated: true, bytes };
}
