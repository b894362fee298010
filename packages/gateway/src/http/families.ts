import { inDialect, ServiceError } from '@sallyport/core';
import { families } from '@sallyport/core/contract';
import type { FastifyInstance } from 'fastify';
import { guard, type AdmissionOptions } from './admission.ts';

/** What only an upstream can serve, where there is none: 501, to those who may call at all. */
export function registerFamilies(
  app: FastifyInstance,
  options: Pick<AdmissionOptions, 'authenticator' | 'dialect'> & {
    readonly isLocal: (name: string) => boolean;
  },
): void {
  for (const family of families) {
    if (!options.isLocal(family.name)) continue;
    const prefix = inDialect(family.prefix, options.dialect);
    for (const path of [prefix, `${prefix}/*`])
      app.all(path, {
        onRequest: async (request) => {
          await guard(family, request, options);
          throw new ServiceError(
            'upstream_required',
            `Only an upstream can serve ${prefix}, and this gateway has none for it: its operator sets upstream, or upstreams.${family.name}, to the address of one.`,
          );
        },
        handler: () => undefined,
      });
  }
}
