export {
  errorStatus,
  ServiceError,
  toErrorBody,
  TransportError,
  type AnyErrorCode,
  type ErrorBody,
  type ErrorCode,
  type Issue,
  type ServiceErrorOptions,
  type TransportErrorCode,
} from './errors.ts';
export { sleep, systemClock, toTimestamp, type Clock, type Timer } from './clock.ts';
export { randomSecret, systemRandom, type Random } from './random.ts';
export { createIds, isId, type IdPrefix, type Ids } from './ids.ts';
export { inDialect, neutralDialect, type Dialect } from './dialect.ts';
export {
  isLoginRequired,
  silentLog,
  silentReporter,
  type AccountData,
  type OrganizationData,
  type AttributeValue,
  type GrantListener,
  type Grants,
  type Log,
  type Report,
  type Reporter,
  type TokenSource,
  type WakeListener,
  type Wakeups,
} from './ports.ts';
export { createLocalWakeups } from './wakeups.ts';
export { fullJitter } from './backoff.ts';
export { nestsTooDeep } from './nesting.ts';
export { createLatch, type Latch } from './latch.ts';
export { severities, type SeverityName } from './severities.ts';
export { isJsonObject } from './json-object.ts';
export { isLoopback } from './loopback.ts';
export { printable } from './printable.ts';
export { badOffset, decodePlace, pageOf, readPage, type Page, type Place } from './cursor.ts';
export { createLru, type Lru } from './lru.ts';
export { didYouMean } from './nearest.ts';
export { organizationTypes, roles, type OrganizationType, type Role } from './organization.ts';
export { isDiskFull, whyNotWritten } from './disk.ts';
