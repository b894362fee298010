import { localUrlOf } from '../config/address.ts';
import type { Config } from '../config/schema.ts';
import { embeddedStorePath } from '../store/embedded/path.ts';
import { runningGateway } from '../store/embedded/lock.ts';
import { StoreError } from '../store/embedded/store-error.ts';

/** Whoever does not say within this time that it is a gateway counts as another program. */
const patienceMs = 1000;

/** What to say where a gateway holds the address that another one wants; `undefined`: what is there is none. */
export async function gatewayThere(config: Config): Promise<StoreError | undefined> {
  const url = localUrlOf(config.host, config.port);
  if (!(await isGateway(url))) return undefined;
  const holder = holderOf(config);
  if (holder === undefined)
    return new StoreError(
      'in_use',
      `A gateway with another data directory runs at ${url}: stop it, or choose another port with --port (0 picks a free one).`,
    );
  const who = holder.pid === null ? '' : ` (process ${holder.pid})`;
  return new StoreError(
    'in_use',
    `The gateway runs already${who} at ${holder.url ?? url}: use it, or stop it first.`,
  );
}

async function isGateway(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/healthz`, {
      signal: AbortSignal.timeout(patienceMs),
      redirect: 'manual',
    });
    const body: unknown = await answer.json();
    return answer.ok && JSON.stringify(body) === '{"status":"ok"}';
  } catch {
    return false;
  }
}

function holderOf(config: Config) {
  try {
    return runningGateway(embeddedStorePath(config));
  } catch {
    return undefined; // it is the address that is to be told about
  }
}
