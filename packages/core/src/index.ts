// Errors
export {
  deviceRevoked,
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
export { isDiskFull, whyNotWritten } from './disk.ts';
export { reasonOf } from './reason.ts';

// What is injected
export { sleep, systemClock, toTimestamp, type Clock, type Timer } from './clock.ts';
export { countSignals } from './count-signals.ts';
export { randomSecret, systemRandom, type Random } from './random.ts';
export { createIds, isId, type IdPrefix, type Ids } from './ids.ts';
export { inDialect, neutralDialect, type Dialect } from './dialect.ts';
export {
  type AccountEmails,
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
export { createLocalWakeups, unseenChangesMs } from './wakeups.ts';

// Lists by page
export {
  badOffset,
  decodePlace,
  pageOf,
  partBytes,
  readPage,
  readPart,
  type Page,
  type Part,
  type Place,
} from './cursor.ts';

// What the domains and the apps decide alike
export { fullJitter } from './backoff.ts';
export { mayLoseDigits, parseExactJson } from './exact-json.ts';
export { isJsonObject } from './json-object.ts';
export { createLatch, type Latch } from './latch.ts';
export { isLoopback } from './loopback.ts';
export { shellWord } from './shell-word.ts';
export { createLru, type Lru } from './lru.ts';
export { didYouMean } from './nearest.ts';
export { jsonExcess, maxBodyNames, maxBodyValues, nestsTooDeep } from './nesting.ts';
export { printable, printableJson } from './printable.ts';
export { severities, severityNameOf, type SeverityName } from './severities.ts';
