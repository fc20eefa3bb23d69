import { Argument } from 'commander';
import { type Command, withJson } from '../command.ts';
import { completionScripts } from '../completion-scripts.ts';
import type { Io } from '../io.ts';
import { createReporter } from '../output.ts';

type Shell = keyof typeof completionScripts;

export function addCompletionCommand(program: Command, io: Io): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(completionScripts)))
    .description('write a script that completes commands, options, and names in your shell')
    .use(withJson)
    .examples(
      'source <(tenon completion bash)    # in ~/.bashrc',
      'source <(tenon completion zsh)     # in ~/.zshrc, after compinit',
      'tenon completion fish | source     # in ~/.config/fish/config.fish',
    )
    .addHelpText(
      'after',
      `Names of applications, extension points, guests and plugins come from the server that a command would use.`,
    )
    .action((shell: Shell, options: { readonly json?: boolean }) => {
      const out = createReporter(io, options.json === true);
      const script = completionScripts[shell];
      out.result({ shell, script }, () => out.write(script));
    });
}
