import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../config/load.ts';
import { fleetingPlace, unitText } from './unit.ts';

const words = [process.execPath, '/opt/sallyport/main.js', 'start'];

function unitOf(settings: Readonly<Record<string, unknown>> = {}, more: readonly string[] = []): string[] {
  const loaded = loadConfig({ env: {}, flags: settings });
  return unitText(loaded, { user: 'sallyport', words: [...words, ...more] }).split('\n');
}

test('what is not configured is where services have it', () => {
  const unit = unitOf();
  expect(unit).toContain('Environment=SALLYPORT_DATA_DIR=/var/lib/sallyport');
  expect(unit).toContain('StateDirectory=sallyport');
  expect(unit).toContain('CapabilityBoundingSet=');
  expect(unit).toContain('ProtectHome=yes');
  expect(unit).toContain('TimeoutStopSec=35');
  expect(unit.filter((line) => line.startsWith('ReadWritePaths'))).toEqual([]);
});

test('the service may write where its data is, listen where it is to, and has the time to end', () => {
  const unit = unitOf({ dataDir: '/srv/a b', store: 'sqlite:/mnt/fast/s.db', port: 443, drainSeconds: 60.5 });
  expect(unit).toContain('ReadWritePaths="/srv/a b" "/mnt/fast"');
  expect(unit).toContain('AmbientCapabilities=CAP_NET_BIND_SERVICE');
  expect(unit).toContain('TimeoutStopSec=71');
  expect(unit.filter((line) => /StateDirectory|DATA_DIR/.test(line))).toEqual([]);
  expect(unitOf({ dataDir: '/home/me/data' })).toContain('ProtectHome=read-only');
});

test('a name in the configuration cannot become a setting', () => {
  expect(() => unitOf({ dataDir: '/srv/a\nUser=root' })).toThrow('line break');
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test.skipIf(!hasSystemd)('systemd takes the unit, and finds little that it leaves open', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-unit-'));
  const file = join(folder, 'sallyport-gateway.service');
  writeFileSync(file, unitOf({ dataDir: '/srv/a %h "b"' }, ['--config', '/etc/a b.yaml']).join('\n'));
  const options = { encoding: 'utf8', env: { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` } } as const;
  expect(spawnSync('systemd-analyze', ['verify', file], options)).toMatchObject({ status: 0, stderr: '' });
  // Of 100, where an ordinary service has 96.
  const exposure = ['security', '--offline=true', '--threshold=20', file];
  const judged = spawnSync('systemd-analyze', exposure, options);
  expect(judged.status, judged.stdout).toBe(0);
});

test.each([
  ['/tmp/sallyport/', /^\/tmp\/sallyport is in a folder that is emptied/],
  ['/root/.npm/_npx/1a2b/node_modules/@sallyport/gateway/bin/main.js', /cache of npx/],
  ['/home/me/.nvm/versions/node/v26.1.0/bin/node', /version manager/],
  ['/opt/sallyport/main.js', undefined],
  ['/srv/tmp/data/', undefined],
])('what is in a place that does not last is told: %s', (path, said) => {
  if (said === undefined) expect(fleetingPlace(path)).toBe(undefined);
  else expect(fleetingPlace(path)).toMatch(said);
});
