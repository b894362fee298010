import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers a request without Fastify, or hands it over. */
export type Direct = (request: IncomingMessage, response: ServerResponse) => void;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What serves the route's plain requests before Fastify is asked. */
    readonly direct?: Direct | undefined;
  }
}

interface Step {
  readonly named: Map<string, Step>;
  any?: Step;
  rest?: Ended;
  end?: Ended;
}

interface Ended {
  readonly direct: Direct | undefined;
}

/** What Fastify's router decodes or normalizes, or refuses, it is asked about. */
const odd = /[^\w\-./~:]|\/\.{0,2}(?:\/|$)/;
const longest = 2048;

/**
 * Which of the app's routes takes a path, as Fastify's own router decides: a name before a parameter, that before a wildcard.
 * It knows all routes, so that what is not direct hides what is.
 */
export class DirectRoutes {
  readonly #methods = new Map<string, Step>();
  /** Those that have direct routes. */
  readonly #taken = new Set<string>();

  add(method: string, url: string, direct: Direct | undefined): void {
    let step = this.#methods.get(method);
    if (step === undefined) this.#methods.set(method, (step = { named: new Map() }));
    if (direct) this.#taken.add(method);
    for (const name of url.split('/').slice(1)) {
      if (name === '*') return void (step.rest = { direct });
      if (/.[:*(]/.test(name)) throw new Error(`A route that is not understood here: ${url}.`);
      step = name.startsWith(':') ? (step.any ??= { named: new Map() }) : named(step, name);
    }
    step.end = { direct };
  }

  /** `undefined`: the request is Fastify's. */
  find(method: string, path: string): Direct | undefined {
    if (!this.#taken.has(method) || path.length > longest || odd.test(path)) return undefined;
    const step = this.#methods.get(method);
    return step && endOf(step, path, 1)?.direct;
  }
}

function named(step: Step, name: string): Step {
  const known = step.named.get(name) ?? { named: new Map() };
  step.named.set(name, known);
  return known;
}

function endOf(step: Step, path: string, at: number): Ended | undefined {
  if (at > path.length) return step.end;
  const slash = path.indexOf('/', at);
  const end = slash < 0 ? path.length : slash;
  const name = path.slice(at, end);
  const next = step.named.get(name);
  return (
    (next && endOf(next, path, end + 1)) ??
    (step.any && name !== '' ? endOf(step.any, path, end + 1) : undefined) ??
    step.rest
  );
}
