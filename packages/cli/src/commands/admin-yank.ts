import { listPublishedVersions, toMassYank, toPublishedVersion, yankPublished } from '@tenon/server';
import type { Command } from '../command.ts';
import type { Io } from '../io.ts';
import { type AdminOptions, withPresentData, withStore } from './admin-data.ts';
import { type Selection, showVersions, withSelection, withYank, type YankOptions, yank } from './mass-yank.ts';

const maxListed = 1000;

/** Adds `admin published` and `admin yank-published`, for the operator, in all applications. */
export function addAdminYankCommands(group: Command, io: Io): void {
  group
    .command('published')
    .description('list what a credential, a rule, or a user published, in all applications; the first 1,000')
    .use(withSelection(io), withStore)
    .examples('tenon admin published --user usr_01j29hyr4… --since 7d')
    .action((options: Selection & AdminOptions) =>
      withPresentData(io, options, async (deps, out) => {
        const found = await listPublishedVersions(deps, { kind: 'operator' }, filterOf(options), { limit: maxListed });
        showVersions(out, found.items.map(toPublishedVersion));
      }),
    );
  group
    .command('yank-published')
    .description('yank all of it, and revoke the credential: the response to a stolen credential')
    .use(withSelection(io), withYank, withStore)
    .examples('tenon admin yank-published --credential tok_01j29hxk3… --reason "The token was stolen" --dry-run')
    .action((options: YankOptions & AdminOptions) =>
      withPresentData(io, options, (deps, out) =>
        yank(io, out, options, async (isDryRun) => {
          const request = { filter: filterOf(options), reason: options.reason, isDryRun };
          return toMassYank(await yankPublished(deps, { kind: 'operator' }, request), isDryRun);
        }),
      ),
    );
}

function filterOf({ credential, trustRule, user, since }: Selection) {
  return { credentialId: credential, trustRuleId: trustRule, userId: user, sinceMs: since?.getTime() ?? 0 };
}
