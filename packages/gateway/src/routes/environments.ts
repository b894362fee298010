import type { BridgeEngine } from '@sallyport/bridge/server';
import { contract } from '@sallyport/core/contract';
import type { Handlers } from '../http/handler.ts';
import { toBridgeCaller } from './bridge.ts';
import { linkNextPage, pageSize } from './page.ts';

/** The managed environments' rows on the bridge engine. */
export function environmentsHandlers({ environments }: BridgeEngine): Handlers['environments'] {
  return {
    create: ({ caller, headers, body }) =>
      environments.create(toBridgeCaller(caller), body, { idempotencyKey: headers['idempotency-key'] }),

    async list({ caller, query, request, reply }) {
      const { items, next } = await environments.list(toBridgeCaller(caller), {
        limit: pageSize(contract.environments.list, query.limit),
        offset: query.offset,
        name: query.name,
      });
      linkNextPage(request, reply, next);
      return [...items];
    },

    get: ({ caller, params }) => environments.get(toBridgeCaller(caller), params.env_id),

    update: ({ caller, params, body }) => environments.update(toBridgeCaller(caller), params.env_id, body),

    delete: ({ caller, params }) => environments.delete(toBridgeCaller(caller), params.env_id),

    archive: ({ caller, params }) => environments.archive(toBridgeCaller(caller), params.env_id),
  };
}
