import { closeCodes } from '../protocol/frames.ts';
import type { EndReason } from './events.ts';
import { judgeFailure, pauseMs } from './failure.ts';
import type { StreamEnd } from './live-socket.ts';

/** What a link does: opens its stream, obtains credentials, or asks whether the work is still its own. */
export type LinkStep = 'connect' | 'handshake' | 'doubt';

/** What it means for a link that a step failed, or that its stream ended. */
export type LinkJudgement =
  /** The session is over for this worker. */
  | { readonly kind: 'gone'; readonly reason: EndReason }
  /** Another worker may have the session. */
  | { readonly kind: 'doubt' }
  /** The credentials have expired. */
  | { readonly kind: 'expired' }
  /**
   * `waitMs`: after just that pause; else the back-off says how long, `retryAfterMs` being the service's wish, `drainMs` that
   * of one that drains.
   */
  | {
      readonly kind: 'retry';
      readonly step: LinkStep;
      readonly waitMs?: number;
      readonly drainMs?: number;
      readonly retryAfterMs?: number | undefined;
    };

/** `drainMs`: when a service that drains asked to be called again; 0 is no time to wait for, and says nothing. */
export function judgeStreamEnd({ code }: StreamEnd, drainMs: number | undefined): LinkJudgement {
  switch (code) {
    case closeCodes.gone:
      return { kind: 'gone', reason: 'session_ended' };
    case closeCodes.staleEpoch:
    case closeCodes.revoked:
      return { kind: 'doubt' };
    case closeCodes.tokenExpired:
      return { kind: 'expired' };
    case closeCodes.serviceRestart:
      return { kind: 'retry', step: 'connect', ...(drainMs && { drainMs }) };
    default:
      return { kind: 'retry', step: 'connect' };
  }
}

export function judgeStepFailure(error: unknown, step: LinkStep): LinkJudgement {
  const verdict = judgeFailure(error);
  switch (verdict.kind) {
    case 'missing':
      return { kind: 'gone', reason: 'session_ended' };
    case 'conflict':
      if (verdict.code === 'session_ended') return { kind: 'gone', reason: 'session_ended' };
      if (verdict.code === 'stale_epoch') return { kind: 'doubt' };
      return { kind: 'retry', step, retryAfterMs: verdict.retryAfterMs };
    case 'device_revoked':
      // The bridge hears of it, too, and ends its sessions.
      return { kind: 'retry', step: 'handshake', waitMs: pauseMs.refused };
    case 'login_required':
      // The stream's credential is the worker's JWT, which the login can renew.
      return step === 'connect'
        ? { kind: 'expired' }
        : { kind: 'retry', step, waitMs: pauseMs.login_required };
    case 'refused':
      return { kind: 'retry', step, waitMs: pauseMs.refused };
    case 'retry':
      return { kind: 'retry', step, retryAfterMs: verdict.retryAfterMs };
  }
}
