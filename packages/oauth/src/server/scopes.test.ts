import { neutralDialect } from '@sallyport/core';
import { expect, test } from 'vitest';
import { isWithin, scopeList } from './scopes.ts';
import { scopeFromWire } from './wire-scopes.ts';

test('a scope is a list without repeats, whatever the spaces', () => {
  expect(scopeList('  openid profile  openid ')).toEqual(['openid', 'profile']);
  expect(scopeList(' ')).toEqual([]);
});

// Anybody may send a long one: judged name by name against each other, 16,000 took seconds. So many would take a minute.
test('a long scope holds nobody up', () => {
  const scope = Array.from({ length: 60_000 }, (_, index) => index.toString(36)).join(' ');
  expect(isWithin(scopeFromWire(scope, neutralDialect), 'openid')).toBe(false);
  expect(scopeList(scope)).toHaveLength(60_000);
});
