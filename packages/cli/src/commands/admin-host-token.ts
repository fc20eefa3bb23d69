import { issueHostToken, lifetimeEnd, tokenLifetimeDays } from '@tenon/server';
import { Option } from 'commander';
import type { Command } from '../command.ts';
import { parseLifetimeDays } from '../duration.ts';
import type { Io } from '../io.ts';
import { formatTime } from '../text.ts';
import { type AdminOptions, withData, withStore } from './admin-data.ts';
import { assertName } from './admin-names.ts';

interface HostTokenOptions extends AdminOptions {
  readonly name: string;
  /** In days. */
  readonly expiresIn?: number;
}

/** Adds `host-token`: tokens for the hosts of a mirror. */
export function addHostTokenCommands(admin: Command, io: Io): void {
  admin
    .command('host-token')
    .description('tokens for the hosts of a mirror')
    .command('create')
    .option('--name <name>', 'its name in lists', 'host')
    .addOption(new Option('--expires-in <duration>', 'the lifetime (default: 90d)').argParser(parseLifetimeDays))
    .description('create an access token that reads all that a mirror has, and write it')
    .use(withStore)
    .examples('tenon admin host-token create --name "factory 7" --expires-in 365d')
    .addHelpText(
      'after',
      'The source does not know the token, so it works while the source is away. "tenon admin token revoke" revokes it.',
    )
    .action((options: HostTokenOptions) =>
      withData(io, options, async (deps, out) => {
        const lifetime = tokenLifetimeDays(['read']);
        const { record, secret } = await issueHostToken(deps, {
          name: assertName(options.name),
          expiresAtMs: lifetimeEnd(lifetime, options.expiresIn, deps.clock()),
        });
        const { id, userId, name, scopes } = record;
        const expiresAt = new Date(record.expiresAtMs).toISOString();
        out.note(`Created ${id} (${scopes.join(', ')}; until ${formatTime(expiresAt)}). It is shown only once:`);
        out.result({ id, userId, name, scopes, expiresAt, token: secret }, () => out.write(`${secret}\n`));
      }),
    );
}
