/** An environment: names to values. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The switch that turns telemetry off, as a person would write it, or `undefined` where none does. The environment's
 * owner has the last word: no option of a program turns telemetry on again.
 */
export function optOut(env: Environment): string | undefined {
  const is = (name: string, ...values: readonly string[]) =>
    values.includes((env[name] ?? '').trim().toLowerCase());
  // https://consoledonottrack.com: any value means it, but people write 0 and false to undo it.
  if (!is('DO_NOT_TRACK', '', '0', 'false')) return `DO_NOT_TRACK=${env['DO_NOT_TRACK'] ?? ''}`;
  if (is('SALLYPORT_TELEMETRY', '0', 'false', 'off')) return 'SALLYPORT_TELEMETRY=0';
  if (is('OTEL_SDK_DISABLED', 'true')) return 'OTEL_SDK_DISABLED=true';
  if (is('OTEL_LOGS_EXPORTER', 'none')) return 'OTEL_LOGS_EXPORTER=none';
  return undefined;
}
