import type { Adapter, AdapterPayload } from 'oidc-provider';

const kept = new Map<string, AdapterPayload>();
const byUserCode = new Map<string, string>();

/**
 * What oidc-provider keeps, in memory. Its own adapter is for trying it out: it forgets all but the last 1,000 entries, and so
 * grants that are in use, and walks through all tokens that a grant ever had each time that it has a new one.
 */
export class Kept implements Adapter {
  readonly #model: string;

  constructor(model: string) {
    this.#model = model;
  }

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    kept.set(this.#key(id), payload);
    if (payload.userCode !== undefined) byUserCode.set(payload.userCode, id);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return kept.get(this.#key(id));
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return this.find(byUserCode.get(userCode) ?? '');
  }

  async findByUid(): Promise<undefined> {
    return undefined; // Nobody has a session here.
  }

  async consume(id: string): Promise<void> {
    const payload = kept.get(this.#key(id));
    if (payload) payload.consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    kept.delete(this.#key(id));
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [key, payload] of kept) if (payload.grantId === grantId) kept.delete(key);
  }

  #key(id: string): string {
    return `${this.#model}:${id}`;
  }
}
