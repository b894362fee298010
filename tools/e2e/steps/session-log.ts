import { readdirSync, readFileSync } from 'node:fs';

export interface LoggedEvent {
  readonly id: string;
  readonly seq: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** All that the gateway at `baseUrl` has stored of a session. */
export async function sessionLog(baseUrl: string, token: string, sessionId: string): Promise<LoggedEvent[]> {
  const ending = new AbortController();
  const answer = await fetch(`${baseUrl}/v1/sessions/${sessionId}/events/stream?beta=true&from_seq=0`, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    signal: ending.signal,
  });
  let text = '';
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes('event: caught_up')) break;
  }
  ending.abort();
  return text
    .split('\n\n')
    .filter((block) => /^id: /m.test(block))
    .map((block) => JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '') as LoggedEvent);
}

/** The processes of a session's work that live, wherever they moved to. */
export function processesOf(sessionId: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => environmentOf(pid).includes(`SALLYPORT_SESSION_ID=${sessionId}\0`)).map(Number);
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
