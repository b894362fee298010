/** The two neutral words of the specification, as a deployment's upstream spells them. */
export interface Dialect {
  readonly vendor: string;
  readonly agent: string;
}

export const neutralDialect: Dialect = { vendor: 'vendor', agent: 'agent' };

/**
 * Renders a neutral identifier (a header name, a path, a value) in a dialect: the one derivation for client and gateway.
 * Only the word before `-` or `_` is the neutral one, so beta values (`managed-agents-2026-04-01`) and `/v1/agents` stay.
 */
export function inDialect(identifier: string, dialect: Dialect): string {
  if (dialect.vendor === 'vendor' && dialect.agent === 'agent') return identifier;
  return identifier.replace(/\b(vendor|agent)(?=[-_])/gi, (word) => {
    const name = word.toLowerCase() === 'vendor' ? dialect.vendor : dialect.agent;
    return word.startsWith('V') || word.startsWith('A') ? name.charAt(0).toUpperCase() + name.slice(1) : name;
  });
}
