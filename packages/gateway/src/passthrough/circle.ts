import { ServiceError } from '@sallyport/core';
import type { IncomingMessage } from 'node:http';
import { isInCircle } from './headers.ts';

/** Refuses what came through here before. */
export function checkCircle({ headers }: IncomingMessage): void {
  if (isInCircle(headers))
    throw new ServiceError(
      'upstream_unreachable',
      'The request goes in a circle: an upstream of this gateway leads back to it.',
    );
}
