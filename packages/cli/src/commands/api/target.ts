import { didYouMean, inDialect, type Dialect } from '@sallyport/core';
import { endpointUrl } from '@sallyport/core/client';
import {
  defaultLimits,
  endpoints,
  families,
  familyTimeoutMs,
  type Endpoint,
  type Family,
} from '@sallyport/core/contract';
import { CommandError, exitCodes } from '../../io/exit.ts';
import type { Settings } from '../../config/settings.ts';
import type { Fields } from './fields.ts';

/** What is called, and the row that says how, where there is one. */
export interface Target {
  readonly method: string;
  readonly url: string;
  readonly endpoint: Endpoint | undefined;
  /** Whether it is asked for a WebSocket, by GET. */
  readonly isSocket: boolean;
}

export interface TargetInput {
  readonly params: Fields;
  readonly query: Fields;
  readonly hasBody: boolean;
}

/** Where it is called, and in which words. */
type Gateway = Pick<Settings, 'baseUrl' | 'dialect'>;

/** Reads `bridge.list`, `GET /v1/sessions` or `/v1/sessions`; `WS /path` is a WebSocket whatever the contract says. Throws where that is no endpoint, or not of `baseUrl`. */
export function targetOf(words: readonly string[], gateway: Gateway, input: TargetInput): Target {
  const [first, second, ...others] = words;
  if (first === undefined || others.length > 0) throw usage('What is called is an endpoint, or METHOD PATH.');
  if (second === undefined && !/^\/|:\/\//.test(first)) return ofRow(rowNamed(first), gateway, input);
  const [method, path] = second === undefined ? [input.hasBody ? 'POST' : 'GET', first] : [first, second];
  if (!/^[A-Za-z]+$/.test(method)) throw usage(`${JSON.stringify(method)} is no method.`);
  return ofPath(method.toUpperCase(), path, gateway, input);
}

/** How long an answer may take to begin. What has no row is of a family, or of another release. */
export function timeoutOf(endpoint: Endpoint | undefined): number {
  return endpoint ? (endpoint.limits?.timeoutMs ?? defaultLimits.timeoutMs) : familyTimeoutMs;
}

function rowNamed(id: string): Endpoint {
  const row = endpoints.find((each) => each.id === id);
  if (row !== undefined) return row;
  const ids = endpoints.map((each) => each.id);
  throw new CommandError(
    'unknown_endpoint',
    [`There is no endpoint ${JSON.stringify(id)}.`, didYouMean(id, ids) ?? ''].join(' ').trim(),
    exitCodes.usage,
    'All of them: sallyport api --list',
  );
}

function ofRow(endpoint: Endpoint, { baseUrl, dialect }: Gateway, { params, query }: TargetInput): Target {
  const { method, path } = endpoint;
  return {
    method,
    url: within(baseUrl, endpointUrl(baseUrl, { path: filled(inDialect(path, dialect), params) }, { query })),
    endpoint,
    isSocket: endpoint.transport === 'websocket',
  };
}

function ofPath(
  said: string,
  path: string,
  { baseUrl, dialect }: Gateway,
  { params, query }: TargetInput,
): Target {
  const absolute = path.startsWith('/') ? baseUrl + filled(path, params) : path;
  const url = new URL(within(baseUrl, absolute));
  for (const [name, value] of Object.entries(query)) url.searchParams.append(name, value);
  const called = url.pathname.slice(new URL(baseUrl).pathname.replace(/\/$/, '').length);
  const method = said === 'WS' ? 'GET' : said;
  const endpoint = rowOf(method, called, dialect);
  const isSocket =
    said === 'WS' ||
    endpoint?.transport === 'websocket' ||
    (method === 'GET' && endpoint === undefined && isOfSockets(called, dialect));
  return { method, url: url.href, endpoint, isSocket };
}

function isOfSockets(path: string, dialect: Dialect): boolean {
  return families.some(
    (family: Family) =>
      family.transport === 'websocket' && `${path}/`.startsWith(`${inDialect(family.prefix, dialect)}/`),
  );
}

/** The most literal row wins: `/environments/bridge` is no `/environments/{id}`. */
function rowOf(method: string, path: string, dialect: Dialect): Endpoint | undefined {
  const matching = endpoints.filter(
    (row) => row.method === method && toPattern(inDialect(row.path, dialect)).test(path),
  );
  return matching.toSorted((a, b) => membersOf(a.path).length - membersOf(b.path).length)[0];
}

function toPattern(path: string): RegExp {
  const escaped = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\{\w+\}/g, '[^/]+')}$`);
}

function membersOf(path: string): readonly string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
}

function filled(path: string, params: Fields): string {
  const names = membersOf(path);
  const missing = names.filter((name) => !Object.hasOwn(params, name));
  if (missing.length > 0)
    throw usage(`The path needs ${missing.map((name) => `--param ${name}=VALUE`).join(' ')}: ${path}`);
  const unknown = Object.keys(params).find((name) => !names.includes(name));
  if (unknown !== undefined) throw usage(`The path has no {${unknown}}: ${path}`);
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

/** A login belongs to its address, prefix included; `..` has been resolved before this is judged. */
function within(baseUrl: string, address: string): string {
  const [base, url] = [new URL(baseUrl), URL.parse(address)];
  const prefix = `${base.pathname.replace(/\/$/, '')}/`;
  if (
    url !== null &&
    url.origin === base.origin &&
    url.pathname.startsWith(prefix) &&
    url.username + url.password === ''
  )
    return url.href;
  throw new CommandError(
    'other_address',
    `${address} is not below ${baseUrl}, which your login is for.`,
    exitCodes.usage,
    'Give a path such as /v1/sessions, or another gateway with --base-url or --profile.',
  );
}

function usage(message: string): CommandError {
  return new CommandError('usage', message, exitCodes.usage, 'See: sallyport api --help');
}
