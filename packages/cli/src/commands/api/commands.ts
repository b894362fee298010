import type { Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';
import { collect } from '../option-values.ts';

export function addApiCommands(program: Command, act: Act): void {
  examples(
    program
      .command('api')
      .description('Call an endpoint with your login and print what it answers')
      .argument('[target...]', 'the id of an endpoint, or METHOD PATH, or PATH for GET')
      .option('--param <name=value>', 'a member of the path; may be repeated', collect, [])
      .option('--query <name=value>', 'a member of the query; may be repeated', collect, [])
      .option('--header <name:value>', 'a header; may be repeated', collect, [])
      .option('--body <json>', 'the body; `-` reads it from stdin')
      .option('--include', 'print the status and the headers too')
      .option('--list', 'list the endpoints')
      .addHelpText(
        'after',
        '\nA refusal is printed as it came, with the exit code below; a stream is printed as it comes.',
      )
      .action(act(async () => (await import('./api.ts')).api)),
    'sallyport api --list',
    'sallyport api sessions.get --param id=session_01',
    'sallyport api POST /v1/sessions/session_01/events --body \'{"events": []}\' --include',
  );
}
