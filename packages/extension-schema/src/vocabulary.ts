import { schemaVersions } from './rules.ts';
import { componentPrefix, contentTypes, formats, optionalKey, schemaTypes } from './types.ts';

export { componentPrefix };

/* The keys of the schema format with their meaning, for editors. A test compares them with the rules. */

/** What stands in a part of a schema: an object with known keys, a map of free names, a list, or a value. */
export type Place =
  | 'document'
  | 'components'
  | 'function'
  | 'codeSample'
  | 'type'
  | 'parameter'
  | 'discriminator'
  | 'variants'
  | 'functions'
  | 'types'
  | 'codeSamples'
  | 'value';

/** A key of an object. */
export interface KeyInfo {
  readonly description: string;
  /** What its value is. */
  readonly leadsTo: Place;
  /** The values that it can have, if they are known. */
  readonly values?: readonly string[];
}

type Keys = Readonly<Record<string, KeyInfo>>;

const value = (description: string, values?: readonly string[]): KeyInfo => ({
  description,
  leadsTo: 'value',
  ...(values === undefined ? {} : { values }),
});

const typeKeys: Keys = {
  type: value('The kind of the value. A buffer is bytes.', schemaTypes),
  format: value('A closer kind of a string, integer or number.', [...formats.values()].flat()),
  description: value('What the value means, for the authors of plugins.'),
  nullable: value('Whether the value may be null.', ['true', 'false']),
  $ref: value(`A type under components, as "${componentPrefix}<name>".`),
  enum: value('The texts that a string may have, as a list.'),
  properties: { description: 'The fields of an object by name, each a type.', leadsTo: 'types' },
  required: value('The names of the fields that an object must have, as a list.'),
  items: { description: "The type of an array's elements.", leadsTo: 'type' },
  additionalProperties: { description: "The type of a map's values.", leadsTo: 'type' },
  oneOf: {
    description: 'The objects that the value can be, as a list of $ref. Needs a discriminator.',
    leadsTo: 'variants',
  },
  discriminator: { description: 'What tells the objects of oneOf apart.', leadsTo: 'discriminator' },
};

/** The known keys of each place. */
export const schemaKeys: Readonly<Partial<Record<Place, Keys>>> = {
  document: {
    version: value('The version of the format. v0 has only names of exports.', schemaVersions),
    description: value('What a plugin is for, and when it is called.'),
    $schema: value('The JSON Schema that other editors check the text with.'),
    exports: { description: 'The functions that a plugin must export, by name.', leadsTo: 'functions' },
    imports: { description: 'The functions of the host that a plugin may import, by name.', leadsTo: 'functions' },
    components: { description: 'Types that others refer to with $ref.', leadsTo: 'components' },
  },
  components: { schemas: { description: 'Types by name.', leadsTo: 'types' } },
  function: {
    description: value('What the function does, and when it is called.'),
    input: { description: 'The type of what the function receives.', leadsTo: 'parameter' },
    output: { description: 'The type of what the function returns.', leadsTo: 'parameter' },
    codeSamples: { description: 'Examples for the authors of plugins, as a list.', leadsTo: 'codeSamples' },
    [optionalKey]: value('For an export: whether a plugin may leave it out.', ['true', 'false']),
  },
  discriminator: {
    propertyName: value('A required field of each object, an enum whose values no other object has.'),
  },
  codeSample: {
    lang: value('The programming language, such as typescript.'),
    source: value('The code.'),
    label: value('A title.'),
  },
  type: typeKeys,
  parameter: {
    ...typeKeys,
    contentType: value('How the value becomes bytes. By default, it depends on the type.', contentTypes),
  },
};

/** The place that a path of keys, and of indices in lists, leads to. */
export function placeAt(path: readonly (string | number)[]): Place {
  let place: Place = 'document';
  for (const key of path) place = placeUnder(place, key);
  return place;
}

function placeUnder(place: Place, key: string | number): Place {
  if (place === 'functions') return 'function';
  if (place === 'types' || place === 'variants') return 'type';
  if (place === 'codeSamples') return 'codeSample';
  const keys = schemaKeys[place];
  if (keys === undefined || typeof key === 'number' || !Object.hasOwn(keys, key)) return 'value';
  return keys[key]?.leadsTo ?? 'value';
}

/** The formats of a type; all of them without a known type. */
export function formatsOf(type: string | undefined): readonly string[] {
  return formats.get(type) ?? [...formats.values()].flat();
}
