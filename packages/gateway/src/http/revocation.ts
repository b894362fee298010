import { closeCodes } from '@sallyport/bridge/server';
import type { Clock, Grants } from '@sallyport/core';
import type { WebSocket } from 'ws';
import type { AnyCaller } from './admission.ts';

/** How long a client has to answer the closing frame. */
const closingMs = 1000;

/** Watches what the caller's credential stands on, until the returned function is called (bridge.md rule 18). */
export function watchGrant(grants: Grants | undefined, caller: AnyCaller, revoked: () => void): () => void {
  if (grants === undefined || caller === undefined || !('grantId' in caller)) return () => undefined;
  return grants.watch(caller.grantId, revoked);
}

/** Ends a WebSocket whose client may not be here any more: what it still sends is not heard. */
export function revoke(socket: WebSocket, clock: Clock): void {
  socket.removeAllListeners('message');
  socket.close(closeCodes.revoked, 'revoked');
  const late = clock.after(closingMs, () => socket.terminate());
  socket.once('close', () => late.cancel());
}
