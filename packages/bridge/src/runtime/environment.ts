import { markVariables, type Mark } from './process-tree.ts';

/** Words in a variable's name that say: the value opens something. */
const secretName =
  /token|secret|passw|passphrase|credential|api_?key|private_?key|access_?key|jwt|bearer|cookie|(^|_)(auth|key|keys|pass)(_|$)|_pwd$/i;

/** Values that are secrets whatever they are called: JWTs, well-known prefixes, PEM, addresses with a password. */
const secretValue =
  /^(eyJ[\w-]+\.[\w-]+\.|sk-|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA[0-9A-Z]{16}|-----BEGIN )|^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i;

/** The agent's socket is the way to use keys without having them; its name only looks like one. */
const harmless: readonly string[] = ['SSH_AUTH_SOCK'];

export interface EnvironmentOptions {
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Names that are passed on although they look secret. */
  readonly pass: readonly string[];
}

/** The environment of a session's process: the caller's less what looks secret, and which session it is. */
export function sessionEnvironment(
  { inherited, pass }: EnvironmentOptions,
  mark: Mark & { readonly environmentId: string },
): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && (pass.includes(name) || !looksSecret(name, value))) variables[name] = value;
  }
  return { ...variables, ...markVariables(mark), SALLYPORT_ENVIRONMENT_ID: mark.environmentId };
}

export function looksSecret(name: string, value: string): boolean {
  return !harmless.includes(name) && (secretName.test(name) || secretValue.test(value));
}
