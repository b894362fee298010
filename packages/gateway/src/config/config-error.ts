/** A setting that cannot be used: for the person who starts the program. The message says which, from where, and what is allowed. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
