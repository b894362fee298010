import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from './browser.ts';
import { foreignPath, Installation, root } from './installation.ts';
import type { Program } from './process.ts';
import { outputPattern, readmeTranscript } from './readme.ts';
import { topologies } from './topologies.ts';

/**
 * The main job as README.md tells it, with the built binaries, a real browser and a real repository: the commands and the
 * outputs are read from there.
 */
const transcript = readmeTranscript();
const password = 'a long enough password';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test.each(topologies)(
  "the README's transcript is what happens: $name",
  async (topology) => {
    await using installation = new Installation(topology);
    const [start, path, login, bridge, session] = transcript;
    expect(transcript).toHaveLength(5);
    expect(start?.command).toBe('npm start');
    const gateway = await installation.gateway(['--print-setup']);
    const [setupLink = ''] = await gateway.shows(/http:\S+\/setup\?\S+/);
    await setPassword(setupLink);

    const repository = installation.repository(['First commit', 'Second commit', 'Third commit']);
    // A terminal of a person who has nothing but the clone: its line for the PATH is all that leads to the programs.
    const shell = (command = '', cwd = repository) =>
      installation.run(
        'sh',
        ['-c', `cd '${root}' && ${path?.command ?? ''} && cd '${cwd}' && exec ${command}`],
        {
          env: { PATH: foreignPath },
        },
      );
    const shows = (program: Program, output = '') =>
      program.shows(outputPattern(output.replaceAll('http://127.0.0.1:8787', installation.baseUrl)));

    const device = shell(login?.command);
    await shows(device, login?.output);
    const [, code = ''] = await device.shows(/code ([A-Z]{4}-[A-Z]{4})/);
    await approveDevice(installation.baseUrl, code);
    expect(await device.end(), device.screen).toBe(0);
    expect(device.stdout).toMatch(/^Logged in as owner@localhost/);

    const running = shell(bridge?.command);
    await shows(running, bridge?.output);

    const look = shell(session?.command, installation.folder);
    await shows(look, session?.output);
    expect(await look.end(), look.screen).toBe(0);
    expect(look.stdout).toMatch(
      /^[0-9a-f]{7,} Third commit\n[0-9a-f]{7,} Second commit\n[0-9a-f]{7,} First commit\n$/,
    );

    const [prompt] = readFileSync(join(repository, 'prompt.ndjson'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    await running.stop('SIGINT');
    expect(running.screen).toContain('Stopping');

    expect(prompt).toMatchObject({ seq: 1, type: 'session.message', data: { text: 'look' } });
  },
  90_000,
);

async function setPassword(link: string): Promise<void> {
  const page = await browser.newPage();
  await page.goto(link);
  // The browser heeds the page's own policy, and must let the stylesheet in.
  expect(await page.evaluate('document.styleSheets.length')).toBe(1);
  const fields = await page.locator('input[type=password]').all();
  for (const field of fields) await field.fill(password);
  await page.getByRole('button').first().click();
  await page.waitForLoadState();
  await page.close();
}

/** On another machine, so to speak: the browser has no session yet. */
async function approveDevice(baseUrl: string, code: string): Promise<void> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${baseUrl}/device`);
  await page.getByLabel(/e-?mail/i).fill('owner@localhost');
  await page.getByLabel(/password/i).fill(password);
  await page.getByRole('button').first().click();
  await page.getByLabel(/code/i).fill(code);
  await page.getByRole('button').first().click();
  await page.getByRole('button', { name: /approve|allow/i }).click();
  await page.waitForLoadState();
  await context.close();
}
