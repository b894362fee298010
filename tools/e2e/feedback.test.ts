import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readZip } from '@sallyport/telemetry/testing';
import { expect, test } from 'vitest';
import { inEachTopology } from './steps/in-each-topology.ts';

inEachTopology((the) => {
  const kept = () => readdirSync(join(the.installation.folder, 'config/state/feedback'));

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
    expect(sent.stderr).toMatch(/files\/1-agent\.log +\d+ B, 1 line redacted/);
    const { feedback_id: feedbackId } = JSON.parse(sent.stdout) as { feedback_id: string };
    const files = await stored(feedbackId);
    const sessions = Object.keys(files).filter((name) => name.startsWith('sessions/'));
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
    expect(kept()).toEqual([]);
  });

  test('nobody to ask is no consent; a refusal keeps the bundle and says how to send it again', async () => {
    const unasked = the.installation.sallyport(['feedback', 'it broke']);
    expect(await unasked.end()).toBe(2);
    expect(unasked.stderr).toContain('Say --yes to go on without a question.');
    expect(kept()).toEqual([]);
    const refused = the.installation.sallyport(['feedback', ' ', '--yes']);
    expect(await refused.end(), refused.screen).toBe(1);
    const [, path = ''] = /--bundle (\S+)$/m.exec(refused.stderr) ?? [];
    const again = the.installation.sallyport(['feedback', 'it broke', '--bundle', path]);
    expect(await again.end(), again.screen).toBe(0);
    expect(again.stdout).toMatch(/^Sent\. Its number is fb_\w+\.\n$/);
    const wrong = the.installation.sallyport(['feedback', 'it broke', '--bundle', import.meta.filename]);
    expect(await wrong.end()).toBe(1);
    expect(wrong.stderr).toContain('The bundle is not a ZIP file.');
  });
});
