import type { Static } from 'typebox';
import { type AuditAction, auditActions } from './audit-actions.ts';
import { id, nullable, oneOf, timestamp } from './fields.ts';
import { defaultPageLimit } from './list-limits.ts';
import { pageParameters } from './pages.ts';
import { Type } from './type.ts';

/* The audit trail. */

/** The kind of actor: a user, the server's operator, or the server itself. */
export const auditAuthor = oneOf(['user', 'operator', 'system']);
export type AuditAuthor = Static<typeof auditAuthor>;

const entryFields = {
  id: id('auditEvent', 'the entry'),
  at: timestamp('when'),
  action: Type.String({ description: 'the action; the reference has a list, which may grow' }),
  by: auditAuthor,
  user: nullable(
    Type.Object(
      { id: id('user', 'the user'), name: Type.String({ description: 'the name at that time' }) },
      { description: 'the user who performed the action; `null` if no user did' },
    ),
  ),
  via: nullable(
    Type.Object(
      {
        id: Type.String({ description: '`tok_…` or `ses_…`' }),
        name: nullable(Type.String({ description: "the token's name, or the `user-agent` of the session's browser" })),
      },
      { description: 'the token or the session that was used' },
    ),
  ),
  target: Type.Object({
    kind: Type.String({ description: 'the kind of the changed resource' }),
    id: Type.String(),
    name: nullable(Type.String({ description: 'the name at that time' })),
  }),
  details: Type.Record(Type.String(), Type.Unknown(), {
    description: 'further details, which depend on the action; a changed field is `{"before": …, "after": …}`',
  }),
};

/** An entry of an application's audit trail, for its owners. */
export const appAuditEntry = Type.Object({
  ...entryFields,
  guestKeys: Type.Record(Type.String(), Type.String(), {
    description: 'the guest keys of the affected guests at that time, by guest id',
  }),
});
export type AppAuditEntry = Static<typeof appAuditEntry>;

/** An entry of an account's audit trail. It has no guest keys, which guests may not see. */
export const accountAuditEntry = Type.Object({
  ...entryFields,
  appId: nullable(id('app', 'the application whose trail has the entry too')),
  address: nullable(Type.String({ description: 'the network address of a sign-in or sign-up' })),
});
export type AccountAuditEntry = Static<typeof accountAuditEntry>;

/** An entry of any trail, for the server's operator. */
export const operatorAuditEntry = Type.Object({
  ...appAuditEntry.properties,
  ...accountAuditEntry.properties,
  accountId: nullable(id('user', 'the account whose trail has the entry')),
});
export type OperatorAuditEntry = Static<typeof operatorAuditEntry>;

const actionName = Type.Unsafe<AuditAction>(
  Type.String({ enum: Object.keys(auditActions), description: 'only entries of this action' }),
);

const trailQuery = {
  action: Type.Optional(actionName),
  target: Type.Optional(Type.String({ maxLength: 400, description: 'only entries about the resource with this id' })),
  from: Type.Optional(timestamp('the start of the period, inclusive')),
  to: Type.Optional(timestamp('the end of the period, exclusive')),
  ...pageParameters(`${defaultPageLimit} when it is left out, and all in an export`),
};

/** The format of an export: one JSON entry per line, or CSV. */
export const auditExportFormat = oneOf(['ndjson', 'csv'], {
  description: 'export all matching entries as a file in this format',
});
export type AuditExportFormat = Static<typeof auditExportFormat>;

export const appAuditQuery = Type.Object({
  ...trailQuery,
  user: Type.Optional(id('user', 'only entries of actions by this user')),
  format: Type.Optional(auditExportFormat),
});
export type AppAuditQuery = Static<typeof appAuditQuery>;

export const accountAuditQuery = Type.Object(trailQuery);
export type AccountAuditQuery = Static<typeof accountAuditQuery>;
