import { isJsonObject, ServiceError } from '@sallyport/core';
import {
  judgeAttributes,
  judgeUint32,
  type Complain,
  type Fault,
  type StoredAttribute,
} from './any-value.ts';
import { judgeLogRecord, type TelemetryRecord } from './log-record.ts';

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
const maxOriginBytes = 64 * 1024;
const maxIssues = 16;

/**
 * Judges an `ExportLogsServiceRequest` in its JSON form. Throws `invalid_otlp` (400) where it is none, with the paths;
 * `payload_too_large` (413) for more than 65,536 records. Records that break a rule are counted, and left out.
 */
export function judgeLogsRequest(value: unknown, receivedAt: number): JudgedLogs {
  if (!isJsonObject(value)) throw invalid([{ path: 'body', message: 'must be an object' }]);
  const faults: Fault[] = [];
  const groups: RecordGroup[] = [];
  let total = 0;
  let accepted = 0;
  const complain: Complain = (path, message, kind = 'malformed') => {
    if (faults.length < maxIssues || kind === 'malformed') faults.push({ path, message, kind });
    return undefined;
  };

  eachObject(value['resourceLogs'], 'resourceLogs', complain, (resourceLogs, at) => {
    const judged = judgeResource(resourceLogs, at, complain);
    eachObject(resourceLogs['scopeLogs'], `${at}/scopeLogs`, complain, (scopeLogs, within) => {
      const scope = judgeScope(scopeLogs, within, complain);
      const records: TelemetryRecord[] = [];
      eachItem(scopeLogs['logRecords'], `${within}/logRecords`, complain, (item, path) => {
        if (++total > maxRecords) throw tooMany();
        const record = judgeLogRecord(item, path, receivedAt, faults);
        if (record && judged && scope) records.push(record);
        if (faults.length > maxIssues) {
          throwMalformed(faults);
          faults.length = maxIssues;
        }
      });
      if (records.length === 0 || !judged || !scope) return;
      accepted += records.length;
      groups.push({ ...judged, scope: scope.scope, records });
    });
    throwMalformed(faults);
  });
  throwMalformed(faults);
  const rejected = total - accepted;
  return {
    groups,
    accepted,
    rejected,
    message: rejected > 0 ? describe(faults, rejected, total) : unknownFields(value),
  };
}

function judgeResource(
  resourceLogs: Readonly<Record<string, unknown>>,
  path: string,
  complain: Complain,
): Pick<RecordGroup, 'serviceName' | 'resource'> | undefined {
  const shared = judgeShared(resourceLogs, 'resource', path, complain);
  if (!shared) return undefined;
  const { schemaUrl, attributes, droppedAttributesCount } = shared;
  const isEmpty = attributes.length === 0 && droppedAttributesCount === 0 && schemaUrl === '';
  return {
    serviceName: serviceNameOf(attributes),
    resource: isEmpty ? null : { attributes, droppedAttributesCount, schemaUrl },
  };
}

function judgeScope(
  scopeLogs: Readonly<Record<string, unknown>>,
  path: string,
  complain: Complain,
): Pick<RecordGroup, 'scope'> | undefined {
  const scope = judgeShared(scopeLogs, 'scope', path, complain);
  if (!scope) return undefined;
  const texts = scope.name + scope.version + scope.schemaUrl;
  const isEmpty = texts === '' && scope.attributes.length === 0 && scope.droppedAttributesCount === 0;
  return { scope: isEmpty ? null : scope };
}

/** What a resource and a scope have in common; only a scope has a name and a version. With something wrong with it, none of its records is taken. */
function judgeShared(
  holder: Readonly<Record<string, unknown>>,
  member: 'resource' | 'scope',
  path: string,
  complainOuter: Complain,
) {
  let found = 0;
  const complain: Complain = (...fault) => {
    found++;
    return complainOuter(...fault);
  };
  const isScope = member === 'scope';
  const at = `${path}/${member}`;
  const of = holder[member] ?? {};
  if (!isJsonObject(of)) return complain(at, 'must be an object');
  const shared = {
    attributes: judgeAttributes(of['attributes'], `${at}/attributes`, complain) ?? [],
    droppedAttributesCount: judgeUint32(
      of['droppedAttributesCount'],
      `${at}/droppedAttributesCount`,
      complain,
    ),
    schemaUrl: judgeText(holder['schemaUrl'], `${path}/schemaUrl`, complain),
    name: judgeText(isScope ? of['name'] : '', `${at}/name`, complain),
    version: judgeText(isScope ? of['version'] : '', `${at}/version`, complain),
  };
  if (found === 0 && Buffer.byteLength(JSON.stringify(shared)) > maxOriginBytes)
    complain(at, 'must be at most 64 KiB', 'refused');
  return found === 0 ? shared : undefined;
}

function judgeText(value: unknown, path: string, complain: Complain): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value.toWellFormed();
  complain(path, 'must be a text');
  return '';
}

function serviceNameOf(attributes: readonly StoredAttribute[]): string {
  const value = attributes.find(({ key }) => key === 'service.name')?.value;
  const name = value && 'stringValue' in value ? value.stringValue : '';
  return Array.from(name.slice(0, 256)).slice(0, 128).join('') || 'unknown_service';
}

function eachItem(
  value: unknown,
  path: string,
  complain: Complain,
  judge: (item: unknown, path: string) => void,
): void {
  if (value === undefined || value === null) return;
  if (!Array.isArray(value)) {
    complain(path, 'must be an array');
    return;
  }
  for (const [index, item] of value.entries()) judge(item, `${path}/${index}`);
}

function eachObject(
  value: unknown,
  path: string,
  complain: Complain,
  judge: (item: Readonly<Record<string, unknown>>, path: string) => void,
): void {
  eachItem(value, path, complain, (item, at) =>
    isJsonObject(item) ? judge(item, at) : complain(at, 'must be an object'),
  );
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

function tooMany(): ServiceError {
  return new ServiceError(
    'payload_too_large',
    `A request has at most ${maxRecords} log records: send them in several.`,
  );
}

function describe(faults: readonly Fault[], rejected: number, total: number): string {
  const reasons = faults.slice(0, 5).map(({ path, message }) => `${path} ${message}`);
  return `${rejected} of ${total} records were not stored: ${reasons.join('; ')}${faults.length > 5 ? '; ...' : ''}`;
}

/** OTLP ignores what it does not know, so that the misspelt request of a first try looks like a success. */
function unknownFields(request: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(request);
  if ('resourceLogs' in request || names.length === 0) return '';
  const shown = names.filter((name) => /^\w{1,64}$/.test(name)).slice(0, 5);
  return `no resourceLogs; unknown fields: ${shown.join(', ') || names.length}`;
}
