import type { RuntimeEvent } from '@sallyport/bridge';

/** A runtime event as a JSON line: names as on the wire, an error as its code and words. */
export function runtimeEventJson(event: RuntimeEvent): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(event).map(([name, value]: [string, unknown]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value instanceof Error ? { error: codeOf(value), error_description: value.message } : value,
    ]),
  );
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : 'internal_error';
}
