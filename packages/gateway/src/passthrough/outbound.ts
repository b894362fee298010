import type { Duplex } from 'node:stream';
import type { Meter } from '../metrics/traffic.ts';
import type { Inspect } from './inspection.ts';
import type { Upload } from './upload.ts';
import type { Upstream } from './upstreams.ts';

/** One request, ready for its upstream. */
export interface Outbound {
  readonly upstream: Upstream;
  readonly path: string;
  readonly headers: string[];
  readonly body: Buffer | Upload | null;
  /** What follows a body in chunks. */
  readonly trailers: (() => readonly string[]) | undefined;
  /** How long the answer may take to begin, from when the request is with the upstream. */
  readonly headersMs: number;
  /** How long it may pause, and the upload too. */
  readonly idleMs: number;
  /** Whether it may be sent again although it may have arrived. */
  readonly isSafe: boolean;
  /** Whether the answer is a stream without an end, which its reader takes up elsewhere when the gateway drains. */
  readonly isEndless: boolean;
  /** Whether the caller asks for the answer to be held back until there is something to say. */
  readonly isHeld: boolean;
  readonly meter: Meter;
  readonly inspect: Inspect | undefined;
  /** The headers with another credential, after this one was refused. */
  readonly renew: (() => Promise<string[]>) | undefined;
  /** Takes the connection once the upstream has switched protocols. */
  readonly upgrade: ((headers: readonly string[], socket: Duplex) => void) | undefined;
}
