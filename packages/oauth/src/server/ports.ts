import type { OAuthActs } from './acts.ts';
import type { AuditStamp } from './audit-entry.ts';
import type { OAuthReads } from './reads.ts';

/** A port whose acts may carry the stamp of their audit entry. */
type Stamped<Acts> = {
  [Act in keyof Acts]: Acts[Act] extends (argument: infer Argument) => infer Answer
    ? (argument: Argument & { readonly stamp?: AuditStamp }) => Answer
    : never;
};

export interface OAuthStore {
  readonly acts: Stamped<OAuthActs>;
  readonly reads: OAuthReads;
}
