import type { Static } from 'typebox';
import { nullable } from './fields.ts';
import { displayNamePattern } from './names.ts';
import { Type } from './type.ts';

/* What a publisher says about a plugin. */

/** The maximum length of a plugin's description. */
export const maxDescriptionLength = 500;

/** The maximum size of a README in UTF-8. */
export const maxReadmeBytes = 64 * 1024;

const maxHomepageLength = 1000;

const description = nullable(Type.String(), { description: 'a sentence or two of plain text' });
const homepage = nullable(Type.String(), { description: 'an https or http URL' });

/** The fields of a plugin in lists. */
export const pluginAboutFields = { description, homepage };

export const pluginAbout = Type.Object({
  description,
  homepage,
  readme: nullable(Type.String(), { description: 'Markdown, without a guarantee of any kind: render it safely' }),
});
export type PluginAbout = Static<typeof pluginAbout>;

/** `null` removes a text. */
export const pluginAboutInput = Type.Object({
  description: Type.Optional(
    nullable(Type.String({ minLength: 1, maxLength: maxDescriptionLength, pattern: displayNamePattern }), {
      description: `plain text, at most ${maxDescriptionLength} characters`,
    }),
  ),
  homepage: Type.Optional(
    nullable(Type.String({ minLength: 1, maxLength: maxHomepageLength }), { description: 'an https or http URL' }),
  ),
  readme: Type.Optional(
    nullable(Type.String({ minLength: 1, maxLength: maxReadmeBytes }), {
      description: `Markdown, at most ${maxReadmeBytes / 1024} KiB`,
    }),
  ),
});
export type PluginAboutInput = Static<typeof pluginAboutInput>;

/**
 * Returns the URL of a homepage in its normal form, or `undefined` for a text that is not an http or https URL, or contains
 * credentials.
 */
export function parseHomepage(text: string): string | undefined {
  const url = URL.parse(text);
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url === null || !isWeb || url.username !== '' || url.password !== '') return undefined;
  return url.href.length > maxHomepageLength ? undefined : url.href;
}
