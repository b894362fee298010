import { printableJson } from '@sallyport/core';
import { readServerSentEvents, toServiceError, type TransportResponse } from '@sallyport/core/client';
import type { Context } from '../../context.ts';
import { exitCodes } from '../../io/exit.ts';
import { tellFailure, toFailure } from '../../io/failure.ts';
import { parse } from './json.ts';

/** How an answer is printed. */
export interface Showing {
  readonly include: boolean;
  /** Indent JSON for a person's eyes. */
  readonly pretty: boolean;
}

/** Prints the answer, refusals too, and gives the exit code that its status stands for. */
export async function show(
  context: Context,
  url: string,
  answer: TransportResponse,
  showing: Showing,
): Promise<number> {
  if (answer.status < 400 && isType(answer, 'text/event-stream')) return showStream(context, answer, showing);
  const text = await answer.text();
  showWhole(context, answer, text, showing);
  if (answer.status < 400) return exitCodes.done;
  const { clock, terminal } = context;
  const refusal = await toServiceError({ ...answer, text: () => Promise.resolve(text) }, url, clock.now());
  const failure = toFailure(refusal, context);
  tellFailure(failure, terminal);
  return failure.exitCode;
}

/** With `--json` one document whatever the body is, else the body as it came. */
function showWhole(
  { terminal }: Context,
  answer: TransportResponse,
  text: string,
  { include, pretty }: Showing,
): void {
  const value = parse(text);
  if (terminal.json) {
    const body = value === undefined ? text : value.json;
    const { status, headers } = answer;
    return terminal.result({ json: include ? { status, headers, body } : body, human: '' });
  }
  if (include) terminal.out(head(answer));
  if (text === '') return;
  const shown = pretty && value !== undefined ? printableJson(JSON.stringify(value.json, null, 2)) : text;
  terminal.out(shown.endsWith('\n') ? shown : `${shown}\n`);
}

/** As it comes: with `--json` an event a line, else the bytes of the stream. */
async function showStream(
  { terminal }: Context,
  answer: TransportResponse,
  { include }: Showing,
): Promise<number> {
  if (terminal.json) {
    for await (const { event, id, data } of readServerSentEvents(answer.stream())) {
      const value = parse(data);
      terminal.result({ json: { event, id, data: value === undefined ? data : value.json }, human: '' });
    }
    return exitCodes.done;
  }
  if (include) terminal.out(head(answer));
  const decoder = new TextDecoder();
  for await (const chunk of answer.stream()) terminal.out(decoder.decode(chunk, { stream: true }));
  return exitCodes.done;
}

/** As a person reads it. */
export function head({ status, headers }: Pick<TransportResponse, 'status' | 'headers'>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
  return `HTTP ${status}\n${lines.join('')}\n`;
}

function isType({ headers }: TransportResponse, type: string): boolean {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === type;
}
