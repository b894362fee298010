// A gateway's feedback as a process of its own, to be weighed: `feedback-victim.ts DIRECTORY`. A token names its account.
import { createIds, silentLog, systemClock, systemRandom } from '@sallyport/core';
import { createBundleFiles, createFeedbackEngine } from '@sallyport/telemetry/server';
import { feedbackHandlers } from '../../src/routes/feedback.ts';
import { openEmbeddedStore } from '../../src/store/embedded/store.ts';
import { serve, testAuthenticator } from '../serve.ts';

const directory = process.argv[2] ?? '';
const store = await openEmbeddedStore({ path: `${directory}/store.db` });
const engine = createFeedbackEngine({
  store: store.feedback,
  files: createBundleFiles(`${directory}/feedback`),
  organizations: { isZeroDataRetention: () => Promise.resolve(false) },
  clock: systemClock,
  ids: createIds(systemClock, systemRandom),
  log: silentLog,
});
const { url } = await serve({
  handlers: { feedback: feedbackHandlers(engine, systemClock) },
  authenticator: {
    ...testAuthenticator,
    accessToken: async (token) => ({ ...(await testAuthenticator.accessToken('access')), accountId: token }),
  },
});
process.stdout.write(`${url}\n`);
