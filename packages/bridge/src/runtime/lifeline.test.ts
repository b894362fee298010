import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { withLifeline } from './lifeline.ts';
import { openLivingPipe } from './testing/living-pipe.ts';

test.skipIf(process.platform !== 'linux')(
  'what leaves the group or is forked while the watcher looks is killed, too',
  async () => {
    const { path, allGone } = openLivingPipe();
    const command = `exec 9>${path}; echo begun; while :; do setsid sleep 1000 & sleep 0.005; done`;
    const shell = spawn('/bin/sh', withLifeline(command), {
      detached: true,
      env: { ...process.env, SALLYPORT_WORK_ID: 'work_lifeline_test' },
      stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
    });
    await once(shell.stdout!, 'data');
    shell.stdio[3]?.destroy();
    await allGone;
    expect(shell.signalCode ?? (await once(shell, 'exit'))[1]).toBe('SIGKILL');
  },
);

test.skipIf(process.platform !== 'linux')(
  'a bridge that is killed while it ends a session leaves the rest to the watcher',
  async () => {
    const { path, allGone } = openLivingPipe();
    const script = fileURLToPath(new URL('testing/doomed-killer.ts', import.meta.url));
    const command = `exec 9>${path}; setsid sleep 1000 & echo begun; wait`;
    const killer = spawn(process.execPath, ['-C', '@sallyport/source', script, command], {
      stdio: 'inherit',
    });
    await once(killer, 'exit');
    await allGone;
  },
);
