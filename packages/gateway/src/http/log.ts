import { secretHeaders } from '@sallyport/core/contract';
import { pino, stdSerializers, type DestinationStream, type Logger } from 'pino';
import { stderrLines } from './stderr-lines.ts';

/** JSON lines on stderr; stdout is for what scripts read. Credentials in headers are redacted wherever headers are logged. */
export function createLog(level: string, to: DestinationStream = stderrLines): Logger {
  const paths = secretHeaders.flatMap((name) => [`headers["${name}"]`, `*.headers["${name}"]`]);
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      redact: paths,
      serializers: { err: errorFields },
    },
    to,
  );
}

const errorNames = ['type', 'message', 'stack', 'code', 'errcode', 'syscall'] as const;

/** Nothing else that an error has: undici's of malformed answers have the bytes, and PostgreSQL's the values of a row. */
function errorFields(error: unknown): object {
  // Of a cause that came from another thread the message is all that there is.
  if (!(error instanceof Error)) return { message: String(error) };
  const said: Readonly<Record<string, unknown>> = stdSerializers.err(error);
  return Object.fromEntries(errorNames.map((name) => [name, said[name]]));
}

const secretQuery =
  /([?&](?:code|state|code_verifier|user_code|next|[\w.-]*(?:token|key|secret|password|signature))=)[^&#]*/gi;
/** Who is named in the absolute form (RFC 9112 3.2.2). */
const userInfo = /^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i;

/** A request's URL without what must not be told of it. */
export function loggedUrl(url: string): string {
  const named = url.startsWith('/') ? url : url.replace(userInfo, '$1[Redacted]@');
  return named.replace(secretQuery, '$1[Redacted]').slice(0, 2048);
}
