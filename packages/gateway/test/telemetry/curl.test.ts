import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { scratchDirectory } from '../store/scratch.ts';
import { serveTelemetry } from './serve-telemetry.ts';

/** A body as OTLP's own examples have them: times and integers as numbers, ids in capitals, no number of severity. */
const example = `{
  "resourceLogs": [
    {
      "resource": { "attributes": [ { "key": "service.name", "value": { "stringValue": "shop" } } ] },
      "scopeLogs": [
        {
          "scope": { "name": "cart", "version": "1.0.0",
            "attributes": [ { "key": "a.scope", "value": { "stringValue": "of it" } } ] },
          "logRecords": [
            {
              "timeUnixNano": 1700000000123456789,
              "observedTimeUnixNano": 1700000000300000000,
              "severityText": "Information",
              "traceId": "0AF7651916CD43DD8448EB211C80319C",
              "spanId": "B7AD6B7169203331",
              "body": { "stringValue": "by hand" },
              "attributes": [
                { "key": "a.boolean", "value": { "boolValue": true } },
                { "key": "an.int", "value": { "intValue": 10 } },
                { "key": "a.double", "value": { "doubleValue": 0.704 } },
                { "key": "an.array", "value": { "arrayValue": { "values": [ { "stringValue": "two" }, { "intValue": 2 } ] } } },
                { "key": "a.map", "value": { "kvlistValue": { "values": [ { "key": "k", "value": { "stringValue": "v" } } ] } } }
              ]
            }
          ]
        }
      ]
    }
  ]
}`;

const stored = {
  serviceName: 'shop',
  resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
  scope: { name: 'cart', version: '1.0.0', attributes: [{ key: 'a.scope' }] },
  timeUnixNano: '1700000000123456789',
  observedTimeUnixNano: '1700000000300000000',
  severityNumber: 0,
  severityText: 'Information',
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  body: { stringValue: 'by hand' },
  attributes: [
    { key: 'a.boolean', value: { boolValue: true } },
    { key: 'an.int', value: { intValue: '10' } },
    { key: 'a.double', value: { doubleValue: 0.704 } },
    { key: 'an.array', value: { arrayValue: { values: [{ stringValue: 'two' }, { intValue: '2' }] } } },
    { key: 'a.map', value: { kvlistValue: { values: [{ key: 'k', value: { stringValue: 'v' } }] } } },
  ],
};

/** The request that has but a record of the text `by hand`: message in message, each by its field and length. */
const protobuf = Buffer.from('0a0f120d120b2a090a0762792068616e64', 'hex');

async function curl(url: string, body: string | Buffer, ...headers: string[]) {
  const path = join(scratchDirectory(), 'body');
  writeFileSync(path, body);
  const given = ['authorization: Bearer access', ...headers].flatMap((header) => ['-H', header]);
  const write = ' %{http_code} %{content_type}';
  const args = ['-sS', '-w', write, ...given, '--data-binary', `@${path}`, url];
  return (await promisify(execFile)('curl', args)).stdout;
}

test('bodies that are made by hand are taken from curl, in each encoding', async () => {
  const { url, stored: all } = await serveTelemetry();
  const logs = `${url}/v1/logs`;
  const json = 'content-type: application/json';
  const done = /^\{\} 200 application\/json/;
  expect(await curl(logs, example, json)).toMatch(done);
  expect(await curl(logs, gzipSync(example), json, 'content-encoding: gzip')).toMatch(done);
  expect(await curl(logs, protobuf, 'content-type: application/x-protobuf')).toBe(
    ' 200 application/x-protobuf',
  );
  const records = await all();
  expect(records.slice(0, 2)).toMatchObject([stored, stored]);
  expect(records.slice(2)).toMatchObject([{ body: { stringValue: 'by hand' } }]);

  const { resourceLogs } = JSON.parse(example) as {
    resourceLogs: { scopeLogs: { logRecords: object[] }[] }[];
  };
  const events = resourceLogs[0]!.scopeLogs[0]!.logRecords;
  const batch = `${url}/api/event_logging/v2/batch`;
  const service = 'x-service-name: agent_desktop';
  expect(await curl(batch, JSON.stringify({ events }), json, service)).toMatch(/^\{"accepted":1\} 200 /);
  expect((await all()).at(-1)).toMatchObject({
    serviceName: 'agent_desktop',
    severityText: 'Information',
  });
});
