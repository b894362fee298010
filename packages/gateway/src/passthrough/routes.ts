import { inDialect, type Clock, type Dialect, type Ids } from '@sallyport/core';
import { defaultLimits, endpoints, families, type Endpoint } from '@sallyport/core/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ToUpstream } from '../config/destinations.ts';
import type { AdmissionOptions } from '../http/admission.ts';
import type { BodyBudget } from '../http/body-budget.ts';
import type { DirectWay } from '../http/direct-way.ts';
import type { Drain } from '../http/drain.ts';
import { routePath } from '../http/paths.ts';
import type { UpgradeRouter } from '../http/upgrades.ts';
import type { Meter, Traffic } from '../metrics/traffic.ts';
import { pagePaths } from '../pages/paths.ts';
import { readdressing } from './addresses.ts';
import { admissionTo, guardOf, isChecked, readmissionTo, type Admission } from './admission.ts';
import { conformanceTo } from './conformance.ts';
import { directly } from './direct.ts';
import { createForwarder, type Forwarder } from './forward.ts';
import { inspecting } from './inspecting.ts';
import { createKeepingForwarder, isKept } from './keeping.ts';
import type { Occupancy } from './occupancy.ts';
import { ThroughFastify } from './passing.ts';
import type { Passthrough } from './passthrough.ts';

export interface PassthroughOptions extends AdmissionOptions {
  readonly dialect: Dialect;
  readonly trustProxy: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly drain: Drain;
  readonly bodies: BodyBudget;
  readonly upgrades: UpgradeRouter;
  readonly traffic: Traffic;
  readonly directWay: DirectWay;
  /** Where clients reach this gateway. */
  readonly publicUrl: string;
  /** Whether an organization lets what it sends be kept, by anybody. */
  readonly mayKeep: (organizationId: string) => Promise<boolean>;
}

type Forward = (request: FastifyRequest, reply: FastifyReply, arrived: number) => void | Promise<void>;

/**
 * Registers what goes upstream. All is done in `onRequest`: no body is parsed, no schema runs, and Fastify comes in again
 * only where there is no answer to pass on.
 */
export function registerPassthrough(
  app: FastifyInstance,
  passthrough: Passthrough,
  options: PassthroughOptions,
): void {
  const { dialect, clock, traffic } = options;
  const methods = app.supportedMethods.filter((method) => method !== 'TRACE' && method !== 'CONNECT');
  const forwarder = (
    to: ToUpstream,
    meter: Meter,
    more: Partial<Parameters<typeof createForwarder>[0]> = {},
  ) =>
    createForwarder({
      ...options,
      upstream: passthrough.upstreams.at(to.url),
      meter,
      credential: to.credential,
      login: passthrough.loginFor(to.credential),
      maxBodyBytes: passthrough.maxBodyBytes,
      headersMs: passthrough.timeoutSeconds * 1000,
      idleMs: passthrough.idleSeconds * 1000,
      keepAliveMs: passthrough.keepAliveSeconds * 1000,
      ...more,
    });
  const toUpstream = (name: string): ToUpstream | undefined => {
    const to = passthrough.destinations.get(name);
    return to?.to === 'upstream' ? to : undefined;
  };

  const meterAt = (to: ToUpstream, area: string, row: string) =>
    traffic.meter({ area, row, upstream: passthrough.upstreams.at(to.url).origin });
  const { occupancy } = passthrough;
  const hook = (forward: Forward, meter: Meter, admission?: Admission) =>
    onRequest({ clock, forward, meter, admission, occupancy });
  const direct = (forward: Forwarder, meter: Meter, row?: string) =>
    directly({ way: options.directWay, clock, meter, occupancy, forward, row });

  const byPath = Map.groupBy(endpoints, (endpoint) => routePath(endpoint, dialect));
  for (const [url, rows] of byPath) {
    const taken = new Set<string>();
    for (const endpoint of rows) {
      const served = methodsOf(endpoint);
      for (const method of served) taken.add(method);
      const to = toUpstream(endpoint.area);
      if (to === undefined) continue;
      const meter = meterAt(to, endpoint.area, endpoint.id);
      const { basePath } = passthrough.upstreams.at(to.url);
      const readdress = passthrough.rewriteWorkerAddresses
        ? readdressing(endpoint, { publicUrl: options.publicUrl, basePath })
        : undefined;
      const conformance =
        passthrough.drift &&
        conformanceTo(endpoint, { mode: passthrough.validation, dialect, drift: passthrough.drift, meter });
      const inspect = inspecting(readdress, conformance);
      const admission = admissionTo(endpoint, to, options);
      const readmission = readmissionTo(endpoint, to, options);
      const route = {
        method: served,
        url,
        exposeHeadRoute: false,
        handler: () => undefined,
      };
      if (passthrough.outbox !== undefined && isKept(endpoint)) {
        const { outbox } = passthrough;
        const keeping = {
          ...options,
          ...passthrough,
          endpoint,
          outbox,
          meter,
          conformance,
          inspect,
          readmission,
        };
        const forward = createKeepingForwarder(keeping);
        app.route({ ...route, config: { endpoint }, onRequest: hook(forward, meter, admission) });
        continue;
      }
      const forward = forwarder(to, meter, {
        conformance,
        inspect,
        readmission,
        isWorkers: endpoint.auth === 'ingress',
        headersMs: endpoint.limits?.timeoutMs ?? defaultLimits.timeoutMs,
        isHandedOut: endpoint.permission === 'write',
        isEndless: endpoint.transport === 'sse' || endpoint.eventStream === true,
      });
      const isPlain = admission === undefined && conformance === undefined;
      app.route({
        ...route,
        config: { endpoint, ...(isPlain && { direct: direct(forward, meter, endpoint.id) }) },
        onRequest: hook(throughFastify(forward), meter, admission),
      });
    }
    // What else the upstream may take there is its own business; where callers are checked here, the contract says what they may.
    const to = rows.every(({ area }) => toUpstream(area) !== undefined)
      ? toUpstream(rows[0]?.area ?? '')
      : undefined;
    const others = methods.filter((method) => !taken.has(method));
    if (to !== undefined && !isChecked(to)) {
      const area = rows[0]?.area ?? '';
      everythingAt(url, to, others, meterAt(to, area, `${area}.other`));
    }
  }

  function everythingAt(
    url: string,
    to: ToUpstream,
    method: readonly string[],
    meter: Meter,
    {
      admission,
      inFamily = false,
    }: { readonly admission?: Admission | undefined; readonly inFamily?: boolean } = {},
  ): void {
    const forward = forwarder(to, meter, { inFamily });
    app.route({
      method: [...method],
      url,
      exposeHeadRoute: false,
      ...(admission === undefined && { config: { direct: direct(forward, meter) } }),
      onRequest: hook(throughFastify(forward), meter, admission),
      handler: () => undefined,
    });
  }

  for (const family of families) {
    const to = toUpstream(family.name);
    if (to === undefined) continue;
    const admission = isChecked(to) ? guardOf(family, options) : undefined;
    const prefix = inDialect(family.prefix, dialect);
    const meter = meterAt(to, family.name, family.name);
    for (const url of [prefix, `${prefix}/*`])
      everythingAt(url, to, methods, meter, { admission, inFamily: true });
  }
  const oauth = toUpstream('oauth');
  if (oauth === undefined) return;
  const meter = meterAt(oauth, 'oauth', 'oauth.pages');
  for (const url of pagePaths) everythingAt(url, oauth, methods, meter);
}

/** HEAD is GET without the body, and safe: not where GET hands something out for good. */
function methodsOf({ method, permission, transport }: Endpoint): string[] {
  return method === 'GET' && permission !== 'write' && transport !== 'websocket' ? ['GET', 'HEAD'] : [method];
}

function throughFastify(forward: Forwarder): Forward {
  return (request, reply, arrived) => forward(new ThroughFastify(request, reply), arrived);
}

function onRequest({
  clock,
  forward,
  meter,
  admission,
  occupancy,
}: {
  readonly clock: Clock;
  readonly forward: Forward;
  readonly meter: Meter;
  readonly admission: Admission | undefined;
  readonly occupancy: Occupancy;
}) {
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const arrived = clock.monotonic();
    occupancy.count(reply.raw);
    meter.count(reply.raw);
    if (admission === undefined) forward(request, reply, arrived)?.catch(done);
    else
      admission(request, reply)
        .then((caller) => {
          request.caller = caller;
          return forward(request, reply, arrived);
        })
        .catch(done);
  };
}
