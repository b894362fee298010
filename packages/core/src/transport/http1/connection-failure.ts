/** A connection that does not come about, or ends too early; with a code as Node's own failures have one. */
export class ConnectionFailure extends Error {
  readonly code: 'ETIMEDOUT' | 'EOF';

  constructor(code: ConnectionFailure['code'], message: string) {
    super(message);
    this.code = code;
  }
}
