import { lookup } from 'node:dns/promises';
import type { ClientOptions, TransportResponse } from '@sallyport/core/client';
import { discover } from '@sallyport/oauth';
import { isIP } from 'node:net';
import type { Context } from '../../context.ts';
import { checkAddress } from '../../io/failure.ts';
import { fail, failed, ok, warn, type Finding } from './finding.ts';

/** How long one question may take, in milliseconds. */
export const patienceMs = 5000;

/** More than this, in milliseconds, and tokens look expired or not yet valid. */
const toleratedSkewMs = 30_000;

export type Reached = Omit<ClientOptions, 'tokens'>;

/** An answer of the service and when it was on its way, by this machine's clock. */
export interface Heard {
  readonly answer: TransportResponse;
  readonly sentAt: number;
  readonly heardAt: number;
}

export async function name({ env, settings }: Context): Promise<Finding> {
  const { hostname, protocol } = new URL(settings.baseUrl);
  const proxy = proxyOf(protocol, env);
  if (proxy !== undefined) return ok(`${proxy}, unless NO_PROXY says otherwise`);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return ok(`${host} is an address`);
  try {
    const found = await lookup(host, { all: true });
    return ok(`${host} is ${found.map(({ address }) => address).join(', ')}`);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return fail(`${host} has no address (${code})`, 'Check the spelling, the name server and the VPN.');
  }
}

/** Asks for `/readyz`: any answer shows that the way is free. Rejects where there is none. */
export async function hear({ clock, interrupt }: Context, { baseUrl, transport }: Reached): Promise<Heard> {
  const sentAt = clock.now();
  const answer = await transport.send({
    method: 'GET',
    url: `${baseUrl}/readyz`,
    headers: { accept: 'application/json' },
    timeoutMs: patienceMs,
    signal: interrupt.asked,
  });
  return { answer, sentAt, heardAt: clock.now() };
}

export function unreachable(error: unknown): Finding {
  const code = codeOf(error);
  if (/TIMEOUT|ETIMEDOUT/.test(code))
    return failed(error, 'A firewall may be in the way; HTTPS_PROXY names a proxy where one is needed.');
  return failed(error);
}

export function clockSkew({ answer, sentAt, heardAt }: Heard): Finding {
  const told = Date.parse(answer.headers['date'] ?? '');
  if (Number.isNaN(told)) return warn('the service does not tell its time', 'Compare the clocks by hand.');
  // Its second has no fraction: half of one is the best guess.
  const skewMs = told + 500 - (sentAt + heardAt) / 2;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const says = `this machine is ${seconds} s ${skewMs > 0 ? 'behind' : 'ahead of'} the service`;
  if (Math.abs(skewMs) > toleratedSkewMs) return warn(says, 'Set the clock: timedatectl set-ntp true');
  return ok(seconds < 2 ? 'this machine and the service agree' : says);
}

/** `isGateway`: it is a Sallyport gateway, and nothing that merely answers. */
export async function readiness({ answer }: Heard): Promise<Finding & { readonly isGateway: boolean }> {
  const body = parse(await answer.text(64 * 1024));
  const status = body?.['status'];
  if (typeof status !== 'string') {
    const says = `/readyz answers ${answer.status} and is not a gateway's`;
    return {
      ...warn(says, 'Is this the right address? A proxy may keep /readyz to itself.'),
      isGateway: false,
    };
  }
  if (answer.status === 200) return { ...ok(`the gateway is ${status}`), isGateway: true };
  const checks = Object.entries((body?.['checks'] ?? {}) as Readonly<Record<string, unknown>>);
  const bad = checks
    .filter(([, result]) => result !== 'ok')
    .map(([check, result]) => `${check} ${String(result)}`);
  const says = `the gateway is ${status}${bad.length > 0 ? `: ${bad.join(', ')}` : ''}`;
  return { ...fail(says, 'Look at its log, and run `sallyport-gateway doctor` there.'), isGateway: true };
}

export async function discovery(
  { interrupt }: Context,
  reached: Reached,
  isGateway: boolean,
): Promise<Finding> {
  const { metadata, isAssumed } = await discover(reached, interrupt.asked);
  if (isAssumed && !isGateway)
    return fail(`nothing says that logins are issued by ${metadata.issuer}`, checkAddress);
  return ok(`logins are issued by ${metadata.issuer}`);
}

/** Without the credentials that the variable may hold. */
function proxyOf(protocol: string, env: NodeJS.ProcessEnv): string | undefined {
  const names = protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY'];
  for (const variable of names) {
    const value = env[variable];
    if (value) return `${variable} names the proxy ${URL.parse(value)?.host ?? '(no address)'}`;
  }
  return undefined;
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && at.code === at.code.toUpperCase()) return at.code;
  }
  return '';
}
