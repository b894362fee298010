import { inDialect, neutralDialect, type Clock, type Random } from '@sallyport/core';
import { createEncoder, type Encoder } from './encode.ts';
import { createEventIds } from './event-id.ts';
import type { TelemetryBatcherOptions } from './options.ts';
import { createRedactor, pathsOfThisProcess } from './redact.ts';

const maxEventBytes = 64 * 1024;

/** The encoder of a batcher: what its options say of the program goes into every event. */
export function encoderFor(
  options: Pick<TelemetryBatcherOptions, 'serviceName' | 'serviceVersion' | 'redactor' | 'dialect'> & {
    readonly clock: Clock;
    readonly random: Random;
  },
): Encoder {
  const { clock, random, dialect = neutralDialect } = options;
  return createEncoder({
    clock,
    nextId: createEventIds(clock, random),
    redactor: options.redactor ?? createRedactor(pathsOfThisProcess()),
    own: {
      'service.name': inDialect(options.serviceName, dialect),
      'service.version': options.serviceVersion,
      'os.type': process.platform === 'win32' ? 'windows' : process.platform,
    },
    maxBytes: maxEventBytes,
  });
}
