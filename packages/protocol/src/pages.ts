import type { Static, TSchema } from 'typebox';
import { oneOf } from './fields.ts';
import { defaultPageLimit, maxCounted, maxPageLimit } from './list-limits.ts';
import { Type } from './type.ts';

/** A page of a list, with the cursors of its neighbours, if there are any. */
export function listOf<T extends TSchema>(item: T) {
  return Type.Object({
    objects: Type.Array(item),
    nextCursor: Type.Optional(
      Type.String({ description: 'send it as `cursor` for the next page; absent on the last' }),
    ),
    previousCursor: Type.Optional(
      Type.String({ description: 'send it as `cursor` for the previous page; absent on the first' }),
    ),
    total: Type.Optional(
      Type.Integer({
        description: `the number of entries on all pages, in lists with \`q\`; ${maxCounted + 1} means more than ${maxCounted}`,
      }),
    ),
  });
}

/** The type of {@link listOf}. */
export interface ListPage<T> {
  readonly objects: T[];
  readonly nextCursor?: string;
  readonly previousCursor?: string;
  readonly total?: number;
}

/**
 * The query parameters of a page.
 *
 * @param withoutLimit describes the response without `limit`
 */
export function pageParameters(withoutLimit: string) {
  return {
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxPageLimit,
        description: `the most entries in the response; ${withoutLimit}. A page of large entries may have fewer`,
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        maxLength: 4000,
        description: '`nextCursor` or `previousCursor` of another page, with the same other parameters',
      }),
    ),
  };
}

const defaultPage = pageParameters(`${defaultPageLimit} when it is left out`);

/** The parameter that shortens entries that name guests. */
const guestsParameter = {
  maxGuests: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxPageLimit,
      description: 'the most guests that each entry names; `hasMoreGuests` is `true` where there are more',
    }),
  ),
};

/** The parameters of a single resource that names guests. */
export const guestsQuery = Type.Object(guestsParameter);

export const pageQuery = Type.Object(defaultPage);
export type PageQuery = Static<typeof pageQuery>;

export const versionListQuery = Type.Object({ ...defaultPage, ...guestsParameter });

export const creationListQuery = Type.Object({ ...defaultPage, sort: sortParameter(['createdAt', '-createdAt']) });

/** The parameter that searches a list. */
function searchParameter(fields: string) {
  return Type.Optional(
    Type.String({
      maxLength: 200,
      description: `only entries with this text in ${fields}. ASCII letters match in either case`,
    }),
  );
}

function sortParameter<const S extends readonly string[]>(names: S) {
  return Type.Optional(oneOf(names, { description: `the order; \`-\` means descending. Default \`${names[0]}\`` }));
}

export const guestListQuery = Type.Object({
  ...defaultPage,
  q: searchParameter(
    "the guest key, the label, the note, a user's name, or the name or e-mail address of an invitation; or with this user id",
  ),
  guestKey: Type.Optional(Type.String({ description: 'only the guest with exactly this guest key' })),
  state: Type.Optional(
    oneOf(['active', 'invited', 'inactive'], {
      description:
        'only guests with users (`active`), without users but with a pending invitation (`invited`), or with neither (`inactive`)',
    }),
  ),
  sort: sortParameter(['createdAt', '-createdAt', 'guestKey', '-guestKey']),
});
export type GuestListQuery = Static<typeof guestListQuery>;

export const invitationListQuery = Type.Object({
  ...defaultPage,
  guestId: Type.Optional(Type.String({ maxLength: 200, description: 'only invitations to this guest' })),
  q: searchParameter('the guest key, the label of the guest, the name, or the e-mail address'),
  status: Type.Optional(oneOf(['pending', 'expired', 'accepted', 'declined', 'revoked'])),
  olderThanDays: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 36500, description: 'only invitations that were made at least this long ago' }),
  ),
  sort: sortParameter(['createdAt', '-createdAt']),
});

export const memberInvitationListQuery = Type.Object({
  ...defaultPage,
  isSettled: Type.Optional(
    oneOf(['true', 'false'], {
      description: '`true`: only accepted, declined, and revoked invitations; `false`: only pending and expired ones',
    }),
  ),
  sort: sortParameter(['createdAt', '-createdAt']),
});

export const memberListQuery = Type.Object({
  ...defaultPage,
  q: searchParameter("the user's name; or the one with this user id"),
  sort: sortParameter(['createdAt', 'name', '-name', 'role', '-role']),
});

export const userListQuery = Type.Object({
  ...defaultPage,
  q: searchParameter('the name or the e-mail address; or the one with this id'),
  state: Type.Optional(
    oneOf(['active', 'suspended', 'operator'], {
      description: 'only users who are not suspended (`active`), suspended ones, or operators',
    }),
  ),
  sort: sortParameter(['createdAt', '-createdAt', 'name', '-name', 'lastSeenAt', '-lastSeenAt']),
});
export type UserListQuery = Static<typeof userListQuery>;

export const appListQuery = Type.Object({
  ...defaultPage,
  ...guestsParameter,
  q: searchParameter('the name; or the one with this id'),
  sort: sortParameter(['createdAt', 'name', '-name']),
});

const pluginParameters = {
  ...defaultPage,
  q: searchParameter(
    "the name or the publisher's name, for members also in the guest keys; or with this user id or content address",
  ),
  name: Type.Optional(Type.String({ description: 'only plugins with exactly this name' })),
  state: Type.Optional(
    oneOf(['published', 'testing', 'failed', 'awaiting_approval', 'rejected', 'yanked', 'blocked'], {
      description: "only plugins with this `status.state`: the newest version's state, or `blocked`",
    }),
  ),
  userId: Type.Optional(Type.String({ maxLength: 200, description: 'only plugins of this publisher' })),
  sort: sortParameter(['name', '-name', 'publishedAt', '-publishedAt']),
};

export const pluginListQuery = Type.Object({ ...pluginParameters, ...guestsParameter });
export type PluginListQuery = Static<typeof pluginListQuery>;

export const appPluginListQuery = Type.Object({
  ...pluginParameters,
  extensionPointId: Type.Optional(
    Type.String({ maxLength: 200, description: 'only plugins published against this extension point' }),
  ),
  isBound: Type.Optional(
    oneOf(['true', 'false'], {
      description: '`true`: only plugins of which a guest gets a version; `false`: only the others',
    }),
  ),
});

export const bindingListQuery = Type.Object({
  ...defaultPage,
  q: searchParameter('the guest key; only for members'),
  sort: Type.Optional(
    oneOf(['createdAt', 'guestKey', '-guestKey'], {
      description: 'the order; `-` means descending. Default `createdAt`; by guest key only for members',
    }),
  ),
});

export const guestBindingListQuery = Type.Object({ ...defaultPage, q: searchParameter('the name of the plugin') });

export const approvalListQuery = Type.Object({
  ...defaultPage,
  ...guestsParameter,
  q: searchParameter("the plugin's, the publisher's, or the extension point's name; or with this user id"),
});

/** Like {@link pageQuery}, for the one list that is complete without `limit`. */
export const extensionPointListQuery = Type.Object({
  ...pageParameters('all when it is left out'),
  q: searchParameter('the name; or the one with this id'),
  sort: sortParameter(['createdAt', 'name', '-name']),
  schema: Type.Optional(
    oneOf(['full', 'names'], {
      description: '`names`: each schema has only the names of its exports. Default `full`',
    }),
  ),
});
