import { neutralDialect, inDialect, systemClock, systemRandom } from '@sallyport/core';
import { endpointUrl } from '@sallyport/core/client';
import { contract } from '@sallyport/core/contract';
import { ByteWriter } from './byte-writer.ts';
import { encoderFor } from './encoder-for.ts';
import type { TelemetryEvent } from './event.ts';
import type { TelemetryBatcherOptions } from './options.ts';

/** What a batcher of these options would send, for whoever wants to see it first; nothing is sent. */
export function previewEvents(
  options: Omit<TelemetryBatcherOptions, 'transport' | 'tokens'>,
  events: readonly TelemetryEvent[],
): {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly events: readonly string[];
} {
  const { clock = systemClock, random = systemRandom, dialect = neutralDialect, baseUrl } = options;
  const encoder = encoderFor({ ...options, clock, random });
  const written = events.map((event) => {
    const queued = encoder.take(event);
    const into = new ByteWriter();
    return queued && encoder.write(queued, into) ? into.toString() : undefined;
  });
  return {
    url: endpointUrl(baseUrl, contract.telemetry.batch, {}, dialect),
    headers: {
      ...options.headers,
      'content-type': 'application/json',
      'x-service-name': inDialect(options.serviceName, dialect),
    },
    events: written.filter((event) => event !== undefined),
  };
}
