import { CommandError, exitCodes } from '../../io/exit.ts';

export type Fields = Readonly<Record<string, string>>;

/** `name=value` members of a path or a query; a later one of a name wins. */
export function members(flag: '--param' | '--query', given: readonly string[]): Fields {
  return Object.fromEntries(given.map((text) => split(flag, text, '=')));
}

/** `name: value` headers, by lower-case name. */
export function headers(given: readonly string[]): Fields {
  return Object.fromEntries(
    given.map((text) => {
      const [name, value] = split('--header', text, ':');
      // RFC 9110 5.1 and 5.5: what else would be a second header, or no HTTP.
      if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e]*$/.test(value))
        throw malformed('--header', text, ':');
      return [name.toLowerCase(), value.trim()] as const;
    }),
  );
}

function split(flag: string, text: string, sign: string): readonly [string, string] {
  const at = text.indexOf(sign);
  if (at < 1) throw malformed(flag, text, sign);
  return [text.slice(0, at).trim(), text.slice(at + 1)];
}

function malformed(flag: string, text: string, sign: string): CommandError {
  // What stands behind the sign may be a secret.
  const shown = JSON.stringify(text.split(sign, 1)[0]);
  return new CommandError(
    'usage',
    `${flag} ${shown} is not NAME${sign}VALUE.`,
    exitCodes.usage,
    'See: sallyport api --help',
  );
}
