/** Why a bridge does not even start. A code is stable; users match on it. */
export type RuntimeErrorCode =
  /** A bridge for the same service, directory and name runs on this machine. */
  | 'conflict'
  /** A gateway on the way keeps this device's token to itself, and the service behind it asks for one. */
  | 'device_token_withheld'
  /** The directory to run in does not exist, or is none. */
  | 'invalid_directory'
  /** The service gave another environment than the one that was named. */
  | 'other_environment'
  /** The bridge's own files cannot be read or written. */
  | 'state_failed';

/** A bridge that cannot start here, whatever the service says. Its message ends with the next step. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
  readonly code: RuntimeErrorCode;

  constructor(code: RuntimeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
