import { Type } from './type.ts';

/** A section of the server's documentation, in the index of its search. */
export const docsSection = Type.Object({
  path: Type.String({ description: "below `/docs/`, with the section's anchor" }),
  page: Type.String({ description: "the page's title" }),
  title: Type.String({ description: 'empty for the text above the first heading' }),
  text: Type.String(),
});
