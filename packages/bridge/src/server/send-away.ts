import { ServiceError, sleep } from '@sallyport/core';
import { closeCodes } from '../protocol/frames.ts';
import type { Context } from './context.ts';

/** A few streams end at once; only many are worth the whole spread. */
const spreadPerStreamMs = 10;

interface Leaving {
  announceDrain(reconnectInMs: number): void;
  close(code: number, reason: string): void;
}

/** For who comes while the service drains: each is told another time to come back. */
export function drainRefusal({ random }: Context): ServiceError {
  const retryAfterMs = 1000 + random.fraction() * 9000;
  return new ServiceError('draining', 'The service is about to stop.', { retryAfterMs });
}

/** Tells each client to come back soon, and closes the streams one by one, so that they do not all come at once. */
export async function sendAway(
  { clock, config, random }: Context,
  streams: Iterable<Leaving>,
): Promise<void> {
  const leaving = [...streams];
  const spreadMs = Math.min(config.drainSpreadSeconds * 1000, leaving.length * spreadPerStreamMs);
  await Promise.all(
    leaving.map(async (stream) => {
      stream.announceDrain(Math.floor(random.fraction() * config.drainSpreadSeconds * 1000));
      await sleep(clock, random.fraction() * spreadMs);
      stream.close(closeCodes.serviceRestart, 'draining');
    }),
  );
}
