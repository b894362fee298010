import { isJsonObject } from '@sallyport/core';
import type { Context } from './context.ts';
import { judgeFailure } from './failure.ts';
import { persisting } from './persisting.ts';
import type { Mark } from './process-tree.ts';
import { explainingSources } from './workspace/source-failure.ts';
import type { Workspace, Workspaces } from './workspace/workspaces.ts';

export interface PlacesOptions {
  readonly context: Context;
  /** Where sessions without a source of their own run: the environment's directory. */
  readonly directory: string;
  readonly workspaces: Workspaces;
}

/** Where a session's command runs. */
export interface Place {
  readonly directory: string;
  /** There if it is the session's own. */
  readonly workspace?: Workspace;
  /** Kinds of sources that this version knows nothing of. */
  readonly unknownSources: readonly string[];
}

/** Finds the place of each session: the environment's directory, or a workspace made for its sources. */
export class Places {
  readonly #options: PlacesOptions;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /**
   * What the service says of a session's sources: asked for now, beside the handshake. Whoever calls what it gives, once the
   * service is known to answer, has it asked again at once if that failed, and through outages.
   */
  askSources(sessionId: string, signal: AbortSignal): () => Promise<unknown> {
    const early = this.#ask(sessionId, signal);
    early.catch(() => undefined);
    return () =>
      early.catch(() => persisting(this.#options.context, signal, () => this.#ask(sessionId, signal)));
  }

  async #ask(sessionId: string, signal: AbortSignal): Promise<unknown> {
    const { client } = this.#options.context;
    try {
      const session: unknown = await client.sessions.get({ params: { id: sessionId }, signal });
      const given = isJsonObject(session) ? session['session_context'] : undefined;
      return isJsonObject(given) ? given['sources'] : undefined;
    } catch (error) {
      // Its worker was just let in: the service has no such question, or the stream soon tells of the end.
      if (judgeFailure(error).kind === 'missing') return undefined;
      throw error;
    }
  }

  async make(mark: Mark, sources: unknown, signal: AbortSignal): Promise<Place> {
    const { directory, workspaces } = this.#options;
    const { git, unknown: unknownSources } = explainingSources(sources);
    if (git.length === 0) return { directory, unknownSources };
    const workspace = await workspaces.prepare(mark, git, signal);
    return { directory: workspace.directory, workspace, unknownSources };
  }

  /** What a session has changed, source by source; `undefined`: its place is not its own. */
  changes(...given: Parameters<Workspaces['differences']>): ReturnType<Workspaces['differences']> {
    return this.#options.workspaces.differences(...given);
  }

  /** After the session's end; gives the folder of what stays. */
  leave(sessionId: string): Promise<string | undefined> {
    return this.#options.workspaces.settle(sessionId);
  }
}
