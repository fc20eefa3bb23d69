import { grantOperator, revokeOperator } from '@tenon/server';
import type { Command } from 'commander';
import { examples, withConfirmation } from '../command.ts';
import type { Io } from '../io.ts';
import { formatTime, printable } from '../text.ts';
import { type AdminOptions, withDataFolder, withPresentData } from './admin-data.ts';
import { confirmUser } from './admin-user.ts';

/** What is done to somebody, and said of it. */
const changes = [
  {
    name: 'grant-operator',
    description: "let a user see the server's status, in the console and by `tenon status`; it gives no other right",
    change: grantOperator,
    isOperator: true,
    what: 'be an operator, who sees the status of the server',
    changed: 'They are an operator now.',
    unchanged: 'They were an operator already.',
  },
  {
    name: 'revoke-operator',
    description: "take back that a user may see the server's status",
    change: revokeOperator,
    isOperator: false,
    what: 'be no operator any more',
    changed: 'They are no operator any more.',
    unchanged: 'They were no operator.',
  },
] as const;

/** Adds what says who may see how the server is: `grant-operator`, `revoke-operator`, `operators`. */
export function addOperatorCommands(group: Command, io: Io): void {
  for (const { name, description, change, isOperator, what, changed, unchanged } of changes) {
    withDataFolder(
      withConfirmation(group.command(name))
        .argument('<user>', 'an id, usr_…, or the e-mail address that they sign in with')
        .description(description),
    )
      .addHelpText('after', examples(`tenon admin ${name} ada@example.org`, `tenon admin ${name} usr_01j29hyr4… --yes`))
      .action((named: string, options: AdminOptions & { yes?: boolean }) =>
        withPresentData(io, options, async (deps, out) => {
          const userId = await confirmUser(io, deps, named, { what, yes: options.yes, needsYes: isOperator });
          const isChanged = await change(deps, userId);
          out.result({ userId, isOperator }, () => out.write(`${userId}\n`));
          out.note(isChanged ? changed : unchanged);
        }),
      );
  }

  withDataFolder(group.command('operators').description("list who may see the server's status"))
    .addHelpText('after', examples('tenon admin operators'))
    .action((options: AdminOptions) =>
      withPresentData(io, options, async (deps, out) => {
        const found = await deps.store.read.operators();
        const objects = found.map(({ userId, userName, createdAtMs }) => ({
          userId,
          name: userName,
          since: new Date(createdAtMs).toISOString(),
        }));
        out.result({ objects }, () =>
          out.table(
            ['USER', 'NAME', 'SINCE'],
            objects.map(({ userId, name, since }) => [userId, printable(name), formatTime(since)]),
            'Nobody is. To make somebody one: tenon admin grant-operator <user>',
          ),
        );
      }),
    );
}
