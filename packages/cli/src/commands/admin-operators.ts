import { grantOperator, revokeOperator } from '@tenon/server';
import type { Command } from 'commander';
import { examples } from '../command.ts';
import type { Io } from '../io.ts';
import { formatTime, printable } from '../text.ts';
import { type AdminOptions, withDataFolder, withPresentData } from './admin-data.ts';
import { demandUser } from './admin-user.ts';

/** Adds what says who may see how the server is: `grant-operator`, `revoke-operator`, `operators`. */
export function addOperatorCommands(group: Command, io: Io): void {
  withDataFolder(
    group
      .command('grant-operator')
      .argument('<user>', 'an id, usr_…, or the e-mail address that they sign in with')
      .description("let a user see the server's status, in the console and by `tenon status`; it gives no other right"),
  )
    .addHelpText('after', examples('tenon admin grant-operator ada@example.org'))
    .action((named: string, options: AdminOptions) =>
      withPresentData(io, options, async (context, out) => {
        const userId = await demandUser(context, named);
        const isNew = await grantOperator(context, userId);
        out.result({ userId, isOperator: true }, () => out.write(`${userId}\n`));
        out.note(isNew ? 'They are an operator now.' : 'They were an operator already.');
      }),
    );

  withDataFolder(
    group
      .command('revoke-operator')
      .argument('<user>', 'an id, usr_…, or the e-mail address that they sign in with')
      .description("take back that a user may see the server's status"),
  )
    .addHelpText('after', examples('tenon admin revoke-operator ada@example.org'))
    .action((named: string, options: AdminOptions) =>
      withPresentData(io, options, async (context, out) => {
        const userId = await demandUser(context, named);
        const was = await revokeOperator(context, userId);
        out.result({ userId, isOperator: false }, () => out.write(`${userId}\n`));
        out.note(was ? 'They are no operator any more.' : 'They were no operator.');
      }),
    );

  withDataFolder(group.command('operators').description("list who may see the server's status"))
    .addHelpText('after', examples('tenon admin operators'))
    .action((options: AdminOptions) =>
      withPresentData(io, options, async (context, out) => {
        const found = await context.store.read.operators();
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
