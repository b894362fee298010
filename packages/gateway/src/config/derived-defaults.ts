import { isLoopback } from '@sallyport/core';
import { areaNames, type Whither } from './schema.ts';

/**
 * Areas that stay here where another one does, unless something is said of them: they share its records, or tell of them (the
 * organizations of `/api/bootstrap` are those of whoever logs people in).
 */
const leaders: Readonly<Record<string, string>> = {
  devices: 'oauth',
  account: 'oauth',
  sessions: 'bridge',
  worker: 'bridge',
  environments: 'bridge',
};

/** Defaults that follow from settings further up in the schema. */
export const derivedDefaults: Readonly<
  Record<string, (settings: Readonly<Record<string, unknown>>) => unknown>
> = {
  ...Object.fromEntries(
    areaNames.map((name) => [
      `areas.${name}`,
      ({ upstream, upstreams, areas = {} }: Readonly<Record<string, unknown>>) => {
        if (name in (upstreams as object)) return 'upstream';
        const leader = (areas as Readonly<Record<string, Whither>>)[leaders[name] ?? ''];
        const hasUpstream = (upstream as { url?: string }).url !== undefined;
        return hasUpstream && leader !== 'local' ? 'upstream' : 'local';
      },
    ]),
  ),
  // Behind a public address others may stand, to whom the default account must not be told.
  'oauth.singleUser': ({ host, publicUrl }) => isLoopback(String(host)) && publicUrl === undefined,
};
