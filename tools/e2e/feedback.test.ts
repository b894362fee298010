import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readZip } from '@sallyport/telemetry/testing';
import { expect, test } from 'vitest';
import { binDir } from './installation.ts';
import { inEachTopology } from './steps/in-each-topology.ts';

inEachTopology((the) => {
  const kept = () => readdirSync(join(the.installation.folder, 'config/state/feedback'));

  async function administrate(...args: string[]): Promise<string> {
    const program = the.installation.run(join(binDir, 'sallyport-gateway'), ['admin', ...args]);
    expect(await program.end(), program.screen).toBe(0);
    return program.stdout;
  }

  /** The bundle as the gateway keeps it. */
  async function stored(feedbackId: string): Promise<Record<string, string>> {
    const names = readdirSync(join(the.installation.folder, 'data'), { recursive: true }).map(String);
    const name = names.find((each) => each.includes(feedbackId))!;
    return readZip(join(the.installation.folder, 'data', name));
  }

  test('what is collected is listed, and arrives without secrets', async () => {
    const bridge = the.installation.sallyport(['bridge', 'run', '--exec', 'echo token=hunter2']);
    await bridge.shows(/Waiting for work/);
    const session = the.installation.sallyport(['session', 'run', 'look']);
    expect(await session.end(), session.screen).toBe(0);
    await bridge.stop('SIGINT');
    const log = join(the.installation.folder, 'agent.log');
    writeFileSync(log, 'started with --password hunter2\n');
    const sent = the.installation.sallyport([
      '--json',
      'feedback',
      'it broke',
      '--collect',
      '--file',
      log,
      '--yes',
    ]);
    expect(await sent.end(), sent.screen).toBe(0);
    expect(sent.stderr).toMatch(/^The bundle \(.+\) has:\n {2}versions\.json/);
    const listed = [...sent.stderr.matchAll(/^ {2}(\S+)/gm)].map(([, name]) => name);
    expect(sent.stderr).toMatch(/files\/1-agent\.log +\d+ B, 1 line redacted/);
    const { feedback_id: feedbackId } = JSON.parse(sent.stdout) as { feedback_id: string };
    const files = await stored(feedbackId);
    const sessions = Object.keys(files).filter((name) => name.startsWith('sessions/'));
    expect(Object.keys(files).sort()).toEqual(listed.sort());
    expect(Object.keys(files).sort()).toEqual(
      [
        'bridges.json',
        'files/1-agent.log',
        'manifest.json',
        ...sessions,
        'settings.json',
        'telemetry.ndjson',
        'versions.json',
      ].sort(),
    );
    expect(sessions).toHaveLength(1);
    expect(files[sessions[0]!]).toContain('"session.output"');
    expect(Object.values(files).join('\n')).not.toContain('hunter2');
    for (const [name, text] of Object.entries(files).filter(([each]) => !each.endsWith('.log')))
      for (const json of name.endsWith('.ndjson') ? text.split('\n').filter(Boolean) : [text])
        expect(() => JSON.parse(json) as unknown, `${name}: ${json}`).not.toThrow();
    expect(kept()).toEqual([]);
  });

  test('nobody to ask is no consent; a failure keeps the bundle and says how to send it again', async () => {
    const unasked = the.installation.sallyport(['feedback', 'it broke']);
    expect(await unasked.end()).toBe(2);
    expect(unasked.stderr).toContain('Say --yes to go on without a question.');
    expect(kept()).toEqual([]);
    const blank = the.installation.sallyport(['feedback', ' ', '--yes']);
    expect(await blank.end(), blank.screen).toBe(2);
    expect(kept()).toEqual([]);

    const wary = 'ann@example.com';
    const { id } = JSON.parse(await administrate('org', 'add', 'Wary', '--zero-data-retention')) as {
      id: string;
    };
    await administrate('user', 'add', wary, '--org', id);
    const input = await administrate('session-key', '--user', wary);
    const env = { SALLYPORT_CONFIG_DIR: join(the.installation.folder, 'wary') };
    const login = the.installation.sallyport(['login', '--session-key-stdin'], { input, env });
    expect(await login.end(), login.screen).toBe(0);
    const refused = the.installation.sallyport(['feedback', 'it broke', '--yes'], { env });
    expect(await refused.end(), refused.screen).toBe(3);
    expect(refused.stderr).toContain('error: Your organization keeps no data, so it takes no feedback.');
    const [, path = ''] = /--bundle (\S+)$/m.exec(refused.stderr) ?? [];
    const again = the.installation.sallyport(['feedback', 'it broke', '--bundle', path]);
    expect(await again.end(), again.screen).toBe(0);
    expect(again.stdout).toMatch(/^Sent\. Its number is fb_\w+\.\n$/);
    const wrong = the.installation.sallyport(['feedback', 'it broke', '--bundle', import.meta.filename]);
    expect(await wrong.end()).toBe(1);
    expect(wrong.stderr).toContain('The bundle is not a ZIP file.');
  });
});
