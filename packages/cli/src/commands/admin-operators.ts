import { setOperator } from '@tenon/server';
import { type Command, withConfirmation } from '../command.ts';
import type { Io } from '../io.ts';
import { formatTime } from '../text.ts';
import { type AdminOptions, withPresentData, withStore } from './admin-data.ts';
import { confirmUser } from './admin-user.ts';

const changes = [
  {
    name: 'grant',
    description: "make a user an operator, who sees the server's status and manages its users",
    isOperator: true,
    what: 'be an operator, who can sign in as any user by resetting the password',
    changed: 'The user is now an operator.',
    unchanged: 'The user was already an operator.',
  },
  {
    name: 'revoke',
    description: 'revoke the operator role of a user',
    isOperator: false,
    what: 'no longer be an operator',
    changed: 'The user is not an operator any more.',
    unchanged: 'The user was not an operator.',
  },
] as const;

/** Adds `operator grant`, `operator revoke`, and `operator list`. */
export function addOperatorCommands(parent: Command, io: Io): void {
  const group = parent.command('operator').description("users who see the server's status and manage its users");
  for (const { name, description, isOperator, what, changed, unchanged } of changes) {
    group
      .command(name)
      .use(withConfirmation)
      .argument('<user>', 'the user: an id, usr_…, or an e-mail address')
      .description(description)
      .use(withStore)
      .examples(`tenon admin operator ${name} ada@example.org`, `tenon admin operator ${name} usr_01j29hyr4… --yes`)
      .action((named: string, options: AdminOptions & { yes?: boolean }) =>
        withPresentData(io, options, async (deps, out) => {
          const userId = await confirmUser(io, deps, named, { what, yes: options.yes, needsYes: isOperator });
          const isChanged = await setOperator(deps, 'operator', userId, isOperator);
          out.result({ userId, isOperator }, () => out.write(`${userId}\n`));
          out.note(isChanged ? changed : unchanged);
        }),
      );
  }

  group
    .command('list')
    .description('list the operators')
    .use(withStore)
    .examples('tenon admin operator list')
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
            objects.map(({ userId, name, since }) => [userId, name, formatTime(since)]),
            'There are no operators. To add one: tenon admin operator grant <user>',
          ),
        );
      }),
    );
}
