import { TransportError } from '@sallyport/core';
import { toFailure } from '../../io/failure.ts';

/** What one look showed. */
export interface Finding {
  readonly status: 'ok' | 'warn' | 'fail';
  /** One sentence or less. Never a secret. */
  readonly says: string;
  /** What to do about it. */
  readonly fix?: string;
}

/** ... and at what. */
export interface NamedFinding extends Finding {
  readonly check: string;
}

export function ok(says: string): Finding {
  return { status: 'ok', says };
}

export function warn(says: string, fix: string): Finding {
  return { status: 'warn', says, fix };
}

export function fail(says: string, fix: string): Finding {
  return { status: 'fail', says, fix };
}

/** What was thrown, as a finding with `fix`, else with the next step that the error knows. Ctrl-C goes on upwards. */
export function failed(error: unknown, fix?: string): Finding {
  if (error instanceof TransportError && error.code === 'aborted') throw error;
  const { message, nextStep } = toFailure(error);
  // The sentences of the domain libraries end with their next step.
  return { status: 'fail', says: message, ...((fix ?? nextStep) && { fix: fix ?? nextStep }) };
}
