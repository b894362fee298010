import { expect, test } from 'vitest';
import { exportOf } from './export.ts';

const rest = { encoding: 'protobuf', compression: 'gzip', maxRecords: 512, timeoutSeconds: 10 } as const;
const of = (url: string | undefined, headers?: string) =>
  exportOf({ telemetry: { export: { url, headers, ...rest } } } as never);

test('an address without a path means its /v1/logs; none means no export', () => {
  expect(of(undefined)).toBeUndefined();
  expect(of('http://collector:4318')?.url).toBe('http://collector:4318/v1/logs');
  expect(of('https://otlp.example/otlp/v1/logs')).toEqual({
    ...rest,
    url: 'https://otlp.example/otlp/v1/logs',
    headers: {},
  });
});

test('headers are in the form of OTEL_EXPORTER_OTLP_HEADERS, and never go out unencrypted', () => {
  expect(of('https://x', ' Authorization = Bearer%20a=b , x-scope=1,')?.headers).toEqual({
    authorization: 'Bearer a=b',
    'x-scope': '1',
  });
  expect(of('http://127.0.0.1:4318', 'a=1')?.headers).toEqual({ a: '1' });
  expect(() => of('http://collector:4318', 'a=1')).toThrow('unencrypted');
  for (const bad of ['novalue', 'a b=1', 'a=%zz', 'a=%0d%0ab'])
    expect(() => of('https://x', bad), bad).toThrow('pairs');
});
