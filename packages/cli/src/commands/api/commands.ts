import type { Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';
import { collect, subprotocols } from '../option-values.ts';

export function addApiCommands(program: Command, act: Act): void {
  examples(
    program
      .command('api')
      .description('Call an endpoint with your login and print what it answers')
      .argument('[target...]', 'the id of an endpoint, METHOD PATH, PATH for GET, or WS PATH')
      .option('--param <name=value>', 'a member of the path; may be repeated', collect, [])
      .option('--query <name=value>', 'a member of the query; may be repeated', collect, [])
      .option('--header <name:value>', 'a header; may be repeated', collect, [])
      .option('--body <json>', 'the body; `-` reads it from stdin')
      .option('--include', 'print the status and the headers too')
      .option('--list', 'list the endpoints')
      .option(
        '--subprotocol <name>',
        'of a WebSocket: one that it may speak; may be repeated',
        subprotocols,
        [],
      )
      .option('--binary', 'of a WebSocket: send stdin as it comes, in binary messages')
      .option('--no-close', 'of a WebSocket: leave it open when stdin ends')
      .addHelpText(
        'after',
        '\nA refusal is printed as it came, with the exit code below; a stream is printed as it comes.\n' +
          'Of a WebSocket each line of stdin is a message, and so is each line printed; bytes are printed as they are, with\n' +
          '--json as base64. The end of stdin closes it.',
      )
      .action(act(async () => (await import('./api.ts')).api)),
    'sallyport api --list',
    'sallyport api sessions.get --param id=session_01',
    'sallyport api POST /v1/sessions/session_01/events --body \'{"events": []}\' --include',
    'echo \'{"type": "start"}\' | sallyport api WS /api/ws/voice/one --no-close',
  );
}
