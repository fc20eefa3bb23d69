import type { Command } from 'commander';
import { connectionRules, environmentVariables } from './environment.ts';
import { exitCodeMeanings } from './exit-codes.ts';

const opening = `# The command line

<!-- Made from the program's own help by \`node scripts/write-cli-reference.mjs\`; a test holds the two equal. -->

Install it from your server, or run it without installing it. It needs Node.js 22.16 or later. In the source tree it is
\`npx --no-install tenon\`.

\`\`\`console
$ npm install --global https://plugins.example.org/packages/tenon-cli.tgz
$ npx --package=https://plugins.example.org/packages/tenon-cli.tgz tenon --help
\`\`\`

Results go to stdout, everything else to stderr, so that you can pipe results. With \`--json\` results are JSON, and a
command that fails ends its stderr with one line \`{"error": {"code": …, "message": …}}\`, whose \`problem\` is the server's
problem document, if it sent one ([the codes](errors.md)).

Commands that can't be undone ask first. Without a terminal they need \`--yes\`. \`delete\` destroys a thing with everything in it,
\`remove\` takes a guest, a member, or a login off a list, and \`revoke\` ends a token, a key, an invitation, or a right.

Durations are a number and a unit: \`20us\`, \`300ms\`, \`60s\`, \`5m\`, \`12h\`, \`90d\`. A version of a plugin is \`greet@3\`.
`;

/**
 * The reference of the command line as Markdown: every command's help, as the program shows it.
 *
 * @param program with all of its commands loaded
 * @param helpOf gives a command's whole help, examples included
 */
export function renderReference(program: Command, helpOf: (command: Command) => string): string {
  const helps = leaves(program).map(({ command, path }) => ({ path, help: helpOf(command).trimEnd() }));
  const serverOptions = helps.map(({ help }) => serverBlock.exec(help)?.[1]).find((block) => block !== undefined);
  const sections = helps.map(({ path, help }) => `## ${path}\n\n${codeBlock(help.replace(serverBlock, ''))}`);
  return [
    opening,
    `## Exit codes\n\n${table(['Code', 'Meaning'], exitCodeMeanings)}`,
    `## Environment variables\n
${connectionRules}
The server's own settings are in [configuration](configuration.md).\n
${table(['Variable', 'Meaning'], environmentVariables)}`,
    `## Options of commands that talk to a server\n\n${codeBlock(serverOptions ?? '')}`,
    ...sections,
  ].join('\n');
}

/** Common options are shown once. */
const serverBlock = /\nServer:\n((?: {2}.*\n)+)/;

function codeBlock(text: string): string {
  return `\`\`\`text\n${text}${text.endsWith('\n') ? '' : '\n'}\`\`\`\n`;
}

interface Leaf {
  readonly command: Command;
  readonly path: string;
}

function leaves(parent: Command, prefix = parent.name()): Leaf[] {
  return parent.commands.flatMap((command) => {
    const path = `${prefix} ${command.name()}`;
    const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0;
    return [...(isGroup ? [] : [{ command, path }]), ...leaves(command, path)];
  });
}

function table(headings: readonly [string, string], rows: readonly (readonly [string | number, string])[]): string {
  const lines = rows.map(([name, meaning]) => `| \`${name}\` | ${meaning} |`);
  return [`| ${headings.join(' | ')} |`, '| --- | --- |', ...lines, ''].join('\n');
}
