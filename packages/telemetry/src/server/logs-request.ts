import { isJsonObject, ServiceError } from '@sallyport/core';
import { judgeAttributes, type StoredAttribute } from './any-value.ts';
import { judgeUint32 } from './integers.ts';
import type { Fault, Judging } from './judging.ts';
import { judgeLogRecord, judgeText, restBytes, type TelemetryRecord } from './log-record.ts';

/** What made the records; OTLP's Resource with its schema. */
export interface RecordResource {
  readonly attributes: readonly StoredAttribute[];
  readonly droppedAttributesCount: number;
  readonly schemaUrl: string;
}

/** The part of it that they are of; OTLP's InstrumentationScope with its schema. */
export interface RecordScope extends RecordResource {
  readonly name: string;
  readonly version: string;
}

/** Records of one origin; what is empty is `null`. Groups of one resource share the object. */
export interface RecordGroup {
  readonly serviceName: string;
  readonly resource: RecordResource | null;
  readonly scope: RecordScope | null;
  readonly records: readonly TelemetryRecord[];
}

export interface JudgedLogs {
  readonly groups: readonly RecordGroup[];
  readonly accepted: number;
  readonly rejected: number;
  /** For the sender's developers, where records were rejected or nothing was found; else empty. */
  readonly message: string;
}

/** A request of nonsense must not become a transaction of minutes: 8 MiB are four million empty records. */
const maxRecords = 65_536;
/** Of resources and scopes together: each record may have one of its own. */
const maxOrigins = 2 * maxRecords;
const maxOriginBytes = 64 * 1024;
const maxIssues = 16;

type Members = Readonly<Record<string, unknown>>;

/**
 * Judges an `ExportLogsServiceRequest` in its JSON form. Throws `invalid_otlp` (400) where it is none, with the paths;
 * `payload_too_large` (413) for more than 65,536 records, or than two resources and scopes for each of those. Records that
 * break a rule are counted, and left out.
 */
export function judgeLogsRequest(value: unknown, judging: Judging, receivedAt: number): JudgedLogs {
  if (!isJsonObject(value)) throw invalid([{ path: 'body', message: 'must be an object' }]);
  const groups: RecordGroup[] = [];
  let total = 0;
  let origins = 0;
  let accepted = 0;
  passOverAllBut(value, knownOfRequest, judging);
  eachObject(value, 'resourceLogs', judging, (resourceLogs) => {
    if (++origins > maxOrigins) throw tooMany(maxOrigins, 'resources and scopes');
    passOverAllBut(resourceLogs, knownOfResourceLogs, judging);
    const judged = judgeResource(resourceLogs, judging);
    eachObject(resourceLogs, 'scopeLogs', judging, (scopeLogs) => {
      if (++origins > maxOrigins) throw tooMany(maxOrigins, 'resources and scopes');
      passOverAllBut(scopeLogs, knownOfScopeLogs, judging);
      const scope = judgeScope(scopeLogs, judging);
      const records: TelemetryRecord[] = [];
      eachItem(scopeLogs, 'logRecords', judging, (item) => {
        if (++total > maxRecords) throw tooMany(maxRecords, 'log records');
        const record = judgeLogRecord(item, judging, receivedAt);
        if (record && judged && scope) records.push(record);
      });
      if (records.length === 0 || !judged || !scope) return;
      accepted += records.length;
      groups.push({ ...judged, scope: scope.scope, records });
    });
    throwMalformed(judging.faults);
  });
  throwMalformed(judging.faults);
  const rejected = total - accepted;
  return {
    groups,
    accepted,
    rejected,
    message: rejected > 0 ? describe(judging.faults, rejected, total) : unknownFields(value),
  };
}

const knownOfRequest = new Set(['resourceLogs']);
const knownOfResourceLogs = new Set(['resource', 'scopeLogs', 'schemaUrl']);
const knownOfScopeLogs = new Set(['scope', 'logRecords', 'schemaUrl']);
const knownOfOrigin = new Set(['attributes', 'droppedAttributesCount', 'name', 'version']);

function passOverAllBut(of: Members, known: ReadonlySet<string>, judging: Judging): void {
  for (const member in of) if (!known.has(member)) judging.passOver(of[member]);
}

function judgeResource(
  resourceLogs: Members,
  judging: Judging,
): Pick<RecordGroup, 'serviceName' | 'resource'> | undefined {
  const shared = judgeShared(resourceLogs, 'resource', judging);
  if (!shared) return undefined;
  const { schemaUrl, attributes, droppedAttributesCount } = shared;
  const isEmpty = attributes.length === 0 && droppedAttributesCount === 0 && schemaUrl === '';
  return {
    serviceName: serviceNameOf(attributes),
    resource: isEmpty ? null : { attributes, droppedAttributesCount, schemaUrl },
  };
}

function judgeScope(scopeLogs: Members, judging: Judging): Pick<RecordGroup, 'scope'> | undefined {
  const scope = judgeShared(scopeLogs, 'scope', judging);
  if (!scope) return undefined;
  const texts = scope.name + scope.version + scope.schemaUrl;
  const isEmpty = texts === '' && scope.attributes.length === 0 && scope.droppedAttributesCount === 0;
  return { scope: isEmpty ? null : scope };
}

/** What a resource and a scope have in common; only a scope has a name and a version. With something wrong with it, none of its records is taken. */
function judgeShared(holder: Members, member: 'resource' | 'scope', judging: Judging) {
  judging.begin();
  const of = holder[member] ?? {};
  if (!isJsonObject(of)) return judging.complain('must be an object', 'malformed', member);
  passOverAllBut(of, knownOfOrigin, judging);
  const { found } = judging;
  const isScope = member === 'scope';
  judging.enter(member);
  const attributes = judgeAttributes(of['attributes'], judging) ?? [];
  const droppedAttributesCount = judgeUint32(of['droppedAttributesCount'], judging, 'droppedAttributesCount');
  judging.leave();
  const schemaUrl = judgeText(holder, 'schemaUrl', judging);
  judging.enter(member);
  const shared = {
    attributes,
    droppedAttributesCount,
    schemaUrl,
    name: isScope ? judgeText(of, 'name', judging) : '',
    version: isScope ? judgeText(of, 'version', judging) : '',
  };
  judging.leave();
  judging.size += restBytes;
  if (
    judging.size > maxOriginBytes &&
    judging.found === found &&
    Buffer.byteLength(JSON.stringify(shared)) > maxOriginBytes
  )
    judging.complain('must be at most 64 KiB', 'refused', member);
  return judging.found === found ? shared : undefined;
}

function serviceNameOf(attributes: readonly StoredAttribute[]): string {
  const value = attributes.find(({ key }) => key === 'service.name')?.value;
  return serviceNameFrom(value && 'stringValue' in value ? value.stringValue : '');
}

/** The name of a service as it is kept, from the text of `service.name`; of none if that is empty. */
export function serviceNameFrom(name: string): string {
  return Array.from(name.slice(0, 256)).slice(0, 128).join('') || 'unknown_service';
}

function eachItem(holder: Members, member: string, judging: Judging, judge: (item: unknown) => void): void {
  const list = holder[member];
  if (list === undefined || list === null) return;
  if (!Array.isArray(list)) {
    judging.begin();
    judging.complain('must be an array', 'malformed', member);
    return;
  }
  judging.enter(member);
  for (let index = 0; index < list.length; index++) {
    judging.enter(index);
    judge(list[index]);
    judging.leave();
    if (judging.faults.length > maxIssues) {
      throwMalformed(judging.faults);
      judging.faults.length = maxIssues;
    }
  }
  judging.leave();
}

function eachObject(holder: Members, member: string, judging: Judging, judge: (item: Members) => void): void {
  eachItem(holder, member, judging, (item) => {
    if (isJsonObject(item)) return judge(item);
    judging.begin();
    judging.complain('must be an object');
  });
}

function throwMalformed(faults: readonly Fault[]): void {
  const malformed = faults.filter(({ kind }) => kind === 'malformed');
  if (malformed.length > 0) throw invalid(malformed);
}

function invalid(faults: readonly Omit<Fault, 'kind'>[]): ServiceError {
  const issues = faults.slice(0, maxIssues).map(({ path, message }) => ({ path, message }));
  const first = issues[0] ?? { path: 'body', message: 'is malformed' };
  return new ServiceError(
    'invalid_otlp',
    `The body is no OTLP logs request: ${first.path} ${first.message}.`,
    { issues },
  );
}

/** Of a request whose records may well be taken in smaller ones. */
export function tooMany(most: number, of: string): ServiceError {
  return new ServiceError(
    'payload_too_large',
    `A request has at most ${most} ${of}: send its records in several.`,
  );
}

function describe(faults: readonly Fault[], rejected: number, total: number): string {
  const reasons = faults.slice(0, 5).map(({ path, message }) => `${path} ${message}`);
  return `${rejected} of ${total} records were not stored: ${reasons.join('; ')}${faults.length > 5 ? '; ...' : ''}`;
}

const maxNames = 5;

/** OTLP ignores what it does not know, so that the misspelt request of a first try looks like a success. */
function unknownFields(request: Members): string {
  if ('resourceLogs' in request) return '';
  const shown: string[] = [];
  let unknown = 0;
  for (const name in request) {
    unknown += 1;
    if (shown.length < maxNames && /^\w{1,64}$/.test(name)) shown.push(name);
  }
  return unknown === 0 ? '' : `no resourceLogs; unknown fields: ${shown.join(', ') || unknown}`;
}
