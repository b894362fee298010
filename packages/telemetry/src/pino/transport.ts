import type { Transform } from 'node:stream';
import { http1Transport } from '@sallyport/core/client';
import build from 'pino-abstract-transport';
import { TelemetryBatcher } from '../client/batcher.ts';
import type { TelemetryBatcherOptions } from '../client/options.ts';
import { toEvent, type PinoLine } from './event.ts';

/** What a pino transport may be told: it goes to another thread, so it has no functions. */
export interface PinoTransportOptions extends Pick<
  TelemetryBatcherOptions,
  | 'serviceName'
  | 'serviceVersion'
  | 'spoolDir'
  | 'enabled'
  | 'allowAttributes'
  | 'sampling'
  | 'gzip'
  | 'queue'
  | 'flushIntervalMs'
  | 'dialect'
  | 'headers'
> {
  /** Default: `SALLYPORT_BASE_URL`, else a gateway on this machine. */
  readonly baseUrl?: string;
  /** An access token or API key (default: `SALLYPORT_TOKEN`). Without one, events wait in the spool. */
  readonly token?: string;
}

const defaultBaseUrl = 'http://127.0.0.1:8787';

/**
 * A pino transport: `pino({ transport: { target: '@sallyport/telemetry/pino', options } })`. pino runs it in a thread of
 * its own and, as the program ends, waits for it to have sent or spooled what it has.
 */
export function pinoTransport({ token, baseUrl, ...options }: PinoTransportOptions): Transform {
  const { SALLYPORT_TOKEN, SALLYPORT_BASE_URL } = process.env;
  const bearer = token ?? SALLYPORT_TOKEN;
  const transport = http1Transport();
  const batcher = new TelemetryBatcher({
    ...options,
    baseUrl: baseUrl ?? (SALLYPORT_BASE_URL || defaultBaseUrl),
    transport,
    ...(bearer !== undefined && { tokens: { token: () => Promise.resolve(bearer) } }),
    installExitHandlers: false, // pino ends it
  });
  return build(
    async (lines) => {
      for await (const line of lines) batcher.emit(toEvent(line as PinoLine));
    },
    {
      async close() {
        await batcher.shutdown();
        await transport.close();
      },
    },
  );
}
