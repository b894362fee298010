import { expect, test } from 'vitest';
import { systemdCommand, systemdWord } from './systemd.ts';

test('words keep what systemd would take for its own', () => {
  expect(systemdWord('A=a "b" \\n 100%')).toBe('"A=a \\"b\\" \\\\n 100%%"');
  expect(systemdCommand(['/a $b', '$HOME'])).toBe('"/a $b" "$$HOME"');
});

test.each(['a\nUser=root', 'a\rb', 'a\0'])('a line break in %j is refused', (word) => {
  expect(() => systemdWord(word)).toThrow('line break');
});
