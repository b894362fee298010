import { Argument, type Command } from 'commander';
import type { Surroundings } from '../../context.ts';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';
import { complete } from './complete.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

export function addCompletionCommands(program: Command, act: Act, surroundings: Surroundings): void {
  examples(
    program
      .command('completion')
      .description('Print a script that completes commands and flags in your shell')
      .addArgument(new Argument('<shell>', 'the shell').choices(shells))
      .action(act(async () => (await import('./script.ts')).completion)),
    'echo \'eval "$(sallyport completion bash)"\' >> ~/.bashrc',
    'echo \'eval "$(sallyport completion zsh)"\' >> ~/.zshrc   # after compinit',
    'sallyport completion fish > ~/.config/fish/completions/sallyport.fish',
  );
  // What the scripts call at each Tab: it asks the gateway for ids alone, and nobody for anything else.
  program
    .command('__complete', { hidden: true })
    .description('Print the candidates for the last of the words')
    .argument('[words...]', 'after `--`: what was typed after `sallyport`; the last one may be empty')
    .action(async (words: readonly string[]) => {
      const { valuesNamed } = await import('./values.ts');
      for (const { value, says } of await complete(program, words, valuesNamed(surroundings)))
        surroundings.stdout.write(`${value}\t${says}\n`);
    });
}
