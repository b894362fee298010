// A gateway that keeps telemetry for its upstream, as a process of its own to be killed: `outbox-victim.ts DIRECTORY UPSTREAM`.
import { createIds, silentLog, systemClock, systemRandom } from '@sallyport/core';
import { openOutbox } from '../../src/passthrough/outbox.ts';
import { openEmbeddedStore } from '../../src/store/embedded/store.ts';
import { through } from './through.ts';

const [directory = '', upstream = ''] = process.argv.slice(2);
const store = await openEmbeddedStore({ path: `${directory}/store.db` });
const outbox = await openOutbox({
  store: store.outbox,
  clock: systemClock,
  random: systemRandom,
  ids: createIds(systemClock, systemRandom),
  log: silentLog,
});
const flags = { 'areas.oauth': 'local', 'areas.devices': 'local', 'upstream.credential': 'sk-team' };
const { url } = await through(upstream, flags, {}, { outbox });
process.stdout.write(`${url}\n`);
