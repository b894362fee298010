/** What is known of a bundle that was received; the bundle itself is a file. */
export interface FeedbackBundle {
  readonly id: string;
  readonly organizationId: string;
  readonly accountId: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly description: string;
  /** As the sender called it; never a path of this machine. */
  readonly fileName: string;
  readonly bytes: number;
  /** Files and directories in the ZIP. */
  readonly entries: number;
  /** Hex. */
  readonly sha256: string;
}

/** The atomic acts of feedback: one transaction each, durable before they answer. */
export interface FeedbackActs {
  recordBundle(argument: FeedbackBundle): Promise<void>;
  deleteBundle(argument: { readonly id: string }): Promise<void>;
}

/** Bounded reads; each sees every act that was answered before. */
export interface FeedbackReads {
  /** Newest first. */
  listBundles(argument: { readonly limit: number }): Promise<readonly FeedbackBundle[]>;
  /** In the order of their ids. */
  accountBundles(argument: {
    readonly accountId: string;
    readonly after: string;
    readonly limit: number;
  }): Promise<readonly FeedbackBundle[]>;
  organizationBundles(argument: {
    readonly organizationId: string;
    readonly limit: number;
  }): Promise<readonly FeedbackBundle[]>;
  findBundle(argument: { readonly id: string }): Promise<FeedbackBundle | undefined>;
}

export type FeedbackStore = FeedbackActs & FeedbackReads;
