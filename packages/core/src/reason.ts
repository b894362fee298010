import { getSystemErrorMessage } from 'node:util';

const maxLength = 500;
/** As deep as causes lead: one may be its own. */
const maxDepth = 5;

/** Node.js's own form: `ENOENT: no such file or directory, open '/x'`. */
const ofSystem = /^E[A-Z0-9]+: (.+?), \w+(?: '.*)?$/s;
/** Its form for programs that could not be started, which has the code alone: `spawn git EAGAIN`. */
const ofSpawn = /^spawn (.+) E[A-Z0-9]+$/s;

/**
 * What was thrown, whatever it is, in words on one line, for the end of a sentence: never empty, never `[object Object]`.
 * An error that says nothing itself speaks by its causes, by those that it gathers, by its code, or by its name.
 */
export function reasonOf(thrown: unknown): string {
  const line = (inWords(thrown, maxDepth) ?? 'no reason was given').replace(/\s+/g, ' ').trim();
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
}

function inWords(thrown: unknown, depth: number): string | undefined {
  if (depth === 0) return undefined;
  if (thrown instanceof Error) {
    const said = given(ofProgram(thrown) ?? thrown.message.replace(ofSystem, '$1'));
    // `fetch failed` and the like say nothing by themselves.
    if (said !== undefined && said !== 'fetch failed') return said;
    const gathered = thrown instanceof AggregateError ? thrown.errors : [];
    const each = new Set(gathered.map((one) => inWords(one, depth - 1)).filter((one) => one !== undefined));
    const code = 'code' in thrown ? given(String(thrown.code)) : undefined;
    return (
      given([...each].join('; ')) ?? inWords(thrown.cause, depth - 1) ?? said ?? code ?? given(thrown.name)
    );
  }
  if (typeof thrown === 'object' && thrown !== null) {
    // What other code throws in place of an error, such as `{ message }`.
    const said =
      'message' in thrown && typeof thrown.message === 'string' ? given(thrown.message) : undefined;
    return said ?? asJson(thrown);
  }
  if (typeof thrown === 'string') return given(thrown);
  return typeof thrown === 'number' || typeof thrown === 'symbol' ? String(thrown) : undefined;
}

function ofProgram(error: NodeJS.ErrnoException): string | undefined {
  const program = ofSpawn.exec(error.message)?.[1];
  return program !== undefined && error.errno !== undefined
    ? `${program}: ${getSystemErrorMessage(error.errno)}`
    : undefined;
}

function given(text: string): string | undefined {
  return text.trim() === '' ? undefined : text;
}

function asJson(value: object): string | undefined {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === '{}' ? undefined : text;
  } catch {
    return undefined; // it leads to itself
  }
}
