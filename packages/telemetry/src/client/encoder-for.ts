import { inDialect, neutralDialect, type Clock, type Random } from '@sallyport/core';
import { createEncoder, type Encoder } from './encode.ts';
import { createEventIds } from './event-id.ts';
import type { TelemetryBatcherOptions } from './options.ts';
import { createRedactor, pathsOfThisProcess } from './redact.ts';

const maxEventBytes = 64 * 1024;

/** The encoder of a batcher: what its options say of the program goes into every event. */
export function encoderFor(
  options: Pick<
    TelemetryBatcherOptions,
    'serviceName' | 'serviceVersion' | 'redactor' | 'dialect' | 'allowAttributes'
  > & {
    readonly clock: Clock;
    readonly random: Random;
  },
): Encoder {
  const { clock, random, dialect = neutralDialect } = options;
  return createEncoder({
    clock,
    ids: createEventIds(random),
    redactor: options.redactor ?? createRedactor(pathsOfThisProcess()),
    ...(options.allowAttributes && { isAllowed: allowing(options.allowAttributes) }),
    own: {
      'service.name': inDialect(options.serviceName, dialect),
      'service.version': options.serviceVersion,
      'os.type': process.platform === 'win32' ? 'windows' : process.platform,
    },
    maxBytes: maxEventBytes,
  });
}

/** Whether a name is in the list; `tool.*` stands for all that begin with `tool.`. */
function allowing(list: readonly string[]): (name: string) => boolean {
  const names = new Set(list);
  const starts = list.filter((entry) => entry.endsWith('*')).map((entry) => entry.slice(0, -1));
  return (name) => names.has(name) || starts.some((start) => name.startsWith(start));
}
