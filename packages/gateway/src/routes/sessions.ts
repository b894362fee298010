import { resumeFrom, type BridgeEngine, type FollowerItem } from '@sallyport/bridge/server';
import { ServiceError } from '@sallyport/core';
import { contract, type SessionStatus } from '@sallyport/core/contract';
import type { Handlers, SseFrame } from '../http/handler.ts';
import { askedAccount, nobody, type AccountIds } from './asked-account.ts';
import { toBridgeCaller } from './bridge.ts';
import { linkNextPage, pageSize } from './page.ts';

/** The sessions' rows on the bridge engine. */
export function sessionsHandlers({ sessions }: BridgeEngine, accounts: AccountIds): Handlers['sessions'] {
  return {
    async create({ caller, headers, body }) {
      if (headers['x-organization-uuid'] !== caller.organizationId)
        throw new ServiceError('forbidden', "The organization is not the token's.");
      return sessions.create(toBridgeCaller(caller), body, { idempotencyKey: headers['idempotency-key'] });
    },

    async list({ caller, query, request, reply }) {
      const accountId = await askedAccount(query, accounts);
      if (accountId === nobody) return [];
      const { items, next } = await sessions.list(toBridgeCaller(caller), {
        limit: pageSize(contract.sessions.list, query.limit),
        offset: query.offset,
        accountId,
        environmentId: query.environment_id,
        // The row has let statuses through alone.
        statuses: query.status?.split(',') as SessionStatus[] | undefined,
        tag: query.tag,
      });
      linkNextPage(request, reply, next);
      return [...items];
    },

    get: ({ caller, params }) => sessions.get(toBridgeCaller(caller), params.id),

    delete: ({ caller, params }) => sessions.delete(toBridgeCaller(caller), params.id),

    async append({ caller, params, body }) {
      const { events } = await sessions.append(toBridgeCaller(caller), params.id, body.events);
      return { events: [...events] };
    },

    async stream({ caller, headers, params, query, signal }) {
      const from = resumeFrom(query.from_seq, headers['last-event-id']);
      return toFrames(await sessions.follow(toBridgeCaller(caller), params.id, { from, signal }));
    },
  };
}

async function* toFrames(items: AsyncIterable<FollowerItem>): AsyncIterable<SseFrame> {
  for await (const item of items) {
    if (item.kind === 'event') yield { id: String(item.event.seq), data: item.event };
    else yield { event: item.type, data: item.data };
  }
}
