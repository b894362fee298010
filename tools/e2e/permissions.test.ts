import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Program } from './process.ts';
import { inEachTopology } from './steps/in-each-topology.ts';

/**
 * Asks once, where it is told so not before the file `go` is there, and ends as it is answered. Told so it asks for something else
 * first, and for this once the file `next` is there.
 */
const agent = `trap 'echo interrupted; exit 7' INT TERM
answer() { while read -r line; do case "$line" in *'"'$1'","behavior":"allow"'*) return 0;; *'"'$1'","behavior":"deny"'*) return 1;; esac; done; }
read -r first
case "$first" in *later*) echo ready; while [ ! -e go ]; do sleep 0.05; done;;
*twice*) echo '{"type":"tool.permission_request","data":{"request_id":"r0","tool":"bash","description":"ls"}}'
  answer r0; echo heard; while [ ! -e next ]; do sleep 0.05; done;; esac
echo '{"type":"tool.permission_request","data":{"request_id":"r1","tool":"bash","description":"rm -r build"}}'
if answer r1; then echo allowed; else echo denied; exit 3; fi`;

const ctrlC = '\u0003';

inEachTopology((the) => {
  let bridge: Program;
  beforeAll(async () => {
    bridge = the.installation.sallyport(['bridge', 'run', '--interactive', '--exec', agent]);
    await bridge.shows(/Waiting for work/);
  });

  /** A person's shell, that runs a command and looks at its terminal before and after. */
  function shell(command: string): Program {
    return the.installation.onTerminal(
      `stty -g > before; sallyport ${command}; echo "code $?"; stty -g > after; exec cat`,
    );
  }

  /** The terminal is as it was: it shows what is typed, in lines, and Ctrl-C is a signal again. */
  async function expectSane(terminal: Program): Promise<void> {
    const settings = (name: string) => readFileSync(join(the.installation.folder, name), 'utf8');
    terminal.type('hello\n');
    await terminal.shows(/hello\r\n[^]*hello\r\n/); // as an echo, and by `cat`
    expect(settings('after')).toBe(settings('before'));
    terminal.type(ctrlC);
    await terminal.end();
  }

  const asks = /Allow bash: rm -r build\? \[y\]es, \[a\]lways, \[N\]o: /;

  describe('a person at a terminal', () => {
    test.each([
      ['y', 'allowed', 0],
      ['a', 'allowed', 0],
      ['n', 'denied', 1],
      ['', 'denied', 1],
    ])('who is asked and says %j gets it %s', async (says, outcome, code) => {
      const terminal = shell('session run look --approve ask');
      await terminal.shows(asks);
      terminal.type(`${says}\r`);
      await terminal.shows(new RegExp(`^${outcome}\\r$`, 'm'));
      await terminal.shows(new RegExp(`^code ${code}\\r$`, 'm'));
      expect(terminal.screen).toContain(`permission is ${outcome === 'allowed' ? 'given' : 'refused'}`);
      await expectSane(terminal);
    });

    test('who presses Ctrl-C at the question ends the session, and answers nothing', async () => {
      const terminal = shell('session run look --approve ask');
      await terminal.shows(asks);
      terminal.type(ctrlC);
      await terminal.shows(/^code 130\r$/m);
      expect(terminal.screen).toMatch(/Stopping the session[^]*interrupted\r\n/);
      expect(terminal.screen).not.toMatch(/permission is/);
      await expectSane(terminal);
    });

    test('who only looks on gets the terminal back at Ctrl-C; the session still waits', async () => {
      const run = the.installation.sallyport(['session', 'run', 'look', '--detach']);
      await run.end();
      const id = run.stdout.trim();
      const terminal = shell(`session logs -f ${id}`);
      await terminal.shows(asks);
      terminal.type(ctrlC);
      await terminal.shows(/^code 130\r$/m);
      await expectSane(terminal);
      const other = the.installation.sallyport(['session', 'logs', '-f', id, '--approve', 'always']);
      expect(await other.end(), other.screen).toBe(0);
      expect(other.stdout).toBe('allowed\n');
    });

    test('who typed before the question was there has answered nothing', async () => {
      const terminal = shell('session run later --approve ask');
      await terminal.shows(/^ready\r$/m);
      terminal.type('y\ny');
      await terminal.shows(/^y\r\ny$/m); // the terminal has it
      writeFileSync(join(the.installation.folder, 'go'), '');
      await terminal.shows(asks);
      terminal.type('\r');
      await terminal.shows(/^denied\r$/m);
      await expectSane(terminal);
    });

    test('who answers too late what was answered elsewhere has not answered the next', async () => {
      const terminal = shell('session run twice --approve ask');
      await terminal.shows(/Allow bash: ls\?/);
      const [, id = ''] = await terminal.shows(/session (session_\w+)/);
      const other = shell(`session logs -f ${id}`);
      await other.shows(/Allow bash: ls\?/);
      other.type('n\r');
      await terminal.shows(/answered by owner@localhost: refused/); // the question is over
      // Until the terminal has it: what comes while the question is being cleared away, nobody gets.
      const typed = () => (terminal.type('y\n'), terminal.screen);
      await expect.poll(typed, { timeout: 30_000 }).toMatch(/^y\r$/m);
      writeFileSync(join(the.installation.folder, 'next'), '');
      await terminal.shows(asks);
      terminal.type('\r');
      await terminal.shows(/^denied\r$/m);
      await other.shows(/^code 0\r$/m);
    });

    test('whose question is answered elsewhere is not kept', async () => {
      const terminal = shell('session run look --approve ask');
      await terminal.shows(asks);
      const [, id = ''] = await terminal.shows(/session (session_\w+)/);
      const other = the.installation.sallyport(['session', 'logs', '-f', id, '--approve', 'always']);
      expect(await other.end(), other.screen).toBe(0);
      await terminal.shows(/^code 0\r$/m);
      await expectSane(terminal);
    });
  });

  test('what waits is seen and answered from any shell, by the beginning of the id', async () => {
    const run = the.installation.sallyport(['session', 'run', 'look', '--detach']);
    await run.end();
    const id = run.stdout.trim();
    const sallyport = async (...args: string[]) => {
      const program = the.installation.sallyport(args);
      return { code: await program.end(), stdout: program.stdout, screen: program.screen };
    };
    const waits = async () => {
      const { stdout } = await sallyport('--json', 'session', 'requests', id);
      return JSON.parse(stdout) as { request_id: string; description: string }[];
    };
    await bridge.shows(new RegExp(`Session ${id} started`));
    let open = await waits();
    while (open.length === 0) open = await waits();
    expect(open).toMatchObject([{ request_id: 'r1', description: 'rm -r build' }]);
    expect(await sallyport('session', 'approve', id.slice(0, -4), '--allow')).toMatchObject({
      code: 0,
      stdout: 'Allowed: bash: rm -r build\n',
    });
    expect(await sallyport('session', 'wait', id)).toMatchObject({ code: 0, stdout: `${id} done\n` });
    expect(await sallyport('session', 'approve', id, '--deny')).toMatchObject({ code: 5 });
  });
});
