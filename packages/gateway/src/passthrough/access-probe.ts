import { inDialect, type Dialect } from '@sallyport/core';
import { endpoints, families, headerNames } from '@sallyport/core/contract';
import type { Probe, ProbeOptions } from './probe.ts';
import { redirectedTo, type Ask } from './probe-transport.ts';

interface Place {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What the areas and families that go there have to read: what else is asked for would change something. */
function placesOf(names: readonly string[], dialect: Dialect): readonly Place[] {
  const [first] = families;
  // It comes first: most of what speaks like a model's service has it.
  const ofFamilies = new Set([
    first.prefix,
    ...families.filter(({ name }) => names.includes(name) && name !== 'voice').map(({ prefix }) => prefix),
  ]);
  const rows = endpoints.filter(
    ({ area, method, path, auth, permission, transport }) =>
      names.includes(area) &&
      method === 'GET' &&
      auth === 'access_token' &&
      permission === 'read' &&
      transport === 'json' &&
      !path.includes('{'),
  );
  return [
    ...[...ofFamilies].map((prefix) => ({ path: inDialect(prefix, dialect), headers: {} })),
    ...rows.map(({ path, beta }) => ({
      path: inDialect(path, dialect),
      headers: beta === undefined ? {} : { [inDialect(headerNames.beta, dialect)]: beta },
    })),
  ];
}

/** What says nothing of who asks: there is no such place, or not for reading. */
const silent = new Set([404, 405, 501]);

/** Whether an upstream serves what goes there, to who shows what goes along in place of the callers' credentials. */
export function accessProbe(options: ProbeOptions, ask: Ask): Probe {
  const { upstream, dialect, rule, names } = options;
  const { key, url } = upstream;
  const shows = rule.kind === 'replace' || rule.kind === 'login';

  async function credential(): Promise<Readonly<Record<string, string>>> {
    if (rule.kind === 'login') return { authorization: `Bearer ${await options.token(rule.at)}` };
    if (rule.kind !== 'replace') return {};
    return { [rule.header]: rule.header === 'authorization' ? `Bearer ${rule.value}` : rule.value };
  }

  function refusal(status: number): string {
    if (rule.kind === 'login')
      return `${url} refuses the gateway's own login (${status}): run \`${options.logIn(rule.at)}\``;
    if (rule.kind === 'replace')
      return `${url} refuses the credential (${status}): set ${key}.credential to one that it knows`;
    const remedy =
      rule.kind === 'withhold' && !rule.checked
        ? `${key}.forwardCredentials, if callers' own are good there`
        : `${key}.credential`;
    return `${url} asks for a credential (${status}), and is shown none: set ${remedy}`;
  }

  return {
    name: shows ? 'credential' : 'service',
    async run() {
      const shown = await credential();
      const seen = new Set<number>();
      for (const { path, headers } of placesOf(names, dialect)) {
        const { status, headers: answered } = await ask(path, { headers: { ...headers, ...shown } });
        const elsewhere = redirectedTo(answered, url);
        if (elsewhere !== undefined)
          throw new Error(
            `${url} sends requests on to ${elsewhere} (${status}), where no credential follows: set ${key}.url to where they are served`,
          );
        seen.add(status);
        if (status >= 500 && status !== 501)
          throw new Error(`${url} fails when it is asked (${status}): see to what serves it`);
        if (silent.has(status)) continue;
        const isRefused = status === 401 || status === 403;
        if (isRefused && rule.kind !== 'forward') throw new Error(refusal(status));
        return shows ? `is not refused (${status})` : `answers (${status})`;
      }
      return {
        warns: `${url} has none of what it was asked for (${[...seen].join(', ')})${shows ? ', so nobody knows whether it takes the credential' : ''}: if calls fail, correct ${key}.url`,
      };
    },
  };
}
