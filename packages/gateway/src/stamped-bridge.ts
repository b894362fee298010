import type { BridgeStore } from '@sallyport/bridge/server';
import type { Clock } from '@sallyport/core';
import type { CallOrigin } from '@sallyport/oauth/server';

/** The bridge's store, in which the one act that is audited (`bridge-audit.ts`) carries who is calling, and when. */
export function stampedBridge(
  { acts, reads }: BridgeStore,
  { clock, callOrigin }: { readonly clock: Clock; readonly callOrigin: () => CallOrigin | undefined },
): BridgeStore {
  const deleteSession: BridgeStore['acts']['deleteSession'] = (argument) => {
    const stamped = { ...argument, stamp: { at: clock.now(), ...callOrigin() } };
    return acts.deleteSession(stamped);
  };
  return { acts: { ...acts, deleteSession }, reads };
}
