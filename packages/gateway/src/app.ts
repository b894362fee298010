import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createIds,
  systemClock,
  systemRandom,
  type Clock,
  type Dialect,
  type Grants,
  type Ids,
  type Random,
  ServiceError,
} from '@sallyport/core';
import { headerNames } from '@sallyport/core/contract';
import fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Gates } from './http/admission.ts';
import type { CallOrigins } from './http/call-origin.ts';
import { collectAllowedMethods } from './http/allowed-methods.ts';
import { createBodyBudget } from './http/body-budget.ts';
import { DirectWay } from './http/direct-way.ts';
import { createDrain, type Drain } from './http/drain.ts';
import type { Authenticator } from './http/callers.ts';
import type { Listener } from './http/listener.ts';
import { registerFamilies } from './http/families.ts';
import { ambiguityOf } from './http/framing.ts';
import { LazyLog } from './http/lazy-log.ts';
import { createLog } from './http/log.ts';
import { pathOf, type MorePaths } from './http/paths.ts';
import { registerContract, type PartialHandlers } from './http/pipeline.ts';
import type { PublicDocuments } from './http/public-documents.ts';
import { createRateLimiter } from './http/rate-limit.ts';
import { createRefusals, unrouted, type Elsewhere } from './http/refusals.ts';
import { requestIdOf } from './http/request-id.ts';
import { upgradableIn } from './http/upgradable.ts';
import { createUpgradeRouter } from './http/upgrades.ts';
import type { Passthrough } from './passthrough/passthrough.ts';
import { registerPassthrough } from './passthrough/routes.ts';
import { isUploading } from './passthrough/upload.ts';
import { createAccessLog, registerAccessLog } from './plugins/access-log.ts';
import { registerCors } from './plugins/cors.ts';
import { registerHealth, type Checks, type Warnings } from './plugins/health.ts';
import { registerMetrics } from './plugins/metrics.ts';
import { createTraffic, type Traffic } from './metrics/traffic.ts';
import type { StatSource } from './metrics/sources.ts';

/** What the app serves. */
export interface Served {
  readonly authenticator: Authenticator;
  readonly handlers: PartialHandlers;
  /** See `PipelineOptions`. */
  readonly documents?: PublicDocuments;
  readonly morePaths?: MorePaths;
  /** Tells of revocations, which end open streams. */
  readonly grants?: Grants;
  readonly gates?: Gates;
  /** Is told which request is being served. */
  readonly callOrigins?: CallOrigins;
  /** Asked by `/readyz`. */
  readonly checks?: Checks;
  readonly warnings?: Warnings;
  /** Registers the pages for browsers, in a scope of their own. */
  readonly pages?: (app: FastifyInstance) => void | Promise<void>;
  readonly elsewhere?: Elsewhere;
  /** What the engines count by themselves, for `/metrics`. */
  readonly stats?: readonly StatSource[];
  /** What goes elsewhere; by default all is served here. */
  readonly passthrough?: Passthrough;
  /** Whether what an organization sends elsewhere may rest here until it can; by default it may. */
  readonly mayKeep?: (organizationId: string) => Promise<boolean>;
  /** What engines do when the gateway drains, in order: answer held polls, say goodbye on streams. */
  readonly drainSteps?: readonly (() => Promise<void>)[];
}

export interface AppOptions {
  /** Where clients reach the gateway; without a slash at the end. */
  readonly publicUrl: string;
  readonly dialect: Dialect;
  /** Requests per minute by row; see `rateLimits` of the configuration. */
  readonly rateLimits: Readonly<Record<string, number>>;
  readonly trustProxy: boolean;
  readonly corsOrigins: readonly string[];
  /** What the bodies of all requests together may take in memory; default 64 MiB. */
  readonly maxBodyBytesInFlight?: number;
  /** See `metrics.token` of the configuration. */
  readonly metricsToken?: string | undefined;
  /** What is counted, and what is open: of the apps that were on the port before, too. */
  readonly traffic?: Traffic;
  readonly drain?: Drain;
  readonly log?: FastifyBaseLogger;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly ids?: Ids;
}

/** The gateway without a port: the contract's routes over `served`. */
export interface App {
  readonly fastify: FastifyInstance;
  readonly drain: Drain;
  /** Serves on a bound port. */
  attach(listener: Listener): Promise<void>;
  /** Drains: held polls answer, streams end, requests in flight finish. Does not close the listener. */
  close(): Promise<void>;
}

export function createApp(served: Served, options: AppOptions): App {
  const { clock = systemClock, random = systemRandom, dialect, publicUrl } = options;
  const ids = options.ids ?? createIds(clock, random);
  const refusals = createRefusals({ realm: publicUrl, ids, elsewhere: served.elsewhere });
  const { drain = createDrain({ clock }), traffic = createTraffic() } = options;
  const app: FastifyInstance = fastify({
    loggerInstance: options.log ?? createLog('silent'),
    // Requests are logged by `registerAccessLog`, streams included.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    childLoggerFactory: (log, bindings, options) => new LazyLog(log, bindings, options),
    requestIdHeader: false,
    genReqId: (request) => directWay.idOf(request) ?? requestIdOf(request, ids),
    // One proxy: what stands before the last address is its caller's own word, and limits count by addresses.
    trustProxy: options.trustProxy ? (_address, hop) => hop === 0 : false,
    return503OnClosing: false,
    // It counts for hooks, too: a drain that sends thousands of streams away takes longer than the 10 s that it would be given.
    pluginTimeout: 0,
    // The rows' schemas are checked by the pipeline. Fastify loads its own compilers, a fifth of the start, only if it must.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    // A long identifier is not found, like any other that nobody has.
    routerOptions: { maxParamLength: 4096 },
    frameworkErrors: (error, request, reply) => refusals.onError(error, request, reply),
    clientErrorHandler: (error, socket) => refusals.onClientError(error, socket),
  });
  app.setErrorHandler((error, request, reply) => refusals.onError(error, request, reply));

  const methodsAt = collectAllowedMethods(app);
  const accessLog = createAccessLog(app.log, { clock, trustProxy: options.trustProxy });
  const directWay = new DirectWay(app, ids, accessLog);
  registerAccessLog(app, accessLog, (request) => directWay.idOf(request) !== undefined);
  served.callOrigins?.follow(app);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header(headerNames.requestId, request.id).header('x-content-type-options', 'nosniff');
    const ambiguity = ambiguityOf(request.raw);
    if (ambiguity !== undefined) {
      reply.raw.shouldKeepAlive = false;
      // Not by an error handler of the route's: wherever it leads, it is not asked.
      return refusals.onError(new ServiceError('invalid_request', ambiguity), request, reply);
    }
    if (!request.is404) return done();
    // Here and not in a handler for what is not found: that would come after the check of the body's type.
    const methods = methodsAt(pathOf(request.url));
    if (methods.length > 0) reply.header('allow', methods.join(', '));
    done(unrouted(request.raw, methods));
  });
  directWay.follow();
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (drain.draining) reply.header('connection', 'close');
    done();
  });
  registerHealth(app, { checks: served.checks ?? {}, warnings: served.warnings ?? {}, drain, clock });
  registerMetrics(app, { traffic, sources: served.stats ?? [], token: options.metricsToken });
  const { pages, passthrough } = served;
  const isLocal = (name: string) => (passthrough?.destinations.get(name)?.to ?? 'local') === 'local';
  if (isLocal('oauth')) registerCors(app, { dialect, origins: options.corsOrigins });

  const upgrades = createUpgradeRouter({ clock, random });
  void app.register((scope, _options, done) => {
    const limiter = createRateLimiter(clock, options.rateLimits);
    const bodies = createBodyBudget(options.maxBodyBytesInFlight ?? 64 * 1024 * 1024);
    const context = {
      ...served,
      limiter,
      bodies,
      dialect,
      clock,
      ids,
      drain,
      upgrades,
      isLocal,
      traffic,
      directWay,
      publicUrl,
    };
    registerContract(scope, context);
    registerFamilies(scope, context);
    const { trustProxy } = options;
    const { mayKeep = async () => true } = served;
    if (passthrough) registerPassthrough(scope, passthrough, { ...context, trustProxy, mayKeep });
    done();
  });
  if (pages) void app.register(async (scope) => pages(scope));
  app.addHook('preClose', () => drain.run(served.drainSteps ?? []));

  return {
    fastify: app,
    drain,
    async attach(listener) {
      await app.ready();
      const serve = (request: IncomingMessage, response: ServerResponse) => app.routing(request, response);
      listener.open({
        serve: (request, response) => directWay.serve(request, response),
        upgrade: (request, socket, head) => upgrades.receive(request, { socket, head }, serve),
        upgradable: upgradableIn(dialect, passthrough?.destinations),
        clientError(error, socket) {
          // The forwarder has limits of its own for uploads.
          const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
          if (!isLate || !isUploading(socket)) refusals.onClientError(error, socket);
        },
      });
    },
    close: () => app.close(),
  };
}

function noSchemas(): never {
  throw new Error('Routes have no schemas of Fastify: the contract has them.');
}
