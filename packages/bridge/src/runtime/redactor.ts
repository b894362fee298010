const replacement = Buffer.from('***');

/**
 * Replaces secrets in a stream of bytes by `***`, wherever they are cut into chunks: what may be the beginning of one waits for
 * what follows. Of two that begin at one place the longer one counts.
 */
export class Redactor {
  readonly #secrets: readonly Buffer[];
  #held: Buffer = Buffer.alloc(0);

  constructor(secrets: readonly string[]) {
    this.#secrets = [...new Set(secrets)]
      .filter((secret) => secret !== '')
      .map((secret) => Buffer.from(secret))
      .sort((a, b) => b.length - a.length);
  }

  write(chunk: Buffer): Buffer {
    if (this.#secrets.length === 0) return chunk;
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    return this.#redact(bytes, this.#beginningAt(bytes));
  }

  /** Nothing follows. */
  end(): Buffer {
    return this.#redact(this.#held, this.#held.length);
  }

  /** From `limit` on the bytes are not settled. */
  #redact(bytes: Buffer, limit: number): Buffer {
    const parts: Buffer[] = [];
    const places = this.#secrets.map((secret) => ({ secret, at: bytes.indexOf(secret) }));
    let done = 0;
    for (;;) {
      for (const place of places)
        if (place.at >= 0 && place.at < done) place.at = bytes.indexOf(place.secret, done);
      // The longer ones come first, and win where two are at one place.
      let first: (typeof places)[number] | undefined;
      for (const place of places) if (place.at >= 0 && (!first || place.at < first.at)) first = place;
      if (!first || first.at >= limit) break;
      parts.push(bytes.subarray(done, first.at), replacement);
      done = first.at + first.secret.length;
    }
    const rest = Math.max(done, limit);
    parts.push(bytes.subarray(done, rest));
    this.#held = bytes.subarray(rest);
    return parts.length === 1 ? (parts[0] ?? bytes) : Buffer.concat(parts);
  }

  /** The first place from which on the bytes are the beginning of a secret, and not the whole of it. */
  #beginningAt(bytes: Buffer): number {
    let first = bytes.length;
    for (const secret of this.#secrets) {
      const longest = Math.min(secret.length - 1, bytes.length);
      for (let length = longest; length > bytes.length - first; length -= 1) {
        const from = bytes.length - length;
        if (bytes[from] !== secret[0] || bytes.compare(secret, 0, length, from) !== 0) continue;
        first = from;
        break;
      }
    }
    return first;
  }
}
