import type { SessionEvent } from '@sallyport/core/contract';
import type { Terminal } from '../../io/terminal.ts';

/** Shows an event: the process's output as it is, everything else as one dim line on stderr. */
export function renderEvent(event: SessionEvent, terminal: Terminal): void {
  if (terminal.json) return terminal.result({ json: event, human: '' });
  if (event.type === 'session.output') return renderOutput(event.data, terminal);
  const line = lineFor(event);
  if (line !== undefined) terminal.note(terminal.style('dim', line, 'err'));
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

function lineFor(event: SessionEvent): string | undefined {
  const { type, data } = event;
  switch (type) {
    case 'session.updated': {
      const reason = typeof data['reason'] === 'string' ? ` (${data['reason']})` : '';
      return `session ${String(data['status'])}${reason}`;
    }
    case 'worker.exited': {
      const { exit_code: exitCode, signal } = data;
      if (typeof signal === 'string') return `the command was ended by ${signal}`;
      return typeof exitCode === 'number' && exitCode !== 0
        ? `the command ended with exit code ${exitCode}`
        : undefined;
    }
    case 'session.created':
    case 'session.message':
    case 'worker.ready':
    case 'worker.heartbeat':
      return undefined;
    default:
      return `${type} ${JSON.stringify(data)}`;
  }
}
