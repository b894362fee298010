import { describe, expect, test } from 'vitest';
import { contract, endpoints, type Endpoint } from './index.ts';

describe('the table', () => {
  test('each row stands under its own id and area', () => {
    for (const [area, rows] of Object.entries<Readonly<Record<string, Endpoint>>>(contract)) {
      for (const [verb, row] of Object.entries(rows)) {
        expect(row.id).toBe(`${area}.${verb}`);
        expect(row.area).toBe(area);
      }
    }
  });

  test('no two rows share method and path', () => {
    const seen = endpoints.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test.each(endpoints.map((row) => [row.id, row] as const))('%s is whole', (_, row) => {
    const named = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(row.params?.shape ?? {}).sort()).toEqual(named.sort());
    expect(Object.keys(row.responses)).not.toHaveLength(0);
    if (row.auth === 'access_token') {
      expect(row.scope, 'an access token needs a scope').toBeDefined();
      expect(row.permission, 'an access token needs a permission').toBeDefined();
    }
    if (row.method === 'GET') expect(row.body).toBeUndefined();
    expect(row.encodings?.includes('multipart') === true).toBe(row.transport === 'multipart');
    for (const name of Object.keys(row.headers?.shape ?? {})) expect(name).toBe(name.toLowerCase());
  });
});
