import { createIds, systemRandom } from '@sallyport/core';
import { ManualClock } from '@sallyport/core/testing';
import { readSettings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { createTerminal } from '../io/terminal.ts';
import { capture } from './capture.ts';

/** A command's context on a clock that the test moves, what it wrote, and the person's Ctrl-C. */
export function testContext({ json = false, columns = 0 } = {}) {
  const flags = { baseUrl: 'http://127.0.0.1:1' };
  const clock = new ManualClock();
  const { streams, text } = capture(columns === 0 ? undefined : columns);
  const [asked, insisted] = [new AbortController(), new AbortController()];
  const context: Context = {
    settings: readSettings(flags, { SALLYPORT_CONFIG_DIR: '/nowhere' }),
    flags,
    terminal: createTerminal({ json }, streams, columns === 0 ? { NO_COLOR: '1' } : {}),
    interrupt: { asked: asked.signal, insisted: insisted.signal, release: () => undefined },
    env: {},
    clock,
    random: systemRandom,
    ids: createIds(clock, systemRandom),
    onEnd: () => undefined,
  };
  return { context, clock, text, interrupt: () => (asked.signal.aborted ? insisted : asked).abort() };
}
