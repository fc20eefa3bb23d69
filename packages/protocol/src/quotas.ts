import type { Static } from 'typebox';
import { id, nullable, oneOf, timestamp } from './fields.ts';
import { Type } from './type.ts';

/** The quota usage of an account or an application. */
export const quotaUse = Type.Object({
  quotas: Type.Array(
    Type.Object({
      name: Type.String({ description: 'the name in `TENON_QUOTAS`' }),
      what: Type.String({ description: 'a description for people of what the quota limits' }),
      isBytes: Type.Boolean({ description: 'whether it counts bytes' }),
      limit: Type.Integer(),
      used: Type.Integer({ description: 'may exceed `limit` after the quota was lowered' }),
      source: oneOf(['operator', 'setting', 'default']),
    }),
  ),
});
export type QuotaUse = Static<typeof quotaUse>;

/** Above so many percent of a quota, clients warn. */
export const warnedQuotaPercents = [80, 95] as const;

/** A limit that an operator has set for one account or application. */
export const quotaOverride = Type.Object({
  subjectId: Type.Union([id('user', 'the account'), id('app', 'the application')]),
  subjectName: nullable(Type.String()),
  name: Type.String({ description: 'the name of the quota' }),
  limit: Type.Integer(),
  updatedAt: timestamp('when it was set'),
});
export type QuotaOverride = Static<typeof quotaOverride>;

export const quotaOverrideInput = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'bytes, for a quota of bytes' }),
});
