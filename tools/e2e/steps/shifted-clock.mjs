/**
 * Preloaded (`node --import`), gives a program a wall clock that a test sets: off by as many milliseconds as the file in
 * SHIFTED_CLOCK says. The monotonic clock and the timers go on as ever, as when somebody sets a machine's clock.
 */
import fs, { readFileSync } from 'node:fs';

const file = process.env['SHIFTED_CLOCK'] ?? '';
const realNow = Date.now.bind(Date);
const RealDate = Date;
let shiftMs = 0;
let readAt = -Infinity;

function now() {
  // Not at each call: some ask thousands of times a second.
  const at = performance.now();
  if (at - readAt > 10) {
    readAt = at;
    shiftMs = Number(readFileSync(file, 'utf8'));
  }
  return realNow() + shiftMs;
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
});

// The times of files go by that clock, too: a lock that was just taken must not look as old as the clock was set forward.
/** @type {Record<string, any>} */
const files = fs;
const { stat, utimes } = files;
Object.assign(files, {
  stat(/** @type {any[]} */ ...args) {
    const done = args.pop();
    stat(...args, (/** @type {unknown} */ error, /** @type {any} */ stats) => {
      if (stats?.mtime) stats.mtime = new RealDate(stats.mtime.getTime() + shiftMs);
      done(error, stats);
    });
  },
  utimes(/** @type {any[]} */ ...[path, accessed, modified, done]) {
    const real = (/** @type {number | Date} */ time) => new RealDate(Number(time) - shiftMs);
    utimes(path, real(accessed), real(modified), done);
  },
});
