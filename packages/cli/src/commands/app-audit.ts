import { type AppAuditEntry, appAuditEntry, auditActionsOf, listOf } from '@tenon/protocol';
import { Option } from 'commander';
import { path } from '../api.ts';
import { type AuditOptions, auditTable, withAuditFilter } from '../audit-options.ts';
import { type Command, withApp, withServer } from '../command.ts';
import { saveCsv } from '../csv.ts';
import type { Io } from '../io.ts';
import { resolveApp } from '../resolve.ts';
import { calling, type Session } from '../session.ts';

interface AppAuditOptions extends AuditOptions {
  readonly app?: string;
  readonly csv?: string;
}

export function addAuditCommand(group: Command, io: Io): void {
  group
    .command('audit')
    .description('show the audit trail of an application, newest first; for its owners')
    .addOption(new Option('--action <action>', 'only this action').choices(auditActionsOf('app')))
    .use((command) => withAuditFilter(command, io))
    .option('--csv <file>', 'write all matching entries as CSV to this file; "-" is stdout')
    .use(withApp, withServer)
    .examples(
      'tenon app audit --since 7d',
      'tenon app audit --action version.yank --json',
      'tenon app audit --since 2026-01-01 --until 2026-04-01 --csv first-quarter.csv',
    )
    .action(calling(io, showAudit));
}

async function showAudit(session: Session, options: AppAuditOptions): Promise<void> {
  const { out } = session;
  const trail = path`/api/v1/apps/${await resolveApp(session, options.app)}/audit`;
  if (options.csv !== undefined) {
    const query = new URLSearchParams({ ...queryOf(options), format: 'csv' });
    return saveCsv(session, `${trail}?${query}`, options.csv);
  }
  const { entries, isAll } = await readEntries(session, trail, options);
  out.result(entries, () => auditTable(out, entries));
  if (!isAll) out.note(`Showing the newest ${entries.length}. For more, raise --limit.`);
}

const maxPage = 1000;

async function readEntries(
  { api }: Session,
  trail: string,
  options: AuditOptions,
): Promise<{ readonly entries: readonly AppAuditEntry[]; readonly isAll: boolean }> {
  const entries: AppAuditEntry[] = [];
  for (let cursor = {}; ; ) {
    const limit = String(Math.min(maxPage, options.limit - entries.length));
    const query = new URLSearchParams({ ...queryOf(options), ...cursor, limit });
    const { objects, nextCursor } = await api.get(`${trail}?${query}`, listOf(appAuditEntry));
    entries.push(...objects);
    if (nextCursor === undefined) return { entries, isAll: true };
    if (entries.length >= options.limit) return { entries, isAll: false };
    cursor = { cursor: nextCursor };
  }
}

function queryOf({ action, user, target, since, until }: AuditOptions): Record<string, string> {
  const wanted = { action, user, target, from: since?.toISOString(), to: until?.toISOString() };
  return Object.fromEntries(
    Object.entries(wanted).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
