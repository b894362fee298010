import { userInfo } from 'node:os';
import type { Actor } from '@sallyport/oauth/server';

/** Who runs this process, by the machine's name for them: the actor of what no request asks for. */
export function operator(): Actor {
  try {
    return { type: 'operator', id: userInfo().username };
  } catch {
    // A container's user may have no name.
    return { type: 'operator', id: `uid ${String(process.getuid?.() ?? 'unknown')}` };
  }
}
