import { ServiceError } from '@sallyport/core';

export function noSuchEnvironment(id: string): ServiceError {
  return new ServiceError('not_found', `There is no environment ${id}.`);
}

/** At this refusal a bridge ends for good, where it would register again after the other. */
export function environmentDeleted(what: 'deleted' | 'archived' = 'deleted'): ServiceError {
  return new ServiceError('environment_deleted', `The environment was ${what}.`);
}
