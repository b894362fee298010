import { ServiceError } from '@sallyport/core';
import { contract, type SessionEvent } from '@sallyport/core/contract';
import { accessOf, lacks } from '../../access.ts';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { printable } from '../../io/printable.ts';
import { hasTerminal, question } from '../../io/question.ts';
import { sendAnswer, type Behavior } from './answer.ts';

/** How requests for permission are answered. */
export type Approve = 'ask' | 'always' | 'never';

/** What an answer takes. */
const { permission } = contract.sessions.append;

export interface ApprovalsOptions {
  /** `undefined`: nobody answers, and the person is told that the command waits. */
  readonly approve: Approve | undefined;
  /** Whether this account may answer. */
  readonly mayAnswer: () => Promise<boolean>;
  readonly answer: (request: SessionEvent, behavior: Behavior) => Promise<void>;
  readonly ask: (question: string, signal: AbortSignal) => Promise<string>;
  readonly tell: (text: string) => void;
}

/**
 * Answers a session's requests for permission, one after the other; those that somebody else answers meanwhile are dropped.
 * Of a log that is read from its beginning only what is unanswered at its end counts, so it begins with `begin`.
 */
export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #waiting = new Map<string, SessionEvent>();
  #approve: Approve | undefined;
  #hasBegun = false;
  #isAnswering = false;
  #asking: { readonly requestId: string; readonly abort: AbortController } | undefined;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    this.#approve = options.approve;
  }

  observe(event: SessionEvent): void {
    const requestId = event.data['request_id'];
    if (typeof requestId !== 'string') return;
    if (event.type === 'control.permission_response') {
      this.#waiting.delete(requestId);
      if (this.#asking?.requestId === requestId) this.#asking.abort.abort();
    }
    if (event.type !== 'tool.permission_request') return;
    this.#waiting.set(requestId, event);
    void this.#goOn();
  }

  begin(): void {
    this.#hasBegun = true;
    void this.#goOn();
  }

  end(): void {
    this.#waiting.clear();
    this.#asking?.abort.abort();
  }

  async #goOn(): Promise<void> {
    if (!this.#hasBegun || this.#isAnswering) return;
    this.#isAnswering = true;
    for (let next = this.#first(); next; next = this.#first()) {
      const [requestId, request] = next;
      try {
        const behavior = await this.#decide(requestId, request);
        // Somebody else was faster, or nobody answers here.
        if (behavior && this.#waiting.has(requestId)) await this.#options.answer(request, behavior);
      } catch (error) {
        this.#options.tell(`The answer could not be sent: ${printable((error as Error).message)}`);
      }
      this.#waiting.delete(requestId);
    }
    this.#isAnswering = false;
  }

  #first(): readonly [string, SessionEvent] | undefined {
    return this.#waiting.entries().next().value;
  }

  async #decide(requestId: string, request: SessionEvent): Promise<Behavior | undefined> {
    const mayAnswer = await this.#options.mayAnswer();
    if (!this.#waiting.has(requestId)) return undefined;
    if (!mayAnswer) {
      this.#options.tell('It waits for an answer: a member or an admin of the organization may give one.');
      return undefined;
    }
    if (this.#approve === 'always') return 'allow';
    if (this.#approve === 'never') return 'deny';
    if (this.#approve === undefined) {
      this.#options.tell(`It waits for an answer. Give one: sallyport session approve ${request.session_id}`);
      return undefined;
    }
    const abort = new AbortController();
    this.#asking = { requestId, abort };
    try {
      const wanted = `Allow ${printable(describeRequest(request.data))}? [y]es, [a]lways, [N]o: `;
      const said = (await this.#options.ask(wanted, abort.signal)).trim().toLowerCase();
      if (/^a(lways)?$/.test(said)) this.#approve = 'always';
      return /^(y(es)?|a(lways)?)$/.test(said) ? 'allow' : 'deny';
    } catch (error) {
      // Ctrl-C is the person's word about the session, not about the request.
      if (abort.signal.aborted || (error as Error).name === 'AbortError') return undefined;
      throw error;
    } finally {
      this.#asking = undefined;
    }
  }
}

/** The approvals of a command that follows a session. */
export function createApprovals(
  { interrupt, terminal }: Context,
  connection: Pick<Connection, 'client' | 'organizationId'>,
  { approve, signal }: { readonly approve: Approve | undefined; readonly signal: AbortSignal },
): Approvals {
  const byDefault = hasTerminal() && !terminal.json ? 'ask' : undefined;
  let mayAnswer = false;
  return new Approvals({
    approve: approve ?? byDefault,
    async mayAnswer() {
      // Who may not yet is looked at again: a role can change while the session goes on.
      mayAnswer ||= !lacks(await accessOf(connection, signal).catch(() => undefined), permission);
      return mayAnswer;
    },
    async answer(request, behavior) {
      await sendAnswer(connection, request, behavior, signal).catch((error: unknown) => {
        if (!(error instanceof ServiceError && error.code === 'session_ended')) throw error;
      });
    },
    ask: (text, ending) => question(text, AbortSignal.any([ending, signal, interrupt.asked])),
    tell: (text) => {
      if (!terminal.json) terminal.note(text);
    },
  });
}

/** `--approve ask` without anyone to ask is refused before anything is begun. */
export function refuseUnanswerable(
  { terminal }: Pick<Context, 'terminal'>,
  approve: Approve | undefined,
): void {
  if (approve !== 'ask' || (hasTerminal() && !terminal.json)) return;
  throw new CommandError(
    'usage',
    'There is no terminal to ask for permissions.',
    exitCodes.usage,
    'Say --approve always or --approve never, or leave it out: the command waits then.',
  );
}

/** What is asked for, in the process's words. */
export function describeRequest(data: SessionEvent['data']): string {
  const { tool, description, input } = data;
  const what =
    typeof description === 'string' ? description : input === undefined ? '' : JSON.stringify(input);
  return [typeof tool === 'string' ? tool : 'a tool', what].filter(Boolean).join(': ');
}
