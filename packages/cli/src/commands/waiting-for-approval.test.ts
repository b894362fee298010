import { stripVTControlCharacters } from 'node:util';
import jsQR from 'jsqr';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { testContext } from '../testing/context.ts';
import { waitingForApproval } from './waiting-for-approval.ts';

// Its types say `default`, and the module is the function itself.
const decode = jsQR as unknown as typeof jsQR.default;

// styleText reads the process's own environment.
beforeEach(() => void vi.stubEnv('NO_COLOR', undefined));
afterEach(() => void vi.unstubAllEnvs());

const uri = 'http://127.0.0.1:8787/device';
const address = `${uri}?user_code=BCDF-GHJK`;

function waitOn(columns: number) {
  const { context, clock, text } = testContext({ columns });
  const waiting = waitingForApproval(context);
  const prompt = {
    user_code: 'BCDF-GHJK',
    verification_uri: uri,
    verification_uri_complete: address,
    expiresAt: clock.now() + 900_000,
  };
  return { clock, waiting, stderr: () => text().stderr, shown: waiting.show(prompt) };
}

test('without a terminal, the person is told once', async () => {
  const { clock, waiting, stderr, shown } = waitOn(0);
  await shown;
  await clock.advance(60_000);
  waiting.end();
  expect(stderr()).toBe(
    `Open ${uri} in a browser and enter the code BCDF-GHJK\nWaiting for your approval; the code holds for 15 minutes.\n`,
  );
  expect(clock.timers).toBe(0);
});

test('on a terminal, the time left counts down by the wall clock, and leaves nothing', async () => {
  const { clock, waiting, stderr, shown } = waitOn(80);
  await shown;
  await clock.advance(1000);
  clock.jump(600_000); // the machine slept
  await clock.advance(1000);
  clock.jump(600_000);
  await clock.advance(1000);
  waiting.end();
  const lines = stderr().split('\r\u001B[K');
  expect(lines.slice(-5).map((line) => /holds for (\d+:\d\d)$/.exec(line)?.[1])).toEqual([
    '15:00',
    '14:59',
    '4:58',
    '0:00',
    undefined,
  ]);
  expect(lines.at(-1)).toBe('');
  expect(clock.timers).toBe(0);
});

test('a phone reads the address off the terminal, code and all', async () => {
  const { waiting, stderr, shown } = waitOn(80);
  await shown;
  waiting.end();
  expect(read(stderr())).toBe(address);
});

test.each([32, 0])('no code is drawn in %i columns', async (columns) => {
  const { waiting, stderr, shown } = waitOn(columns);
  await shown;
  waiting.end();
  expect(stderr()).not.toMatch(/[▀▄█]/);
});

/** What a scanner reads in the half blocks of a screen: a full block is light, as it is drawn. */
function read(screen: string): string | undefined {
  const lines = stripVTControlCharacters(screen)
    .split('\n')
    .filter((line) => /^[ ▀▄█]{20,}$/.test(line));
  const rows = lines.flatMap((line) =>
    ['▀█', '▄█'].map((light) => Array.from(line, (char) => light.includes(char))),
  );
  const scale = 4;
  const [width, height] = [(rows[0]?.length ?? 0) * scale, rows.length * scale];
  const pixels = new Uint8ClampedArray(width * height * 4);
  for (let at = 0; at < width * height; at += 1) {
    const isLight = rows[Math.floor(Math.floor(at / width) / scale)]?.[Math.floor((at % width) / scale)];
    pixels.fill(isLight === true ? 255 : 0, at * 4, at * 4 + 4);
  }
  return decode(pixels, width, height)?.data;
}
