import { ServiceError } from '@sallyport/core';
import type { Endpoint } from '@sallyport/core/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ToUpstream } from '../config/destinations.ts';
import { admit, guard, readmit, type AdmissionOptions, type Guarded } from '../http/admission.ts';
import type { AnyCaller } from '../http/callers.ts';
import type { UpgradeRouter } from '../http/upgrades.ts';

type Options = AdmissionOptions & { readonly upgrades: UpgradeRouter };

/** Who calls; rejects where callers are checked here and this one may not. */
export type Admission = (request: FastifyRequest, reply: FastifyReply) => Promise<AnyCaller>;

export function isChecked({ credential }: ToUpstream): boolean {
  return (
    credential.kind === 'replace' ||
    credential.kind === 'login' ||
    (credential.kind === 'withhold' && credential.checked)
  );
}

/** Who may call, where callers are checked here. The upstream checks all else: betas, bodies. */
export function admissionTo(endpoint: Endpoint, to: ToUpstream, options: Options): Admission | undefined {
  if (!isChecked(to)) return undefined;
  // A worker's token is from the upstream, which knows it; one from here it must not see.
  if (endpoint.auth === 'ingress') return (request) => refuseOwn(request, options);
  const { beta: _, ...checked } = endpoint;
  return (request, reply) => {
    if (options.upgrades.isUpgrade(request.raw)) options.upgrades.checkPace();
    return admit(checked, request, reply, options);
  };
}

/** As `readmit`, for a body that was slow to come in. */
export function readmissionTo(
  endpoint: Endpoint,
  to: ToUpstream,
  options: Options,
): ((request: FastifyRequest) => Promise<AnyCaller>) | undefined {
  if (!isChecked(to) || endpoint.auth === 'ingress') return undefined;
  const { beta: _, ...checked } = endpoint;
  return (request) => readmit(checked, request, options);
}

export function guardOf(guarded: Guarded, options: Options): Admission {
  return (request) => guard(guarded, request, options);
}

async function refuseOwn(request: FastifyRequest, options: Options): Promise<undefined> {
  const isOwn = await guard({ auth: 'optional' }, request, options);
  if (isOwn !== undefined)
    throw new ServiceError('invalid_token', "This needs a worker's token: Authorization: Bearer <token>.");
}
