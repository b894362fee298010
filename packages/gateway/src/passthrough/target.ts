import { ServiceError } from '@sallyport/core';

/**
 * The path and query that an upstream is asked for: the request's own, byte for byte, in origin form (RFC 9112 3.2.1).
 * Throws `invalid_request` where the path could mean another place to the upstream than to the routes here, which have let
 * it pass. `inFamily`: what holds there holds for all under its prefix; elsewhere a slash in disguise would make of a row's
 * path another row's.
 */
export function targetOf(url: string, inFamily: boolean): string {
  // RFC 9112 3.2.2: the absolute form is taken, but who it names is not asked.
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '');
  if (!target.startsWith('/') || target.includes('#')) throw malformed();
  const end = target.indexOf('?');
  if (leavesItsPlace(end < 0 ? target : target.slice(0, end), inFamily)) throw malformed();
  return target;
}

/** Only where one of these stands can a segment be `.` or `..`, however it is written. */
const suspicious = /[%\\]|\/\./;

function leavesItsPlace(path: string, inFamily: boolean): boolean {
  if (path.startsWith('//')) return true;
  if (!suspicious.test(path)) return false;
  let decoded = path;
  // Upstreams differ in how often they decode.
  for (let round = 0; round < 3 && decoded.includes('%'); round++) {
    const once = decoded.replace(/%([0-9a-f]{2})/gi, (_escape, hex: string) =>
      String.fromCharCode(parseInt(hex, 16)),
    );
    if (once === decoded) break;
    decoded = once;
  }
  // Some take a backslash for a slash, and what follows a semicolon for no part of the segment.
  const segments = decoded.split(/[/\\]/);
  if (!inFamily && segments.length > path.split('/').length) return true;
  return segments.some((segment) => /^\.\.?(;|$)/.test(segment)) || decoded.includes('\0');
}

function malformed(): ServiceError {
  return new ServiceError('invalid_request', 'The path is not well-formed: it must name its place outright.');
}
