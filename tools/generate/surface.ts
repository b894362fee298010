import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { partBytes } from '@sallyport/core';
import {
  defaultLimits,
  endpoints,
  families,
  isOptional,
  isRateLimited,
  refusalStatuses,
  type Endpoint,
  type Family,
} from '@sallyport/core/contract';

/** `docs/surface.md` from the contract; run this file to write it. A test compares the two. */
export function renderSurface(): string {
  const areas = Map.groupBy(endpoints, ({ area }) => area);
  const sections = [...areas].map(([area, rows]) => `## ${area}\n\n${rows.map(renderRow).join('\n\n')}`);
  return `${[intro, ...sections, familiesSection].join('\n\n')}\n`;
}

export const surfacePath = join(import.meta.dirname, '../../docs/surface.md');

const intro = `# The surface

Every endpoint, generated from the contract in \`packages/core/src/contract\` (\`node -C @sallyport/source tools/generate/surface.ts\`). The
OpenAPI 3.1 document with all schemas is printed by \`sallyport-gateway openapi\`; \`sallyport api\` calls any of them.

_Extension_ marks what the specification does not have, \`?\` what may be left out. Refusals are in the one shape of [errors.md](errors.md). A body is
at most ${bytes(defaultLimits.bodyBytes)} where nothing else is said; a page has at most ${defaultLimits.maxPageSize} items, and about ${bytes(partBytes)} of them; a row with a rate
is limited to that for each caller, unless configured otherwise.`;

function renderRow(row: Endpoint): string {
  const facts = [
    ['Credential', credentialOf(row)],
    ['Headers', names(row.headers, row.beta === undefined ? [] : [`\`vendor-beta: ${row.beta}\``])],
    ['Query', names(row.query)],
    ['Body', row.body === undefined ? '' : bodyOf(row)],
    ['Answer', answerOf(row)],
    ['Refusals', refusalStatuses(row).join(', ')],
    ['Limits', limitsOf(row)],
  ].filter(([, text]) => text !== '');
  const mark = row.extension === true ? ' _Extension._' : '';
  return [
    `### \`${row.method} ${row.path}\``,
    `\`${row.id}\`: ${row.summary}.${mark}`,
    facts.map(([name, text]) => `- ${name}: ${text}`).join('\n'),
  ].join('\n\n');
}

function credentialOf({ auth, scope, permission }: Endpoint): string {
  const kinds = {
    none: '',
    optional: 'an access token, or none',
    access_token: 'an access token or an API key',
    session_key: 'a session key',
    ingress: "the worker's JWT",
  };
  const needs = [scope && `scope \`${scope}\``, permission && `permission \`${permission}\``].filter(Boolean);
  return kinds[auth] + (needs.length > 0 ? ` with ${needs.join(' and ')}` : '');
}

/** The members of an object schema; `?` marks what may be left out. */
function names(schema: Endpoint['headers'], before: readonly string[] = []): string {
  const members = Object.entries(schema?.shape ?? {}).map(
    ([name, member]) => `\`${name}\`${isOptional(member as Parameters<typeof isOptional>[0]) ? '?' : ''}`,
  );
  return [...before, ...members].join(', ');
}

function bodyOf({ body, encodings = ['json'], emptyBody, limits }: Endpoint): string {
  const members = body !== undefined && 'shape' in body ? names(body as Endpoint['headers']) : '';
  const size = limits?.bodyBytes === undefined ? '' : `, at most ${bytes(limits.bodyBytes)}`;
  const may = emptyBody !== undefined ? ', or empty' : '';
  return `${encodings.join(' or ')}${members === '' ? '' : ` of ${members}`}${may}${size}`;
}

/** How what is answered comes. */
const forms: Readonly<Record<Endpoint['transport'], string>> = {
  json: 'JSON',
  multipart: 'JSON',
  text: 'plain text',
  page: 'a page',
  sse: 'server-sent events',
  websocket: 'a WebSocket',
};

function answerOf({ responses, responseHeaders, transport, eventStream }: Endpoint): string {
  const statuses = Object.entries(responses).map(
    ([status, schema]) => `${status}${schema === null ? ' without a body' : ''}`,
  );
  const headers = names(responseHeaders);
  const either = eventStream === true ? ', or 200, server-sent events' : '';
  return `${statuses.join(' or ')}, ${forms[transport]}${either}${headers === '' ? '' : `, with ${headers}`}`;
}

function limitsOf(row: Endpoint): string {
  const { limits } = row;
  return [
    limits?.timeoutMs && `clients give up after ${limits.timeoutMs / 1000} s`,
    limits?.retryPausesMs && `clients retry after ${limits.retryPausesMs.join(' and ')} ms`,
    limits?.pageSize && `${limits.pageSize} items on a page by default`,
    isRateLimited(row) && `${defaultLimits.ratePerMinute} a minute`,
  ]
    .filter(Boolean)
    .join('; ');
}

function bytes(count: number): string {
  return count >= 1024 * 1024 ? `${count / 1024 / 1024} MiB` : `${count / 1024} KiB`;
}

function renderFamily({ prefix, transport }: Family): string {
  const how = transport === 'websocket' ? ': WebSockets; `sallyport api WS PATH` opens one' : '';
  return `- \`${prefix}\`${how}`;
}

const familiesSection = `## Only with an upstream

${families.map(renderFamily).join('\n')}

Without an upstream, what is under these paths answers 501 \`upstream_required\`.`;

if (import.meta.main) writeFileSync(surfacePath, renderSurface());
