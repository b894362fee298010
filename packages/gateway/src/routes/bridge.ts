import type { BridgeEngine, Caller as BridgeCaller } from '@sallyport/bridge/server';
import { contract } from '@sallyport/core/contract';
import type { Grants } from '@sallyport/oauth/server';
import type { Caller } from '../http/callers.ts';
import { Held, type Handlers } from '../http/handler.ts';
import { answerOf } from './held-poll.ts';
import { linkNextPage, pageSize } from './page.ts';

/** The bridge's rows on its engine; `grants` tell when somebody may take no work any more. */
export function bridgeHandlers({ bridge, worker }: BridgeEngine, grants: Grants): Handlers['bridge'] {
  return {
    register: ({ caller, headers, body }) =>
      bridge.register(
        toBridgeCaller(caller, headers['vendor-worker-id']),
        body,
        headers['x-trusted-device-token'],
      ),

    async poll({ caller, headers, params, query, reply }) {
      const poll = await bridge.poll(toBridgeCaller(caller, headers['vendor-worker-id']), {
        environmentId: params.env_id,
        blockMs: query.block_ms,
        types: query.types?.split(',').map((type) => type.trim()),
        capacity: query.capacity,
      });
      return new Held(answerOf(poll, { caller, reply, grants }));
    },

    ack: ({ caller, headers, params }) =>
      bridge.ack(toBridgeCaller(caller, headers['vendor-worker-id']), {
        environmentId: params.env_id,
        workId: params.work_id,
      }),

    async stop({ caller, headers, params, body }) {
      return bridge.stop(toBridgeCaller(caller), {
        environmentId: params.env_id,
        workId: params.work_id,
        force: body.force,
        reason: body.reason,
        proof: await worker.prove(headers['x-worker-token']),
      });
    },

    unregister: ({ caller, params }) => bridge.unregister(toBridgeCaller(caller), params.environment_id),

    async reconnect({ caller, headers, params, body }) {
      return bridge.reconnect(toBridgeCaller(caller), {
        environmentId: params.env_id,
        sessionId: body.session_id,
        proof: await worker.prove(headers['x-worker-token']),
      });
    },

    disconnect: ({ caller, headers, params }) =>
      bridge.leave(toBridgeCaller(caller), params.env_id, headers['vendor-worker-id']),

    ws({ caller, headers, params }) {
      return bridge.open(toBridgeCaller(caller, headers['vendor-worker-id']), params.env_id);
    },

    async list({ caller, params, query, request, reply }) {
      const { items, next } = await bridge.list(toBridgeCaller(caller), {
        organizationId: params.org_uuid,
        workerTypes: query.included_worker_types.split(',').map((type) => type.trim()),
        limit: pageSize(contract.bridge.list, query.limit),
        offset: query.offset,
      });
      linkNextPage(request, reply, next);
      return { environments: [...items], has_more: next !== undefined };
    },
  };
}

/** `workerId`: what the client calls its worker; without one, the grant behind its token tells it apart. */
export function toBridgeCaller(caller: Caller, workerId?: string): BridgeCaller {
  const { accountId, organizationId, role, grantId } = caller;
  return { accountId, organizationId, isAdmin: role === 'admin', workerKey: workerId ?? grantId, grantId };
}
