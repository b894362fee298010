import { expect, test } from 'vitest';
import { publicUrlOf } from './address.ts';

test.each([
  [{ host: '127.0.0.1' }, 'http://127.0.0.1:9000'],
  [{ host: '::1' }, 'http://[::1]:9000'],
  [{ host: 'localhost' }, 'http://localhost:9000'],
  [{ host: '::', publicUrl: 'https://sallyport.example/base' }, 'https://sallyport.example/base'],
])('clients reach %j at %s', (config, url) => {
  expect(publicUrlOf(config, 9000)).toBe(url);
});
