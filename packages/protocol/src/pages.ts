import type { Static, TSchema } from 'typebox';
import { Type } from './type.ts';

/** A page of a list, and the cursor of the next page, if there is one. */
export function listOf<T extends TSchema>(item: T) {
  return Type.Object({
    objects: Type.Array(item),
    nextCursor: Type.Optional(
      Type.String({ description: 'send it as `cursor` for the next page; absent on the last' }),
    ),
  });
}

/** The default of `limit`. */
export const defaultPageLimit = 100;

export const maxPageLimit = 1000;

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
    cursor: Type.Optional(Type.String({ maxLength: 200, description: '`nextCursor` of the page before' })),
  };
}

export const pageQuery = Type.Object(pageParameters(`${defaultPageLimit} when it is left out`));
export type PageQuery = Static<typeof pageQuery>;

/** Like {@link pageQuery}, for the one list that is complete without `limit`. */
export const wholeListQuery = Type.Object(pageParameters('all when it is left out'));
