import type { Static, TSchema } from 'typebox';
import { type AuditAction, auditActions } from './audit-actions.ts';
import { id, timestamp } from './fields.ts';
import { defaultPageLimit, pageParameters } from './pages.ts';
import { Type } from './type.ts';

/** The audit trail as it goes over the wire. */

const nullable = <const T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Who does what is told of: somebody with an account, the server's operator, or the server itself. */
export const auditAuthor = Type.Union([Type.Literal('user'), Type.Literal('operator'), Type.Literal('system')]);
export type AuditAuthor = Static<typeof auditAuthor>;

const entryFields = {
  id: id('auditEvent', 'the entry'),
  at: timestamp('when'),
  action: Type.String({ description: 'what was done: one of the table in the reference, which grows' }),
  by: auditAuthor,
  user: nullable(
    Type.Object(
      { id: id('user', 'the user'), name: Type.String({ description: 'as it was then' }) },
      { description: 'who, when it was somebody with an account' },
    ),
  ),
  via: nullable(
    Type.Object(
      {
        id: Type.String({ description: '`tok_…` or `ses_…`' }),
        name: nullable(Type.String({ description: "the token's, or what the session's browser called itself" })),
      },
      { description: 'by means of which token, or in which session' },
    ),
  ),
  target: Type.Object({
    kind: Type.String({ description: 'what kind of thing it was done to' }),
    id: Type.String(),
    name: nullable(Type.String({ description: 'as it was then' })),
  }),
  details: Type.Record(Type.String(), Type.Unknown(), {
    description: 'what else is to be known of it, by action; what changed as `{"before": …, "after": …}`',
  }),
};

/** An entry of an application's audit trail, as its owners read it. */
export const appAuditEntry = Type.Object({
  ...entryFields,
  guestKeys: Type.Record(Type.String(), Type.String(), {
    description: 'the guest keys of the guests that it is about, as they were then, by `gst_…`',
  }),
});
export type AppAuditEntry = Static<typeof appAuditEntry>;

/** An entry of an account's own trail. It has no guest keys, which are no guest's to see. */
export const accountAuditEntry = Type.Object({
  ...entryFields,
  appId: nullable(id('app', 'the application in whose trail it is too')),
  address: nullable(Type.String({ description: 'the network address, where somebody signed in or up' })),
});
export type AccountAuditEntry = Static<typeof accountAuditEntry>;

/** An entry as the server's operator reads it, of whatever trail. */
export const operatorAuditEntry = Type.Object({
  ...appAuditEntry.properties,
  ...accountAuditEntry.properties,
  accountId: nullable(id('user', 'the account in whose trail it is')),
});
export type OperatorAuditEntry = Static<typeof operatorAuditEntry>;

const actionName = Type.Unsafe<AuditAction>(
  Type.String({ enum: Object.keys(auditActions), description: 'entries of one action alone' }),
);

const trailQuery = {
  action: Type.Optional(actionName),
  target: Type.Optional(Type.String({ maxLength: 400, description: 'entries about one thing alone: its id' })),
  from: Type.Optional(timestamp('the first moment')),
  to: Type.Optional(timestamp('the moment before which they end')),
  ...pageParameters(`${defaultPageLimit} when it is left out, and all in an export`),
};

/** How an export is written: an entry a line as JSON, or a table. */
export const auditExportFormat = Type.Union([Type.Literal('ndjson'), Type.Literal('csv')], {
  description: 'an export of all entries that the other parameters let through, to be kept as a file',
});
export type AuditExportFormat = Static<typeof auditExportFormat>;

/** Which entries of an application's trail are asked for. */
export const appAuditQuery = Type.Object({
  ...trailQuery,
  user: Type.Optional(id('user', 'entries of what one user did alone')),
  format: Type.Optional(auditExportFormat),
});
export type AppAuditQuery = Static<typeof appAuditQuery>;

/** Which entries of one's own trail are asked for. */
export const accountAuditQuery = Type.Object(trailQuery);
export type AccountAuditQuery = Static<typeof accountAuditQuery>;
