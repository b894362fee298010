import type { ClientSocket } from '@sallyport/core/client';
import { endpoints } from '@sallyport/core/contract';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { readStdin } from '../../io/stdin.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { ask, askForSocket } from './ask.ts';
import { headers, members, type Fields } from './fields.ts';
import { head, show } from './show.ts';
import { targetOf, type Target } from './target.ts';

export interface ApiOptions {
  readonly param: readonly string[];
  readonly query: readonly string[];
  readonly header: readonly string[];
  readonly body?: string;
  readonly include?: boolean;
  readonly list?: boolean;
  readonly subprotocol: readonly string[];
  readonly binary?: boolean;
  readonly close?: boolean;
}

export async function api(
  context: Context,
  options: ApiOptions,
  ...words: string[]
): Promise<Output | number> {
  if (options.list === true) return list(context);
  const target = targetOf(words, context.settings, {
    params: members('--param', options.param),
    query: members('--query', options.query),
    hasBody: options.body !== undefined,
  });
  if (target.isSocket) return talk(context, options, target);
  refuseSocketOptions(options);
  const sent = headers(options.header);
  const body = options.body === '-' ? await readStdin(context, 'the body') : options.body;
  checkBody(body, sent);
  const answer = await ask(context, target, sent, body);
  return show(context, target.url, answer, {
    include: options.include === true,
    pretty: context.terminal.isForEyes,
  });
}

function list({ terminal }: Context): Output {
  const rows = endpoints.map(({ id, method, path, summary, extension }) => ({
    id,
    method,
    path,
    summary,
    extension: extension === true,
  }));
  const lines = rows.map(({ id, method, path, summary }) => [id, method, path, summary]);
  return { json: rows, human: table(['ID', 'METHOD', 'PATH', 'SUMMARY'], lines, terminal.widthOf('out')) };
}

function refuseSocketOptions({ binary, close = true, subprotocol }: ApiOptions): void {
  if (binary !== true && close && subprotocol.length === 0) return;
  throw new CommandError(
    'usage',
    'This is no WebSocket: --binary, --no-close and --subprotocol are for those.',
    exitCodes.usage,
    'A WebSocket is opened with: sallyport api WS PATH',
  );
}

/** A WebSocket has messages, not a body. */
async function talk(context: Context, options: ApiOptions, target: Target): Promise<number> {
  const { include = false, binary = false, close = true, subprotocol } = options;
  if (options.body !== undefined)
    throw new CommandError(
      'usage',
      'A WebSocket takes no --body.',
      exitCodes.usage,
      "Each line of stdin is a message: echo '{...}' | sallyport api WS PATH",
    );
  const answer = await askForSocket(context, target, headers(options.header), subprotocol);
  if (!('send' in answer))
    return show(context, target.url, answer, { include, pretty: context.terminal.isForEyes });
  if (include) showHead(context, answer);
  const { converse } = await import('./socket.ts');
  return converse(context, answer, { binary, closes: close });
}

function showHead({ terminal }: Context, { status, headers: fields }: ClientSocket): void {
  if (terminal.json) terminal.result({ json: { status, headers: fields }, human: '' });
  else terminal.out(head({ status, headers: fields }));
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
