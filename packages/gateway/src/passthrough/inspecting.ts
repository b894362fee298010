import type { Readdress } from './addresses.ts';
import type { Conformance } from './conformance.ts';
import { unfit } from './failures.ts';
import { decoded, type Inspect } from './inspection.ts';

/** What looks at the answers of a row; `undefined`: nothing does, and their bodies are passed on as they come. */
export function inspecting(
  readdress: Readdress | undefined,
  conformance: Conformance | undefined,
): Inspect | undefined {
  if (readdress === undefined && conformance === undefined) return undefined;
  return (status, head) => {
    const isRewritten = readdress !== undefined && status >= 200 && status < 300;
    const isRead = isRewritten || conformance?.looksInto(status, head) === true;
    const holds = isRewritten || (conformance?.enforces === true && status < 300);
    if (conformance === undefined && !isRewritten) return undefined;
    return {
      holds,
      look(body) {
        if (holds && body === undefined) throw unfit('is too long to be looked into');
        const plain = body && isRead ? plainOf(body, head.contentEncoding, holds) : undefined;
        conformance?.response(status, head, plain);
        if (!isRewritten || plain === undefined) return undefined;
        const changed = readdress(plain);
        return changed === plain ? undefined : changed;
      },
    };
  };
}

/** What has gone on already cannot be refused any more. */
function plainOf(body: Buffer, contentEncoding: string, holds: boolean): Buffer | undefined {
  try {
    return decoded(body, contentEncoding);
  } catch (error) {
    if (holds) throw error;
    return undefined;
  }
}
