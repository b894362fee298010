import { isLoopback } from '@sallyport/core';
import type { ExportConfig } from '@sallyport/telemetry/server';
import { ConfigError } from './config-error.ts';
import type { Config } from './schema.ts';

/** Where telemetry goes on to, if anywhere. Throws `ConfigError`. */
export function exportOf({ telemetry }: Pick<Config, 'telemetry'>): ExportConfig | undefined {
  const { url, headers, ...rest } = telemetry.export;
  if (url === undefined) return undefined;
  const address = new URL(url);
  // As OTel's own exporters take an endpoint without a path.
  if (address.pathname === '/') address.pathname = '/v1/logs';
  if (headers !== undefined && address.protocol === 'http:' && !isLoopback(address.hostname))
    throw new ConfigError(
      'telemetry.export.headers would go over the network unencrypted: give telemetry.export.url an https address, or leave the headers out.',
    );
  return { ...rest, url: address.href, headers: parseHeaders(headers ?? '') };
}

/** The form of `OTEL_EXPORTER_OTLP_HEADERS`: pairs with commas between them, values percent-encoded. */
function parseHeaders(source: string): Record<string, string> {
  const pairs = source.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value = ''] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
      const decoded = decode(value);
      if (name === undefined || decoded === undefined || !/^[\x20-\x7e]*$/.test(decoded))
        throw new ConfigError(
          'telemetry.export.headers must be name=value pairs with commas between them; write other signs percent-encoded.',
        );
      return [name.toLowerCase(), decoded];
    }),
  );
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
