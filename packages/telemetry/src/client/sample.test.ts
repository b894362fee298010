import { expect, test } from 'vitest';
import { createSampler } from './sample.ts';

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
  'an event called %s has no rate but what is given',
  (name) => {
    expect(createSampler({ other: 0 })({ name })).toBe(true);
    expect(createSampler({ '*': 0 })({ name })).toBe(false);
  },
);
