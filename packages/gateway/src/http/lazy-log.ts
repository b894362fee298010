import type { FastifyBaseLogger } from 'fastify';

type Bindings = Parameters<FastifyBaseLogger['child']>[0];
type ChildOptions = Parameters<FastifyBaseLogger['child']>[1];
type Said = Parameters<FastifyBaseLogger['info']>;

/**
 * A request's own log, made when something is first said: most requests say nothing, and a child of pino's costs more than
 * their routing.
 */
export class LazyLog implements FastifyBaseLogger {
  readonly #parent: FastifyBaseLogger;
  readonly #bindings: Bindings;
  readonly #options: ChildOptions;
  #made: FastifyBaseLogger | undefined;

  constructor(parent: FastifyBaseLogger, bindings: Bindings, options?: ChildOptions) {
    this.#parent = parent;
    this.#bindings = bindings;
    this.#options = options;
  }

  get #log(): FastifyBaseLogger {
    return (this.#made ??= this.#parent.child(this.#bindings, this.#options));
  }

  get level() {
    return this.#log.level;
  }
  set level(level) {
    this.#log.level = level;
  }
  child(bindings: Bindings, options?: ChildOptions): FastifyBaseLogger {
    return this.#log.child(bindings, options);
  }
  silent(...said: Said): void {
    this.#log.silent(...said);
  }
  trace(...said: Said): void {
    this.#log.trace(...said);
  }
  debug(...said: Said): void {
    this.#log.debug(...said);
  }
  info(...said: Said): void {
    this.#log.info(...said);
  }
  warn(...said: Said): void {
    this.#log.warn(...said);
  }
  error(...said: Said): void {
    this.#log.error(...said);
  }
  fatal(...said: Said): void {
    this.#log.fatal(...said);
  }
}
