export { freePort } from './free-port.ts';
export { ManualClock } from './manual-clock.ts';
export { seededRandom } from './seeded-random.ts';
