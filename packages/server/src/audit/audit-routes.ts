import {
  type AccountAuditQuery,
  type AppAuditQuery,
  accountAuditEntry,
  accountAuditQuery,
  appAuditEntry,
  appAuditQuery,
  listOf,
  type UserId,
} from '@tenon/protocol';
import type { AuditFilter } from '../db/audit-records.ts';
import { DomainError } from '../http/domain-errors.ts';
import { example } from '../http/examples.ts';
import { toList, toPage } from '../http/query.ts';
import { jsonList, type Route, routeTagged } from '../http/route.ts';
import { sendAuditExport, toAccountAuditEntry, toAppAuditEntry } from './audit-export.ts';
import { exportAppAudit, listAppAudit, listOwnAudit } from './read-audit.ts';

const entryExample = {
  id: example.auditEventId,
  at: example.time,
  action: 'version.yank',
  by: 'user' as const,
  user: { id: example.userId, name: 'Ada' },
  via: { id: example.tokenId, name: 'CI' },
  target: {
    kind: 'plugin',
    id: `${example.extensionPointId}/plugin/${example.userId}/median`,
    name: 'median',
  },
  details: { version: 3, versionId: example.versionId, reason: 'It loses the last row.' },
};

const ofAppExample = { ...entryExample, guestKeys: {} };
const ofAccountExample = { ...entryExample, appId: example.appId, address: null };

const appRoute = routeTagged('Applications');
const accountRoute = routeTagged('Account');

export const auditRoutes: readonly Route[] = [
  appRoute('GET', '/api/v1/apps/:appId/audit', {
    access: { kind: 'app', purpose: 'readAudit' },
    query: appAuditQuery,
    id: 'listAppAudit',
    summary: "Read an application's audit trail, the newest entries first",
    description:
      'For owners. With `format`, the response is a file with all matching entries: one JSON entry per line (`application/x-ndjson`), or CSV.',
    responses: {
      200: {
        description: 'the entries',
        contentType: 'text/csv',
        headers: { 'content-disposition': 'the file name of an export' },
        orJson: { schema: listOf(appAuditEntry), example: { objects: [ofAppExample] } },
      },
    },
    handle: async (services, { auth, query }, reply) => {
      const appId = auth.access.app.id;
      const filter = { ...toFilter(query), userId: query.user as UserId | undefined };
      if (query.format === undefined) {
        return toList(await listAppAudit(services.deps, appId, filter, toPage(query)), toAppAuditEntry);
      }
      if (query.limit !== undefined || query.cursor !== undefined) {
        throw new DomainError(
          'invalid_request',
          'In the query, "format" cannot be combined with "limit" or "cursor": an export has all entries.',
        );
      }
      const events = exportAppAudit(services.deps, appId, filter);
      return sendAuditExport(services, reply, query.format, `audit-${appId}`, events);
    },
  }),
  accountRoute('GET', '/api/v1/me/audit', {
    access: { kind: 'user', scope: 'manage', userLevel: true },
    query: accountAuditQuery,
    id: 'listOwnAudit',
    summary: 'Read the audit trail of your account, the newest entries first',
    description: 'Sign-ins, tokens, keys, and your changes in applications.',
    responses: { 200: jsonList('the entries', accountAuditEntry, ofAccountExample) },
    handle: async ({ deps }, { auth, query }) =>
      toList(await listOwnAudit(deps, auth.actor.userId, toFilter(query), toPage(query)), toAccountAuditEntry),
  }),
];

function toFilter({ action, target, from, to }: AppAuditQuery | AccountAuditQuery): AuditFilter {
  return { action, targetId: target, fromMs: toMs('from', from), toMs: toMs('to', to) };
}

function toMs(name: string, time: string | undefined): number | undefined {
  if (time === undefined) return undefined;
  const ms = Date.parse(time);
  if (/^\d{4}-\d\d-\d\dT/.test(time) && Number.isFinite(ms)) return ms;
  throw new DomainError('invalid_request', `In the query, "${name}" must be a time such as 2026-03-01T12:00:00Z.`);
}
