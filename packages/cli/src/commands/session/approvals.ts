import { ServiceError } from '@sallyport/core';
import { contract, type SessionEvent } from '@sallyport/core/contract';
import { accessOf, lacks } from '../../access.ts';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { printable } from '../../io/printable.ts';
import { hasTerminal, question } from '../../io/question.ts';
import { accountName } from '../account-name.ts';
import { answer, type Behavior } from './answer.ts';

/** How requests for permission are answered. */
export type Approve = 'ask' | 'always' | 'never';

/** What an answer takes. */
const { permission } = contract.sessions.append;

export interface ApprovalsOptions {
  /** `undefined`: nobody answers, and the person is told that the command waits. */
  readonly approve: Approve | undefined;
  /** Whether this account may answer. */
  readonly mayAnswer: (signal: AbortSignal) => Promise<boolean>;
  readonly answer: (request: SessionEvent, behavior: Behavior, signal: AbortSignal) => Promise<void>;
  readonly ask: (question: string, signal: AbortSignal) => Promise<string>;
  readonly tell: (text: string) => void;
}

/** The question that the person is asked. */
interface Asking {
  readonly requestId: string;
  readonly abort: AbortController;
  /** What somebody else answered meanwhile. */
  answer?: SessionEvent;
}

/**
 * Answers a session's requests for permission, one after the other; those that somebody else answers meanwhile are dropped.
 * Of a log that is read from its beginning only what is unanswered at its end counts, so it begins with `begin`.
 */
export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #waiting = new Map<string, SessionEvent>();
  readonly #ended = new AbortController();
  #approve: Approve | undefined;
  #hasBegun = false;
  #isAnswering = false;
  #answering: Promise<void> | undefined;
  #asking: Asking | undefined;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    this.#approve = options.approve;
  }

  /** Whether the event is told of here: it ends the question that the person is asked, and is told below it. */
  observe(event: SessionEvent): boolean {
    const requestId = event.data['request_id'];
    if (typeof requestId !== 'string') return false;
    if (event.type === 'control.permission_response') {
      this.#waiting.delete(requestId);
      // Of several answers the first counts.
      if (this.#asking?.requestId !== requestId || this.#asking.answer !== undefined) return false;
      this.#asking.answer = event;
      this.#asking.abort.abort();
      return true;
    }
    if (event.type !== 'tool.permission_request') return false;
    this.#waiting.set(requestId, event);
    this.#goOn();
    return false;
  }

  begin(): void {
    this.#hasBegun = true;
    this.#goOn();
  }

  /** Nothing is asked, sent or told afterwards. */
  async end(): Promise<void> {
    this.#waiting.clear();
    this.#ended.abort();
    this.#asking?.abort.abort();
    await this.#answering;
  }

  #goOn(): void {
    if (!this.#hasBegun || this.#isAnswering || this.#ended.signal.aborted) return;
    this.#isAnswering = true;
    this.#answering = this.#answerAll();
  }

  async #answerAll(): Promise<void> {
    for (let next = this.#first(); next; next = this.#first()) {
      const [requestId, request] = next;
      try {
        const behavior = await this.#decide(requestId, request);
        // Somebody else was faster, or nobody answers here.
        if (behavior && this.#waiting.has(requestId))
          await this.#options.answer(request, behavior, this.#ended.signal);
      } catch (error) {
        if (!this.#ended.signal.aborted)
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
    const mayAnswer = await this.#options.mayAnswer(this.#ended.signal);
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
    const asking: Asking = { requestId, abort };
    this.#asking = asking;
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
      if (asking.answer)
        this.#options.tell(
          describeAnswered(accountName(asking.answer), asking.answer.data['behavior'] === 'allow'),
        );
    }
  }
}

/** The approvals of a command that follows a session. */
export function createApprovals(
  context: Context,
  connection: Pick<Connection, 'client' | 'clientOptions' | 'store' | 'loginKey' | 'organizationId'>,
  { approve, signal }: { readonly approve: Approve | undefined; readonly signal: AbortSignal },
): Approvals {
  const { interrupt, terminal } = context;
  const tell = (text: string) => {
    if (!terminal.json) terminal.note(text);
  };
  const byDefault = hasTerminal() && !terminal.json ? 'ask' : undefined;
  let mayAnswer = false;
  return new Approvals({
    approve: approve ?? byDefault,
    async mayAnswer(ended) {
      const until = AbortSignal.any([ended, signal]);
      // Who may not yet is looked at again: a role can change while the session goes on.
      mayAnswer ||= !lacks(await accessOf(connection, until).catch(() => undefined), permission);
      return mayAnswer;
    },
    async answer(request, behavior, ended) {
      const how = { behavior, signal: AbortSignal.any([ended, signal]) };
      try {
        const { answer: first, faster } = await answer(context, connection, request, how);
        if (faster !== undefined) tell(describeAnswered(faster, first.behavior === 'allow', ' before you'));
      } catch (error) {
        if (!(error instanceof ServiceError && error.code === 'session_ended')) throw error;
      }
    },
    ask: (text, ending) => question(text, AbortSignal.any([ending, signal, interrupt.asked])),
    tell,
  });
}

/** What somebody else answered, and when, as seen from here. */
function describeAnswered(name: string, isAllowed: boolean, when = ''): string {
  return printable(`answered by ${name || 'somebody else'}${when}: ${isAllowed ? 'allowed' : 'refused'}`);
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
