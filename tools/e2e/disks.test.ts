import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { binDir, Installation } from './installation.ts';
import type { Program } from './process.ts';
import { ConfigDisk } from './steps/config-disk.ts';
import { canMountDisks, SmallDisk } from './steps/small-disk.ts';

/** One line each for the person and for the next step, and no more. */
function expectClear(program: Program, sentence: RegExp, lines = 2): void {
  expect(program.stdout).toBe('');
  expect(program.stderr).toMatch(sentence);
  expect(program.stderr).not.toMatch(/^\s+at /m);
  expect(program.stderr.trim().split('\n').length, program.stderr).toBeLessThanOrEqual(lines);
}

// Straight only: one in front keeps nothing of the job, and what the one that serves says of its disk is an answer like others.
describe.skipIf(!canMountDisks).concurrent("the gateway's disk", () => {
  test('is full, or read-only, at the start: one clear sentence', async () => {
    await using installation = new Installation();
    const disk = await SmallDisk.mount(installation, join(installation.folder, 'data'), '1m');
    disk.fill();
    const full = disk.bin('sallyport-gateway', ['start']);
    expect(await full.end()).toBe(1);
    expectClear(full, /^sallyport-gateway: .* full.* Make room .*--data-dir/);
    disk.makeRoom();
    await disk.remount('ro');
    const readOnly = disk.bin('sallyport-gateway', ['start']);
    expect(await readOnly.end()).toBe(1);
    expectClear(readOnly, /^sallyport-gateway: .*cannot be.*--data-dir/);
  });

  test('for backups is full: one clear sentence, and nothing is left there', async () => {
    await using installation = new Installation();
    await installation.gateway();
    const folder = join(installation.folder, 'backups');
    const disk = await SmallDisk.mount(installation, folder, '64k');
    const backup = disk.bin('sallyport-gateway', ['admin', 'backup', join(folder, 'one')]);
    expect(await backup.end()).toBe(1);
    expectClear(backup, /backups\/one cannot be written: the disk is full\. Make room there/, 1);
    expect(readdirSync(disk.inside())).toEqual([]);
  });

  test('fills up: what was acknowledged stays, the rest waits for room, nobody crashes', async ({
    expect,
  }) => {
    await using installation = new Installation();
    const disk = await SmallDisk.mount(installation, join(installation.folder, 'data'), '4m');
    const gateway = disk.bin('sallyport-gateway', ['start']);
    const [, url = ''] = await gateway.shows(/^listening on (http:\S+)$/m);
    installation.baseUrl = url;
    const key = disk.bin('sallyport-gateway', ['admin', 'session-key']);
    await key.end();
    const login = installation.sallyport(['login', '--session-key-stdin'], { input: key.stdout });
    expect(await login.end(), login.screen).toBe(0);

    const talker = `i=0; while [ ! -e go ]; do i=$((i+1)); printf '%s ' $i; head -c 9000 /dev/zero | tr '\\0' x; echo; sleep 0.01; done; echo over`;
    const bridge = installation.sallyport(['bridge', 'run', '--exec', talker]);
    await bridge.shows(/Waiting for work/);
    const run = installation.sallyport(['session', 'run', 'look']);
    await run.shows(/^20 x/m);

    disk.fill();
    await bridge.shows(/lost its stream \(The store is full/);
    const other = installation.sallyport(['session', 'run', 'other', '--detach']);
    expect(await other.end()).toBe(6);
    expectClear(
      other,
      /^The session could not be created yet .*\nerror: The store is full.*\nWhoever runs/,
      3,
    );
    // Small writes may still fit in between, and then it is ready until the next refusal.
    const ready = async () => (await fetch(`${url}/readyz`)).status;
    await expect.poll(ready, { interval: 20 }).toBe(503);
    const admin = disk.bin('sallyport-gateway', ['admin', 'session-key']);
    expect(await admin.end()).toBe(1);
    expectClear(admin, /^sallyport-gateway: The store is full. See to its disk/);
    // What is there can still be read.
    const list = installation.sallyport(['session', 'list']);
    expect(await list.end()).toBe(0);
    expect(list.stdout).toContain('running');

    disk.makeRoom();
    await bridge.shows(/has its stream again/);
    writeFileSync(join(installation.folder, 'go'), '');
    expect(await run.end(), run.stderr).toBe(0);
    const lines = run.stdout.trim().split('\n');
    expect(lines.pop()).toBe('over');
    expect(lines.map((line) => Number(line.split(' ')[0]))).toEqual(lines.map((_, index) => index + 1));
    const next = installation.sallyport(['session', 'run', 'next']);
    expect(await next.end(), next.screen).toBe(0);
    expect(gateway.ended).toBe(false);
    expect(await bridge.stop('SIGINT')).toBe(0);
    expect(await gateway.stop('SIGTERM')).toBe(0);
  }, 40_000);
});

let people: Installation;
let sessionKey: string;
beforeAll(async () => {
  people = new Installation();
  // A refresh token is never good a second time: what is renewed and not stored is lost.
  await people.gateway(['--set=oauth.refreshGraceSeconds=0']);
  await people.login();
  const key = people.run(join(binDir, 'sallyport-gateway'), ['admin', 'session-key']);
  await key.end();
  sessionKey = key.stdout;
});
afterAll(() => people[Symbol.asyncDispose]());

describe.skipIf(!canMountDisks).concurrent.each(['read-only', 'full'] as const)(
  'the folder of the configuration is %s',
  (fault) => {
    const login = (disk: ConfigDisk) => disk.sallyport(['login', '--session-key-stdin'], sessionKey);

    test('a login is refused, not pretended', async () => {
      const disk = await ConfigDisk.mount(people, fault, { isLoggedIn: false });
      await disk.spoil();
      const refused = await login(disk);
      expect(refused.child.exitCode).toBe(1);
      expectClear(
        refused,
        /^error: The login in .* cannot be (written|locked): the (disk is full|file system is read-only)\./,
      );
      expect((await disk.sallyport(['whoami'])).child.exitCode).toBe(3);
      await disk.mend();
      expect((await login(disk)).screen).toContain('Logged in');
    });

    test('what needs no writing works', async () => {
      const disk = await ConfigDisk.mount(people, fault);
      await disk.spoil();
      const whoami = await disk.sallyport(['whoami']);
      expect(whoami.child.exitCode, whoami.screen).toBe(0);
      expect(whoami.stderr).toBe('');
    });

    test('a setting is not changed', async () => {
      const disk = await ConfigDisk.mount(people, fault);
      const before = disk.list();
      await disk.spoil();
      const set = await disk.sallyport(['config', 'set', 'base-url', 'http://127.0.0.1:1']);
      await disk.mend();
      expect(set.child.exitCode).toBe(1);
      expectClear(set, /^error: .*config\.json cannot be written/);
      if (fault === 'full') expect(set.stderr).toMatch(/room/);
      expect(disk.list()).toEqual(before);
    });

    test('a bridge says why it cannot start', async () => {
      const disk = await ConfigDisk.mount(people, fault);
      await disk.spoil();
      const bridge = await disk.sallyport(['bridge', 'run', '--exec', 'cat']);
      expect(bridge.child.exitCode).toBe(1);
      expectClear(bridge, /^error: .*\/config\/.* cannot be/);
    });

    test('a login that has to be renewed is not lost', async () => {
      const disk = await ConfigDisk.mount(people, fault, { isLoggedIn: false });
      await login(disk);
      disk.expire();
      await disk.spoil();
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const whoami = await disk.sallyport(['whoami']);
        expect(whoami.child.exitCode, whoami.screen).toBe(1);
        expectClear(
          whoami,
          /^error: The login in .* cannot be (written|locked): the (disk is full|file system is read-only)\./,
        );
      }
      await disk.mend();
      const whoami = await disk.sallyport(['whoami']);
      expect(whoami.child.exitCode, whoami.screen).toBe(0);
      expect(disk.list('state/logins')).toHaveLength(1);
    });
  },
);

test
  .skipIf(!canMountDisks)
  .concurrent(
    'a bridge whose folder fills up says so in the session, and goes on when there is room',
    async () => {
      const disk = await ConfigDisk.mount(people, 'full');
      const bridge = disk.start(['bridge', 'run', '--dir', people.folder, '--exec', 'echo one']);
      await bridge.shows(/Waiting for work/);
      await disk.spoil();
      const session = await disk.sallyport(['session', 'run', 'look']);
      expect(session.child.exitCode).toBe(1);
      expect(session.stderr).toMatch(/^cannot start: .*no space left/m);
      await disk.mend();
      const next = await disk.sallyport(['session', 'run', 'look']);
      expect(next.child.exitCode, next.screen).toBe(0);
      expect(next.stdout).toBe('one\n');
      expect(await bridge.stop('SIGINT'), bridge.screen).toBe(0);
    },
  );
