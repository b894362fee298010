import { readdirSync, readFileSync } from 'node:fs';
import type { StepBench } from './bench.ts';

export interface LoggedEvent {
  readonly id: string;
  readonly seq: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** All that the gateway has stored of a session. */
export async function sessionLog(bench: StepBench, sessionId: string): Promise<LoggedEvent[]> {
  const answer = await bench.fetch(`/v1/sessions/${sessionId}/events/stream?beta=true&from_seq=0`);
  let text = '';
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes('event: caught_up')) break;
  }
  return text
    .split('\n\n')
    .filter((block) => /^id: /m.test(block))
    .map((block) => JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '') as LoggedEvent);
}

/** The processes of an environment's sessions that live, wherever they moved to. */
export function processesOf(environmentId: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids
    .filter((pid) => environmentOf(pid).includes(`SALLYPORT_ENVIRONMENT_ID=${environmentId}\0`))
    .map(Number);
}

/** For the message of a test that fails: state, parent, group, session and command line. */
export function describeProcess(pid: number): string {
  const read = (name: string) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, 'latin1').replaceAll('\0', ' ').trim();
    } catch {
      return '?';
    }
  };
  const [state, parent, group, session] = read('stat')
    .replace(/^.*\) /, '')
    .split(' ');
  return `${pid} ${state} parent ${parent} group ${group} session ${session}: ${read('cmdline')} [${read('wchan')}]`;
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return ''; // gone by now
  }
}

/** Resolves when `holds` gives something; for what no event tells of. */
export async function until<T>(holds: () => T | undefined | false): Promise<T> {
  for (;;) {
    const found = holds();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
