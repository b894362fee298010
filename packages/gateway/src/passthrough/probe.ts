import type { Dialect } from '@sallyport/core';
import type { CredentialRule } from '../config/credentials.ts';
import type { ConfiguredUpstream } from '../config/upstreams.ts';

/** What is asked of one upstream. */
export interface ProbeOptions {
  readonly upstream: ConfiguredUpstream;
  readonly connectSeconds: number;
  readonly dialect: Dialect;
  /** The credential that goes along in place of the callers'. */
  readonly rule: CredentialRule;
  /** The token of the gateway's own login, where the rule is that. */
  readonly token: (at: ConfiguredUpstream) => Promise<string>;
  /** The command that makes one. */
  readonly logIn: (at: ConfiguredUpstream) => string;
  /** The areas and families that go there. */
  readonly names: readonly string[];
}

/** What may be wrong, and may as well be as it must. */
export interface Doubt {
  readonly warns: string;
}

/** One question to an upstream: says what was found, or throws what is wrong and what to do. */
export interface Probe {
  readonly name: string;
  readonly run: () => Promise<string | Doubt>;
}
