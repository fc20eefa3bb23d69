import { isId } from '@tenon/protocol';
import {
  type Deps,
  isQuota,
  listQuotaOverrides,
  parseQuotaLimit,
  quotas,
  setQuotaOverride,
  toQuotaOverride,
} from '@tenon/server';
import { type Command, parseCount } from '../command.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { formatNumber, formatSize, formatTime, printable } from '../text.ts';
import { type AdminOptions, withPresentData, withStore } from './admin-data.ts';
import { findUserId } from './admin-user.ts';

const subject = 'an account (id or e-mail address) or an application (id)';

/** Adds `quota list`, `quota set`, and `quota unset`. */
export function addQuotaCommands(group: Command, io: Io): void {
  group
    .command('list')
    .option('--limit <number>', 'list at most this many', parseCount, 100)
    .description('list the quotas that were set for one account or application')
    .use(withStore)
    .examples('tenon admin quota list')
    .action((options: AdminOptions & { limit: number }) =>
      withPresentData(io, options, async (deps, out) => {
        const { items, next } = await listQuotaOverrides(deps, { limit: options.limit });
        const objects = items.map(toQuotaOverride);
        out.result({ objects }, () =>
          out.table(
            ['OF', 'ID', 'QUOTA', 'LIMIT', 'SET'],
            objects.map(({ subjectId, subjectName, name, limit, updatedAt }) => [
              subjectName ?? '-',
              subjectId,
              name,
              formatLimit(name, limit),
              formatTime(updatedAt),
            ]),
            'No quotas are set.',
          ),
        );
        if (next !== undefined) out.note('There are more. Raise --limit.');
      }),
    );

  group
    .command('set')
    .argument('<subject>', subject)
    .argument('<quota>', 'the name of the quota')
    .argument('<limit>', 'the limit: a number, or a size such as 50GiB')
    .description('set a quota of one account or application, on all nodes within a second')
    .use(withStore)
    .examples(
      'tenon admin quota set ada@example.org applications 100',
      'tenon admin quota set app_01j29hxk3… app-bytes 50GiB',
    )
    .action((named: string, name: string, text: string, options: AdminOptions) =>
      withPresentData(io, options, async (deps, out) => {
        const limit = parseLimit(name, text);
        const subjectId = await findSubject(deps, named);
        const isChanged = await setQuotaOverride(deps, 'operator', subjectId, name, limit);
        out.result({ subjectId, name, limit }, () => out.write(`${subjectId}\n`));
        out.note(isChanged ? `Set ${name} to ${formatLimit(name, limit)}.` : 'It was already set to that.');
      }),
    );

  group
    .command('unset')
    .argument('<subject>', subject)
    .argument('<quota>', 'the name of the quota')
    .description('remove a quota of one account or application, so that TENON_QUOTAS or the default applies')
    .use(withStore)
    .examples('tenon admin quota unset app_01j29hxk3… app-bytes')
    .action((named: string, name: string, options: AdminOptions) =>
      withPresentData(io, options, async (deps, out) => {
        const subjectId = await findSubject(deps, named);
        const isChanged = await setQuotaOverride(deps, 'operator', subjectId, name, null);
        out.result({ subjectId, name, limit: null }, () => out.write(`${subjectId}\n`));
        out.note(isChanged ? `Removed ${name}.` : 'It was not set.');
      }),
    );
}

async function findSubject(deps: Deps, named: string): Promise<string> {
  return isId('app', named) ? named : findUserId(deps, named);
}

function parseLimit(name: string, text: string): number {
  if (!isQuota(name)) {
    throw new CliError('not_found', `There is no quota ${printable(name)}.`, {
      exitCode: exitCodes.notFound,
      hint: `The quotas are ${Object.keys(quotas).join(', ')}.`,
    });
  }
  try {
    return parseQuotaLimit(name, text);
  } catch (error) {
    throw usageError(`The limit ${(error as Error).message} (got ${printable(text)}).`);
  }
}

function formatLimit(name: string, limit: number): string {
  return isQuota(name) && 'isBytes' in quotas[name] ? formatSize(limit) : formatNumber(limit);
}
