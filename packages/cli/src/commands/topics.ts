import type { Command } from 'commander';
import { environmentVariables } from '../environment.ts';
import { exitCodeMeanings } from '../exit-codes.ts';

/** What `tenon help <topic>` tells beside the commands' own help. */
export function addHelpTopics(program: Command): void {
  addTopic(
    program,
    'exit-codes',
    'what the exit codes mean',
    `Scripts can rely on these exit codes.\n\n${columns(exitCodeMeanings)}
With --json the last line of stderr is an object that tells more: {"error": {"code": …, "message": …}}.`,
  );
  addTopic(
    program,
    'environment',
    'the environment variables that are read',
    `Options go before these variables. TENON_URL, TENON_TOKEN and the ids are also found in quickstart.env in the data folder,
which a demo server writes; what is in that file is used with its own server alone.

${columns(environmentVariables)}
The server's own settings are in docs/reference/configuration.md.`,
  );
}

function addTopic(program: Command, name: string, summary: string, text: string): void {
  const topic = program.command(name).description(text).summary(summary).helpOption(false).usage(' ');
  topic.configureHelp({ ...topic.configureHelp(), formatHelp: () => `${text}\n` });
  topic.action(() => topic.outputHelp());
}

function columns(rows: readonly (readonly [string | number, string])[]): string {
  const width = Math.max(...rows.map(([name]) => String(name).length));
  return rows.map(([name, meaning]) => `  ${String(name).padEnd(width)}  ${meaning}\n`).join('');
}
