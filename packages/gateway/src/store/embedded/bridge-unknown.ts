import { ServiceError } from '@sallyport/core';

export function noSuchEnvironment(): ServiceError {
  return new ServiceError('not_found', 'There is no such environment.');
}

export function noSuchSession(): ServiceError {
  return new ServiceError('not_found', 'There is no such session.');
}

export function noSuchWork(): ServiceError {
  return new ServiceError('not_found', 'There is no such work item.');
}
