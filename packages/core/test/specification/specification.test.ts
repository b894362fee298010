import { describe, expect, test } from 'vitest';
import {
  batchLimits,
  contract,
  deviceGrantType,
  endpoints,
  families,
  isRateLimited,
  LogRecord,
  scopes,
  workerVersion,
  type Endpoint,
} from '../../src/contract/index.ts';
import { errorStatus } from '../../src/errors.ts';
import { accountLines } from './account-lines.ts';
import { bridgeLines } from './bridge-lines.ts';
import { departures } from './departures.ts';
import { differences, requestDifferences } from './differences.ts';
import { managedLines } from './managed-lines.ts';
import { event, telemetryLines } from './telemetry-lines.ts';
import * as values from './values.ts';

const lines = [...accountLines, ...bridgeLines, ...managedLines, ...telemetryLines];

const nameOf = ({ method, path }: Pick<Endpoint, 'method' | 'path'>) => `${method} ${path}`;
const rows = new Map(endpoints.map((row) => [nameOf(row), row]));
const shared = endpoints.filter((row) => row.extension !== true);

test('every line has a row, every row a line', () => {
  expect(shared.map(nameOf).sort()).toEqual([...lines.map(nameOf), ...values.named].sort());
  expect(families.map(({ prefix }) => prefix)).toEqual(values.families);
});

test.each(lines.map((line) => [nameOf(line), line] as const))('%s', (name, line) => {
  const row = rows.get(name);
  expect(row && differences(line, row)).toEqual(Object.keys(departures[name] ?? {}));
});

test('each departure is from a line', () => {
  expect(lines.map(nameOf)).toEqual(expect.arrayContaining(Object.keys(departures)));
});

describe('limits', () => {
  const { limits } = values;

  test('of time', () => {
    expect(contract.oauth.token.limits.retryPausesMs).toEqual(limits.tokenRetryPausesMs);
    expect(contract.oauth.profile.limits.timeoutMs).toBe(limits.profileTimeoutMs);
    expect(contract.feedback.bundle.limits.timeoutMs).toBe(limits.feedbackTimeoutMs);
    expect(contract.account.settings.limits.timeoutMs).toBe(limits.settingsTimeoutMs);
    expect(batchLimits.flushIntervalMs).toBe(limits.batchFlushMs);
  });

  test('of size', () => {
    expect(batchLimits.maxEvents).toBe(limits.batchEvents);
    const { bodyBytes } = contract.feedback.bundle.limits;
    expect(bodyBytes).toBeGreaterThanOrEqual(limits.feedbackBytes.least);
    expect(bodyBytes).toBeLessThanOrEqual(limits.feedbackBytes.most);
    expect(contract.environments.list.limits.pageSize).toBe(limits.managedPage);
    expect(contract.bridge.list.limits.pageSize).toBe(limits.organizationPage);
  });

  test('of rate: for each line that lists 429, and no other', () => {
    // The token and the device endpoint count failures of the credentials in the body.
    const byBody = ['POST /v1/oauth/token', 'POST /v1/oauth/device_authorization'];
    const listed = lines.filter(({ errors }) => errors !== 'no line' && errors.includes(429)).map(nameOf);
    const limited = shared.filter(isRateLimited).map(nameOf);
    expect(limited.sort()).toEqual(listed.filter((name) => !byBody.includes(name)).sort());
  });
});

test('scopes, the device grant, the version of the stream', () => {
  expect(scopes).toEqual(values.scopes);
  expect(values.grantTypes).toContain(deviceGrantType);
  expect(workerVersion).toBe(values.streamVersion);
});

test('betas', () => {
  for (const [beta, names] of Object.entries(values.betas))
    expect(
      shared
        .filter((row) => row.beta === beta)
        .map(nameOf)
        .sort(),
    ).toEqual([...names].sort());
  expect(shared.filter((row) => row.beta !== undefined)).toHaveLength(
    Object.values(values.betas).flat().length,
  );
});

test('the errors that have a shown body', () => {
  expect(errorStatus).toMatchObject(values.feedbackErrors);
});

describe('a telemetry event', () => {
  test('has the fields of the Events part', () => {
    expect(requestDifferences('event', event(''), LogRecord)).toEqual([]);
  });

  test.each(values.events.valueKinds)('takes %s as a value', (kind) => {
    const value = {
      stringValue: 'text',
      intValue: '1',
      doubleValue: 0.5,
      boolValue: true,
      arrayValue: { values: [{ stringValue: 'text' }] },
      kvlistValue: { values: [{ key: 'k', value: { boolValue: true } }] },
    }[kind];
    const record = { body: { [kind]: value }, attributes: [{ key: 'k', value: { [kind]: value } }] };
    expect(LogRecord.parse(record)).toEqual(record);
  });

  test.each(Object.entries(values.events.severities))('takes %s', (severityText, severityNumber) => {
    expect(LogRecord.safeParse({ severityText, severityNumber }).success).toBe(true);
  });
});
