import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { gate } from '../../test/gate.ts';
import { serve, testAuthenticator } from '../../test/serve.ts';

test('a caller that hangs up while it is asked who it is, is gone for the handler', async () => {
  const asked = gate();
  const known = gate();
  const called = Promise.withResolvers<AbortSignal>();
  await using served = await serve({
    authenticator: {
      ...testAuthenticator,
      async accessToken(token) {
        asked.open();
        await known.opened;
        return testAuthenticator.accessToken(token);
      },
    },
    handlers: {
      bridge: {
        poll({ signal }) {
          called.resolve(signal);
          return Promise.resolve(null);
        },
      },
    },
  });
  const connected = once(served.listener.server, 'connection') as Promise<[Socket]>;
  const caller = connect(served.port, '127.0.0.1');
  caller.write(
    'GET /v1/environments/e/work/poll?block_ms=60000 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer access\r\n\r\n',
  );
  const [connection] = await connected;
  await asked.opened;
  const cut = once(connection, 'close');
  caller.destroy();
  await cut;
  known.open();
  const signal = await called.promise;
  expect(signal.aborted).toBe(true);
});
