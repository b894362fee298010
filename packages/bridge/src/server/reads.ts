import type { Part } from '@sallyport/core';
import type { EnvironmentStatus, WorkState } from '@sallyport/core/contract';
import type {
  Environment,
  ListedEnvironment,
  ListedSession,
  Origin,
  SentEvent,
  Session,
  SessionHead,
  StoredEvent,
} from './records.ts';

/** Newest first, after the item at that place. */
export interface PageRequest {
  readonly limit: number;
  readonly before: { readonly createdAt: number; readonly id: string } | undefined;
}

export interface OfAccount {
  readonly accountId: string;
  /** What the page before ended with; `undefined`: from the beginning. */
  readonly after: { readonly organizationId: string; readonly id: string } | undefined;
  readonly limit: number;
}

/** Bounded reads, by number and by bytes (`readPart`); each sees every act that was answered before. */
export interface BridgeReads {
  environment(argument: { readonly environmentId: string }): Promise<Environment | undefined>;
  /** Those of these environments with a registration. */
  registeredAmong(argument: { readonly environmentIds: readonly string[] }): Promise<readonly string[]>;
  /** The organization that deleted an environment, or its registration. */
  deletedEnvironment(argument: { readonly environmentId: string }): Promise<string | undefined>;
  /** Those with a registration, not archived. */
  environments(
    argument: PageRequest & {
      readonly organizationId: string;
      readonly workerTypes: readonly string[];
      readonly seenSince: number;
    },
  ): Promise<Part<ListedEnvironment>>;
  /** `name`: a part of the machine name, in any case. */
  managedEnvironments(
    argument: PageRequest & { readonly organizationId: string; readonly name: string | undefined },
  ): Promise<Part<Environment>>;
  /** The item that `claimWork` would find. */
  waitingWork(argument: {
    readonly environmentId: string;
    readonly types: readonly string[];
  }): Promise<string | undefined>;
  /** Stops that people asked for, the oldest first; a bounded number. */
  stops(argument: {
    readonly environmentId: string;
    readonly after: { readonly at: number; readonly workId: string };
  }): Promise<readonly Stop[]>;
  /** Who created the session of a work item. */
  workCreator(argument: {
    readonly environmentId: string;
    readonly workId: string;
  }): Promise<string | undefined>;
  session(argument: { readonly sessionId: string }): Promise<Session | undefined>;
  /** `accountId`: those that it created. */
  sessions(
    argument: PageRequest & { readonly organizationId: string; readonly accountId: string | undefined },
  ): Promise<Part<ListedSession>>;
  /** All of an account's, archived or not; each page in an order that the next one goes on in. */
  accountEnvironments(argument: OfAccount): Promise<Part<Environment>>;
  accountSessions(argument: OfAccount): Promise<Part<ListedSession>>;
  /** What an account sent, to whatever session, in the order of sessions and their logs, after that place. */
  accountEvents(argument: {
    readonly accountId: string;
    readonly after: { readonly sessionId: string; readonly seq: number } | undefined;
    readonly limit: number;
  }): Promise<Part<SentEvent>>;
  /** The first ones, of every kind, archived or not. */
  organizationEnvironments(argument: {
    readonly organizationId: string;
    readonly limit: number;
  }): Promise<Part<Environment>>;
  sessionHead(argument: { readonly sessionId: string }): Promise<SessionHead | undefined>;
  /**
   * The events after `after`, as many as fit (at least one, if there is one). `scannedTo` is where the next read goes on:
   * beyond the last event given, where the ones left out follow.
   */
  events(argument: EventsRequest): Promise<EventsPage>;
  /** Of all organizations, for whoever runs the service. */
  counts(argument: {
    /** Environments that were seen since are online, or at least disconnected, or at least listed. */
    readonly onlineSince: number;
    readonly disconnectedSince: number;
    readonly listedSince: number;
  }): Promise<Counts>;
}

/** Work that has not ended, a session each, and the environments that are listed. */
export interface Counts {
  readonly work: Partial<Readonly<Record<WorkState, number>>>;
  readonly environments: Partial<Readonly<Record<EnvironmentStatus, number>>>;
}

/** The last stop of a work item. */
export interface Stop {
  readonly workId: string;
  readonly force: boolean;
  readonly at: number;
}

export interface EventsRequest {
  readonly sessionId: string;
  readonly after: number;
  readonly maxEvents: number;
  readonly maxBytes: number;
  /** Whose events are left out: a worker does not get its own back. */
  readonly without?: Origin;
}

export interface EventsPage {
  readonly events: readonly StoredEvent[];
  readonly scannedTo: number;
}
