import { auditActions, isId, type UserId } from '@tenon/protocol';
import { type Deps, listAllAudit, readAuditHead, sealIfPossible, toOperatorAuditEntry } from '@tenon/server';
import { Option } from 'commander';
import { type AuditOptions, auditTable, formatHead, withAuditFilter } from '../audit-options.ts';
import type { Command } from '../command.ts';
import { usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { Reporter } from '../output.ts';
import { type AdminOptions, withPresentData, withStore } from './admin-data.ts';

export function addAdminAuditCommand(group: Command, io: Io): void {
  group
    .command('audit')
    .description('show the audit trails of the server and of all applications, newest first')
    .addOption(new Option('--action <action>', 'only this action').choices(Object.keys(auditActions)))
    .use((command) => withAuditFilter(command, io), withStore)
    .examples('tenon admin audit --since 7d', 'tenon admin audit --action link.create --json')
    .action((options: AdminOptions & AuditOptions) =>
      withPresentData(io, options, (deps, out) => showAudit(deps, out, options)),
    );
  group
    .command('audit-head')
    .description(
      'write the head of the hash chain over the audit trail, to store elsewhere for "admin verify --audit-head"',
    )
    .use(withStore)
    .examples('tenon admin audit-head', 'tenon admin audit-head --json')
    .action((options: AdminOptions) => withPresentData(io, options, (deps, out) => showHead(deps, out)));
}

async function showHead(deps: Deps, out: Reporter): Promise<void> {
  await sealIfPossible(deps);
  const head = await readAuditHead(deps);
  out.result(head, () => out.write(`${formatHead(head)}\n`));
}

async function showAudit(deps: Deps, out: Reporter, options: AuditOptions): Promise<void> {
  const { action, user, target, since, until, limit } = options;
  const filter = {
    action,
    userId: user === undefined ? undefined : assertUserId(user),
    targetId: target,
    fromMs: since?.getTime(),
    toMs: until?.getTime(),
  };
  const { items, next } = await listAllAudit(deps, filter, { limit });
  const entries = items.map(toOperatorAuditEntry);
  out.result(entries, () => auditTable(out, entries));
  if (next !== undefined) out.note(`Showing the newest ${limit}. For more, raise --limit.`);
}

function assertUserId(text: string): UserId {
  if (isId('user', text)) return text;
  throw usageError(`"${text}" is not a user id.`, 'It starts with usr_.');
}
