import { isJsonObject } from '@sallyport/core';
import type { SessionEvent } from '@sallyport/core/contract';
import { printableLines } from '../../io/printable.ts';
import type { Terminal } from '../../io/terminal.ts';
import { accountName } from '../account-name.ts';
import { describeRequest } from './approvals.ts';
import { causeOf, whyEnded } from './end.ts';

export interface RenderOptions {
  /** Shows what people sent, too. */
  readonly messages?: boolean;
}

/**
 * Shows an event: the process's output as it is, for its colours and progress bars are what the person asked for;
 * everything else on stderr, without what could steer the terminal.
 */
export function renderEvent(event: SessionEvent, terminal: Terminal, options: RenderOptions = {}): void {
  if (terminal.json) return terminal.result({ json: event, human: '' });
  if (event.type === 'session.output') return renderOutput(event.data, terminal);
  const line = lineFor(event, options);
  if (line === undefined) return;
  const hasFailed = event.type === 'session.updated' && event.data['status'] === 'failed';
  terminal.note(terminal.style(hasFailed ? 'red' : 'dim', printableLines(line), 'err'));
}

function renderOutput(data: SessionEvent['data'], terminal: Terminal): void {
  const { text, base64, stream, partial, truncated } = data;
  const write = (piece: string) => (stream === 'stderr' ? terminal.err(piece) : terminal.out(piece));
  if (typeof text === 'string') write(partial === true ? text : `${text}\n`);
  else if (typeof base64 === 'string') {
    const size = Buffer.byteLength(base64, 'base64');
    terminal.note(terminal.style('dim', `[${size} bytes that are not text]`, 'err'));
  }
  if (truncated === true) {
    const size = typeof data['bytes'] === 'number' ? `: ${data['bytes']} bytes in all` : '';
    terminal.note(terminal.style('dim', `[cut${size}]`, 'err'));
  }
}

function lineFor(event: SessionEvent, { messages = false }: RenderOptions): string | undefined {
  const { type, data } = event;
  switch (type) {
    case 'session.updated': {
      const why = whyEnded(causeOf(data));
      return `session ${String(data['status'])}${why === undefined ? '' : `: ${why}`}`;
    }
    case 'worker.exited':
      // An exit code comes with the session's end.
      return typeof data['signal'] === 'string' ? `the command was ended by ${data['signal']}` : undefined;
    case 'session.message':
      return messages ? describeMessage(event) : undefined;
    case 'control.stop':
      return data['force'] === true ? 'asked to end at once' : 'asked to stop';
    case 'control.interrupt':
      return 'asked to interrupt';
    case 'tool.permission_request':
      return `asks for permission: ${describeRequest(data)}`;
    case 'control.permission_response':
      return describeAnswer(event);
    case 'worker.workspace':
      return `works in ${String(data['directory'])}`;
    case 'worker.changes':
      return describeChanges(event);
    case 'session.created':
    case 'worker.patch':
    case 'worker.ready':
    case 'worker.heartbeat':
      return undefined;
    default:
      return type.startsWith('control.') ? undefined : `${type} ${JSON.stringify(data)}`;
  }
}

/** Lines after the first are set in: none of a message can look like what somebody else sent. */
function describeMessage(event: SessionEvent): string {
  return `${accountName(event)}> ${String(event.data['text']).replaceAll('\n', '\n  ')}`;
}

function describeAnswer(event: SessionEvent): string {
  const name = accountName(event);
  return `permission is ${event.data['behavior'] === 'allow' ? 'given' : 'refused'}${name && ` by ${name}`}`;
}

function describeChanges(event: SessionEvent): string | undefined {
  const sources = Array.isArray(event.data['sources']) ? (event.data['sources'] as readonly unknown[]) : [];
  const sum = (name: string) =>
    sources.reduce<number>((total, source) => {
      const count = isJsonObject(source) ? source[name] : undefined;
      return total + (typeof count === 'number' ? count : 0);
    }, 0);
  const files = sum('file_count');
  if (files === 0) return undefined;
  return `changed ${files} ${files === 1 ? 'file' : 'files'} (+${sum('added')} -${sum('removed')}): sallyport session diff ${event.session_id}`;
}
