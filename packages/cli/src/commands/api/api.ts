import { endpoints } from '@sallyport/core/contract';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { readStdin } from '../../io/stdin.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { ask } from './ask.ts';
import { headers, members, type Fields } from './fields.ts';
import { show } from './show.ts';
import { targetOf, type Target } from './target.ts';

export interface ApiOptions {
  readonly param: readonly string[];
  readonly query: readonly string[];
  readonly header: readonly string[];
  readonly body?: string;
  readonly include?: boolean;
  readonly list?: boolean;
}

export async function api(
  context: Context,
  options: ApiOptions,
  ...words: string[]
): Promise<Output | number> {
  if (options.list === true) return list();
  const target = targetOf(words, context.settings, {
    params: members('--param', options.param),
    query: members('--query', options.query),
    hasBody: options.body !== undefined,
  });
  refuseSocket(target);
  const sent = headers(options.header);
  const body = options.body === '-' ? await readStdin(context, 'the body') : options.body;
  checkBody(body, sent);
  const answer = await ask(context, target, sent, body);
  return show(context, target.url, answer, {
    include: options.include === true,
    pretty: process.stdout.isTTY,
  });
}

function list(): Output {
  const rows = endpoints.map(({ id, method, path, summary, extension }) => ({
    id,
    method,
    path,
    summary,
    extension: extension === true,
  }));
  const lines = rows.map(({ id, method, path, summary }) => [id, method, path, summary]);
  return { json: rows, human: table(['ID', 'METHOD', 'PATH', 'SUMMARY'], lines) };
}

function refuseSocket({ endpoint }: Target): void {
  if (endpoint?.transport !== 'websocket') return;
  throw new CommandError(
    'websocket',
    `${endpoint.id} is a WebSocket, which has no body to print.`,
    exitCodes.usage,
    'Whether WebSockets come through: sallyport doctor',
  );
}

/** Another content type is the caller's own business. */
function checkBody(body: string | undefined, sent: Fields): void {
  if (body === undefined || (sent['content-type'] ?? 'application/json') !== 'application/json') return;
  try {
    JSON.parse(body);
  } catch (error) {
    throw new CommandError(
      'invalid_body',
      `--body is no JSON: ${(error as Error).message}.`,
      exitCodes.usage,
      'Quote it for your shell, or pipe it in with --body -; another type needs --header content-type:TYPE.',
    );
  }
}
